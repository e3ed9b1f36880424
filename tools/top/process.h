/* SPDX-License-Identifier: BSD-3-Clause */
/* process -- a process, and the pages of statistics that it has */
#ifndef TOP_PROCESS_H
#define TOP_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "page.h"

struct process {
	pid_t pid;
	uint64_t started; /* as in the head of a page; 0: not known */
	char command[32]; /* printable */
};

/* False if there is none with this number. */
bool process_find(pid_t pid, struct process *process);

/*
 * Reads all its pages.  Returns how many there are in pages[], up to DAPL_STATS_PAGES.  0: none; *state and *failed are then
 * those of one that could not be read, with *path its name and errno, or *path is empty.
 */
int process_read(const struct process *process, struct page pages[DAPL_STATS_PAGES],
    enum page_state *state, struct page *failed, char *path, size_t size);

/*
 * The processes that have a page which this user may open, in the order of their numbers; *count of them.  Files
 * of this user whose process has ended are removed.  NULL if the folder cannot be read.
 */
struct process *process_list(size_t *count);

#endif
