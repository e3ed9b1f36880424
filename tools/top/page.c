/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 2000000

int
page_open(int folder, const char *path)
{
	struct stat st;
	int fd = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

bool
page_is_whole(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_blocks * 512 >= st.st_size;
}

pid_t
page_holder(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
		return -1;
	return lock.l_pid > 0 ? lock.l_pid : 0;
}

/* Reads all of it: false if the file is shorter. */
static bool
read_at(int fd, void *to, size_t size, off_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, (char *)to + done, size - done, at + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static enum page_state
check_head(const struct evd_stats_head *head, uint64_t size)
{
	if (head->magic == 0)
		return PAGE_EMPTY; /* it is being made */
	if (head->magic != EVD_STATS_MAGIC)
		return PAGE_FOREIGN;
	if (head->version != EVD_STATS_VERSION)
		return PAGE_OTHER;
	if (head->head_size != sizeof *head || head->row_size != sizeof(struct evd_stats_row) ||
	    head->count > EVD_STATS_ROWS_MAX ||
	    head->count > (size - sizeof *head) / sizeof(struct evd_stats_row))
		return PAGE_BROKEN;
	return PAGE_READ;
}

static void
make_printable(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

enum page_state
page_read_head(int fd, struct evd_stats_head *head)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return PAGE_FAILED;
	if ((uint64_t)st.st_size < sizeof *head)
		return st.st_size == 0 ? PAGE_EMPTY : PAGE_FOREIGN;
	if (!read_at(fd, head, sizeof *head, 0))
		return PAGE_FOREIGN;
	return check_head(head, (uint64_t)st.st_size);
}

/*
 * One attempt: see evd/stats/layout.h.  The page may change meanwhile, so that the count of one
 * reading says nothing about the next.
 */
static enum page_state
try_read(int fd, struct page *page)
{
	struct evd_stats_head before, after;
	enum page_state state = page_read_head(fd, &before);
	size_t size;

	if (state != PAGE_FAILED && state != PAGE_FOREIGN)
		page->head = before;
	if (state != PAGE_READ)
		return state;
	if (before.ended == 0)
		return PAGE_EMPTY;
	size = before.count * sizeof *page->rows;
	page->rows = malloc(size != 0 ? size : 1);
	if (page->rows == NULL)
		return PAGE_FAILED;
	atomic_thread_fence(memory_order_seq_cst);
	if (!read_at(fd, &page->head, sizeof page->head, 0) ||
	    !read_at(fd, page->rows, size, sizeof page->head))
		return PAGE_BROKEN;
	atomic_thread_fence(memory_order_seq_cst);
	if (!read_at(fd, &after, sizeof after, 0))
		return PAGE_BROKEN;
	/* With one writer the first condition implies the others. */
	if (before.ended != after.begun || page->head.begun != before.ended ||
	    page->head.count != before.count)
		return PAGE_BUSY;
	for (uint64_t i = 0; i < page->head.count; i++)
		make_printable(page->rows[i].adapter, sizeof page->rows[i].adapter);
	return PAGE_READ;
}

enum page_state
page_read(int fd, struct page *page, int *patience)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };
	enum page_state state;

	for (;;) {
		*page = (struct page){ .rows = NULL };
		state = try_read(fd, page);
		if (state == PAGE_READ)
			return state;
		page_free(page);
		if ((state != PAGE_BUSY && state != PAGE_EMPTY) || *patience <= 0)
			return state;
		--*patience;
		nanosleep(&pause, NULL);
	}
}

void
page_free(struct page *page)
{
	free(page->rows);
	page->rows = NULL;
}

const char *
page_explain(enum page_state state, const struct page *page, char *buffer, size_t size)
{
	switch (state) {
	case PAGE_READ:
		return "is well";
	case PAGE_EMPTY:
		return "has no snapshot yet: try again";
	case PAGE_BUSY:
		return "changes too fast to be read";
	case PAGE_FOREIGN:
		return "is no page of statistics";
	case PAGE_OTHER:
		snprintf(buffer, size,
		    "is of version %u, and this dat_top reads version %u: use the dat_top of the "
		    "same Rearm",
		    page->head.version, EVD_STATS_VERSION);
		return buffer;
	case PAGE_BROKEN:
		return "is damaged";
	case PAGE_HIDDEN:
		return "is of a process that lives in another PID namespace: run dat_top there";
	case PAGE_STRANGE:
		return "is not of the user of the process: it is not read";
	case PAGE_FAILED:
		snprintf(buffer, size, "cannot be read: %s", strerror(errno));
		return buffer;
	}
	return "";
}
