/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * other -- the other process of a test
 *
 * It is forked before either opens the device.  A socket between the two carries the data that
 * programs exchange outside of RDMA, and synchronises them; both use the same calls.
 */
#ifndef SOFT_OTHER_H
#define SOFT_OTHER_H

#include <stddef.h>
#include <sys/types.h>

/* Forks the process that does `there` and exits. */
void other_start(void (*there)(void));
/* Waits for it; it must end well. */
void other_finish(void);
/* In the middle of whatever it does. */
void other_kill(void);
void other_stop(void);
void other_go_on(void);

/* There may be two.  The calls are about the last that was started; after this, about the other. */
void other_swap(void);

pid_t other_pid(void);

void other_tell(const void *data, size_t length);
void other_hear(void *data, size_t length);
/* Readable when the other process has told something, or has ended. */
int other_descriptor(void);
/* Both come here before either goes on. */
void other_meet(void);

#endif
