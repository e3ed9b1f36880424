/* SPDX-License-Identifier: BSD-3-Clause */
/* calls -- the system calls of the library, through the tests: see cost.c and starve.c */
#ifndef REARM_TEST_EVD_CALLS_H
#define REARM_TEST_EVD_CALLS_H

#include <stdbool.h>

/* starve.c's say in whether a system call of this thread fails: true, and errno set. */
bool evd_starved(int error);

/* The system calls that this thread has made in the library. */
int evd_calls(void);

/* Called, once, by cost.c when the calling thread's next sleep in the library ended. */
extern _Thread_local void (*evd_after_sleep)(void);

#endif
