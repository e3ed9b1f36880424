/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * last -- ends the process when none but threads of this library are left
 *
 * A process ends, as by exit(0), with the last of its threads.  libibverbs has none; those here
 * must not keep a process alive whose main thread has called pthread_exit().  Threads of other
 * libraries count as those of the program.
 */
#ifndef SOFT_LAST_H
#define SOFT_LAST_H

#include "soft.h"

/* The calling thread is one of this library, and is about to end. */
void soft_last_enter(void);
void soft_last_leave(void);

/* The calling thread is one of the program: when it ends, it is time to look. */
void soft_last_watch(void) SOFT_NO_LEAF_LOCK;

/* For a thread of this library, now and then: it costs nothing before the main thread has ended. */
void soft_last_look(void);

/* In a forked child: it has one thread. */
void soft_last_reset(void);

#endif
