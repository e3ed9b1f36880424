/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process -- a process, and the pages of statistics that it has
 *
 * Whose a page is: evd/stats/layout.h.  The number in its name decides nothing.
 */
#ifndef TOP_PROCESS_H
#define TOP_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "page.h"

struct process {
	pid_t pid;
	uint64_t started;    /* as in the head of a page; 0: not known */
	bool in_proc;	     /* /proc knows it: its users are those below */
	unsigned int uid[4]; /* real, effective, saved, of the file system */
	char command[32];    /* printable */
};

/* False if there is none with this number. */
bool process_find(pid_t pid, struct process *process);

/*
 * A file that may be a page.  It is in the list of the process that owns it, or of that which it
 * names.
 */
struct page_file {
	struct process process;
	char name[48];
	/*
	 * PAGE_READ: it can be read; PAGE_HIDDEN, PAGE_STRANGE: it is not read; PAGE_FAILED: it
	 * cannot be opened, with the errno.
	 */
	enum page_state state;
	int error;
};

struct page_folder {
	struct page_file *files; /* in the order of their processes, then of their names */
	size_t count;
};

/*
 * Lists the files; removes those of this user whose process has ended.  False with errno if the
 * folder cannot be read.
 */
bool page_folder_read(struct page_folder *folder);
void page_folder_free(struct page_folder *folder);

/* The files of a process: the first one, and how many there are. */
const struct page_file *page_folder_of(const struct page_folder *folder, pid_t pid, size_t *count);

/*
 * Reads the pages of one process, with the patience of page_read().  Returns how many there are in
 * pages[], up to EVD_STATS_PAGES.  0: none; *state and *failed are then those of one that is not
 * read, with *path its name and errno; or *path is empty.
 */
int process_read(const struct page_file *files, size_t count, struct page pages[EVD_STATS_PAGES],
    enum page_state *state, struct page *failed, char *path, size_t size, int *patience);

#endif
