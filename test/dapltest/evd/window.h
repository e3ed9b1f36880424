/* SPDX-License-Identifier: BSD-3-Clause */
/* window -- something happens right after a lock was released, as another thread would do it */
#ifndef REARM_TEST_EVD_WINDOW_H
#define REARM_TEST_EVD_WINDOW_H

#include "evd/os.h"

/* At the n-th release of the lock from now on, by whatever thread; once. */
void window_at(struct os_mutex *lock, int n, void (*intruder)(void));

/* Whether it has not happened yet; forgets it. */
bool window_missed(void);

#endif
