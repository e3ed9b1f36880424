/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reset -- the connection manager in a forked child
 */
#ifndef SOFT_CM_RESET_H
#define SOFT_CM_RESET_H

void soft_cm_reset(void);

#endif
