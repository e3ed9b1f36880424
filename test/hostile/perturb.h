/* SPDX-License-Identifier: BSD-3-Clause */
/* perturb -- a thread of the libraries that is about to take a lock sleeps now and then */
#ifndef REARM_HOSTILE_PERTURB_H
#define REARM_HOSTILE_PERTURB_H

/* From now on, before any other thread runs. */
void perturb_start(void);

#endif
