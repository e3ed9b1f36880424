/* SPDX-License-Identifier: BSD-3-Clause */
/* perturb -- threads sometimes sleep before they take a lock of the libraries */
#ifndef REARM_HOSTILE_PERTURB_H
#define REARM_HOSTILE_PERTURB_H

/* Call it before any other thread runs. */
void perturb_start(void);

#endif
