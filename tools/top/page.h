/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page -- a page of statistics of another process, which may write anything into it
 *
 * The file is read, not mapped: then it cannot become shorter under the reader.
 */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "dapl/stats/layout.h"

/* What a reading found. */
enum page_state {
	PAGE_READ,
	PAGE_EMPTY,   /* the process has not written a snapshot yet */
	PAGE_BUSY,    /* it wrote one in each attempt to read */
	PAGE_FOREIGN, /* no page of statistics */
	PAGE_OTHER,   /* a page of another version */
	PAGE_BROKEN,  /* what it says about itself cannot be */
	PAGE_FAILED,  /* a system call failed: errno */
};

/* A snapshot.  Texts in the rows are printable and end. */
struct page {
	struct dapl_stats_head head;
	struct dapl_stats_row *rows; /* head.count */
};

/* Reads a snapshot into *page, whose rows page_free() frees.  Waits a little for one that is being written. */
enum page_state page_read(int fd, struct page *page);
void page_free(struct page *page);

/* A file that may be a page, or -1 with errno: no link, and of a type that can be read without waiting. */
int page_open(const char *path);

/* "is no page of statistics", after the name of the file. */
const char *page_explain(enum page_state state, const struct page *page, char *buffer, size_t size);

#endif
