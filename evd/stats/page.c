/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* mremap() */
#include "evd/stats/page.h"
#include "evd/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_AT_FIRST 64u

/* When this process began, in clock ticks since the start of the host; 0 if /proc does not say. */
static uint64_t
page_started(void)
{
	unsigned long long started = 0;
	char text[1024], *at;
	ssize_t n = -1;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')'); /* the end of field 2, which may have blanks */
	if (!at || sscanf(at + 1,
		       " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %llu",
		       &started) != 1)
		return 0;
	return started;
}

/* The PID namespace of this process, or 0. */
static uint64_t
page_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

/*
 * Whether the descriptor is still that of the page: programs that become daemons close descriptors
 * which they did not open, and the number may then be that of another file.
 */
static bool
page_has_descriptor(const struct evd_stats_page *page)
{
	struct stat st;

	return !fstat(page->fd, &st) && st.st_dev == page->device && st.st_ino == page->inode;
}

/*
 * Whether this process made the page.  In a PID namespace of its own, a child may have the number
 * of its parent; but only the parent has the lock.
 */
static bool
page_is_own(const struct evd_stats_page *page)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (page->pid != getpid())
		return false;
	return !page_has_descriptor(page) || fcntl(page->fd, F_GETLK, &lock) ||
	       lock.l_type == F_UNLCK;
}

/* Removes the file, unless its name is that of another file now. */
static void
page_remove(const struct evd_stats_page *page)
{
	struct stat st;

	if (page_is_own(page) && !lstat(page->path, &st) && st.st_dev == page->device &&
	    st.st_ino == page->inode)
		unlink(page->path);
}

/* All words of the page are written in order: a reader that sees one has seen those before it. */
static void
page_store(uint64_t *to, uint64_t value)
{
	atomic_store_explicit((_Atomic(uint64_t) *)to, value, memory_order_release);
}

static void
page_copy(void *to, const void *from, size_t size)
{
	uint64_t word;

	for (size_t at = 0; at < size; at += sizeof word) {
		memcpy(&word, (const char *)from + at, sizeof word);
		page_store((uint64_t *)(void *)((char *)to + at), word);
	}
}

static size_t
page_size_for(uint64_t rows)
{
	const size_t page = 4096;
	const size_t size = sizeof(struct evd_stats_head) + rows * sizeof(struct evd_stats_row);

	return (size + page - 1) / page * page;
}

static uint64_t
page_room(const struct evd_stats_page *page)
{
	return (page->size - sizeof(struct evd_stats_head)) / sizeof(struct evd_stats_row);
}

/* A file that becomes longer than the process may write would end it by SIGXFSZ. */
static bool
page_is_allowed(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= size;
}

/* The memory is reserved, so that no write fails later. */
static int
page_map(struct evd_stats_page *page, size_t size)
{
	void *map;
	int r;

	if (!page_has_descriptor(page))
		return -EBADF;
	if (!page_is_allowed(size))
		return -EFBIG;
	r = posix_fallocate(page->fd, 0, (off_t)size);
	if (r)
		return -r;
	map = page->map ? mremap(page->map, page->size, size, MREMAP_MAYMOVE) :
			  mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	page->map = map;
	page->size = size;
	return madvise(map, size, MADV_DONTFORK) ? -errno : 0;
}

/* The lock comes before the head: a page without it has no owner. */
static int
page_own(struct evd_stats_page *page)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;

	/* dat_top opens it by its name, whatever the umask of this process took. */
	if (fchmod(page->fd, S_IRUSR | S_IWUSR) || fstat(page->fd, &st) ||
	    fcntl(page->fd, F_SETLK, &lock)) {
		const int r = -errno;

		unlink(page->path);
		close(page->fd);
		page->fd = -1;
		return r;
	}
	page->device = st.st_dev;
	page->inode = st.st_ino;
	return 0;
}

/* No file of that name exists: one that an earlier process with this number has left stays. */
static int
page_make(struct evd_stats_page *page)
{
	for (int n = 0; n < EVD_STATS_PAGES; n++) {
		snprintf(page->path, sizeof page->path,
		    EVD_STATS_FOLDER "/" EVD_STATS_PREFIX "-%ld-%d", (long)getpid(), n);
		page->fd = os_keep(
		    open(page->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
		if (page->fd >= 0)
			return page_own(page);
		if (page->fd != -EEXIST)
			break;
	}
	return page->fd;
}

int
evd_stats_page_open(struct evd_stats_page *page, unsigned int interval_ms)
{
	struct evd_stats_head *head;
	int r;

	*page = (struct evd_stats_page){ .fd = -1, .pid = getpid() };
	r = page_make(page);
	if (r)
		return r;
	r = page_map(page, page_size_for(ROWS_AT_FIRST));
	if (r) {
		evd_stats_page_close(page);
		return r;
	}
	head = page->map;
	head->version = EVD_STATS_VERSION;
	head->head_size = sizeof *head;
	head->row_size = sizeof(struct evd_stats_row);
	head->pid = (uint64_t)getpid();
	head->pid_namespace = page_namespace();
	head->started = page_started();
	page_store(&head->interval_ms, interval_ms);
	page_store(&head->magic, EVD_STATS_MAGIC);
	return 0;
}

void
evd_stats_page_write(struct evd_stats_page *page, const struct evd_stats_row *rows, uint64_t count,
    uint64_t missing, uint64_t time_ns)
{
	struct evd_stats_head *head;
	uint64_t room = page_room(page), number;

	if (count > EVD_STATS_ROWS_MAX) {
		missing += count - EVD_STATS_ROWS_MAX;
		count = EVD_STATS_ROWS_MAX;
	}
	if (count > room && page_map(page, page_size_for(2 * count)) == 0)
		room = page_room(page);
	if (count > room) {
		missing += count - room;
		count = room;
	}
	head = page->map;
	number = head->begun + 1;
	page_store(&head->begun, number);
	page_store(&head->time_ns, time_ns);
	page_store(&head->count, count);
	page_store(&head->missing, missing);
	page_copy(head + 1, rows, count * sizeof *rows);
	page_store(&head->ended, number);
}

void
evd_stats_page_abandon(const struct evd_stats_page *page)
{
	if (page->map)
		page_remove(page);
}

void
evd_stats_page_close(struct evd_stats_page *page)
{
	if (page->map)
		munmap(page->map, page->size);
	if (page->fd >= 0) {
		page_remove(page);
		if (page_has_descriptor(page))
			close(page->fd);
	}
	*page = (struct evd_stats_page){ .fd = -1 };
}
