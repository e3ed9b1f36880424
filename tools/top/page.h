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
#include <sys/types.h>

#include "evd/stats/layout.h"

/* What a reading found. */
enum page_state {
	PAGE_READ,
	PAGE_EMPTY,   /* the process has not written a snapshot yet */
	PAGE_BUSY,    /* it wrote one in each attempt to read */
	PAGE_FOREIGN, /* no page of statistics */
	PAGE_OTHER,   /* a page of another version */
	PAGE_BROKEN,  /* what it says about itself cannot be */
	PAGE_HIDDEN,  /* of a process in another PID namespace */
	PAGE_STRANGE, /* of another user than the process has */
	PAGE_FAILED,  /* a system call failed: errno */
};

/* A snapshot.  Texts in the rows are printable and end. */
struct page {
	struct evd_stats_head head;
	struct evd_stats_row *rows; /* head.count */
};

/*
 * Reads a snapshot into *page, whose rows page_free() frees.  Waits a little for one that is being
 * written: each wait takes one off *patience, and without any there is none.
 */
enum page_state page_read(int fd, struct page *page, int *patience);
void page_free(struct page *page);
#define PAGE_PATIENCE 100

/* The head alone: of any owner, and with or without a snapshot. */
enum page_state page_read_head(int fd, struct evd_stats_head *head);

/*
 * A file that may be a page, or -1 with errno: no link, and of a type that can be read without
 * waiting.  The path is relative to the folder.
 */
int page_open(int folder, const char *path);

/*
 * Whether all of the file is there: a provider leaves no holes in it, and someone who makes huge
 * ones may.
 */
bool page_is_whole(int fd);

/*
 * The process that has the lock of the page, as the kernel says: 0 if it is in another PID
 * namespace, -1 if none has.
 */
pid_t page_holder(int fd);

/* "is no page of statistics", after the name of the file. */
const char *page_explain(enum page_state state, const struct page *page, char *buffer, size_t size);

#endif
