/* SPDX-License-Identifier: BSD-3-Clause */
/* window -- something happens right after a lock was released, as another thread would do it */
#ifndef REARM_TEST_EVD_WINDOW_H
#define REARM_TEST_EVD_WINDOW_H

#include "evd/os.h"

/* At the n-th release of the lock from now on, by whatever thread; once. */
void window_at(struct os_mutex *lock, int n, void (*intruder)(void));

/* Whether it has not happened yet; forgets it. */
bool window_missed(void);

/* From now on the sections of these two locks by the calling thread are counted, when they end. */
void window_count(const struct os_mutex *first, const struct os_mutex *second);

/* How many of the first (0) or the second lock (1) there were. */
int window_counted(int which);

#endif
