/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the files of the world use of each other. */
#ifndef REARM_EXPLORE_WORLD_PARTS_H
#define REARM_EXPLORE_WORLD_PARTS_H

#include "sched.h"

/* Whether the scenario lets this fail, and the schedule does. */
/* No lock may be held where a thread sleeps; `what` it does there. */
void world_check_no_lock(const char *what, const struct os_site *site);

/* When the sleep of the fiber ends at the latest. */
void world_set_deadline(struct fiber *f, uint64_t deadline);

void world_memory_reset(void);
void world_memory_check(void);

void world_fd_reset(void);
void world_fd_check(void);
/* Leaves the text alone if there is no such descriptor. */
void world_fd_name(unsigned int number, char *text, size_t size);

#endif
