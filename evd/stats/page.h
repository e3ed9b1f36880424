/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page -- the file of statistics of this process, mapped for writing
 *
 * A child of fork() does not have the mapping.
 */
#ifndef REARM_DAPL_PAGE_H
#define REARM_DAPL_PAGE_H

#include <stddef.h>
#include <sys/types.h>

#include "dapl/stats/layout.h"

struct dapl_stats_page {
	int fd;
	pid_t pid; /* of the process that made it */
	char path[64];
	dev_t device; /* of the file */
	ino_t inode;
	void *map;
	size_t size; /* of the file and of the mapping */
};

/* Makes the file.  0 or -errno with nothing left behind. */
int dapl_stats_page_open(struct dapl_stats_page *page, unsigned int interval_ms);
/* Writes a snapshot.  If there is no room for all rows, those at the end are missing. */
void dapl_stats_page_write(struct dapl_stats_page *page, const struct dapl_stats_row *rows,
    uint64_t count, uint64_t missing, uint64_t time_ns);
/* Removes the file at the end of the process; in a child of it nothing. */
void dapl_stats_page_abandon(const struct dapl_stats_page *page);
/* Removes the file. */
void dapl_stats_page_close(struct dapl_stats_page *page);

#endif
