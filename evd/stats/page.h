/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page -- the file of statistics of this process, mapped for writing
 *
 * A child of fork() does not have the mapping.
 */
#ifndef REARM_EVD_STATS_PAGE_H
#define REARM_EVD_STATS_PAGE_H

#include <stddef.h>
#include <sys/types.h>

#include "evd/stats/layout.h"

struct evd_stats_page {
	int fd;
	pid_t pid; /* of the process that made it */
	char path[64];
	dev_t device; /* of the file */
	ino_t inode;
	void *map;
	size_t size; /* of the file and of the mapping */
};

/* Makes the file.  0 or -errno with nothing left behind. */
int evd_stats_page_open(struct evd_stats_page *page, unsigned int interval_ms);
/* Writes a snapshot.  If there is no room for all rows, those at the end are missing. */
void evd_stats_page_write(struct evd_stats_page *page, const struct evd_stats_row *rows,
    uint64_t count, uint64_t missing, uint64_t time_ns);
/* Removes the file at the end of the process; in a child of it nothing. */
void evd_stats_page_abandon(const struct evd_stats_page *page);
/* Removes the file. */
void evd_stats_page_close(struct evd_stats_page *page);

#endif
