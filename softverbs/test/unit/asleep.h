/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asleep -- waiting until a thread waits
 */
#ifndef SOFT_ASLEEP_H
#define SOFT_ASLEEP_H

/* Until the thread of this process sleeps in the kernel. */
void await_asleep(int id);

#endif
