/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sentry -- the thread that watches the queues of a program that is checked
 */
#ifndef SOFT_CHECK_SENTRY_H
#define SOFT_CHECK_SENTRY_H

#include "queue.h"

/* Starts it, unless it runs: 0 or -errno.  It ends with the process. */
int soft_sentry_start(void);

/* Looks for what needs no time to be certain: at all queues, or at one. */
void soft_sentry_look(void) SOFT_NO_CHECK_LOCK;
void soft_sentry_look_at(struct soft_check_queue *queue) SOFT_NO_CHECK_LOCK;

/* In a forked child: it does not run. */
void soft_sentry_reset(void);

#endif
