/* SPDX-License-Identifier: BSD-3-Clause */
/* channel -- the descriptor of a channel does not block; a notification is read */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rearm/internal.h"

/*
 * The descriptors of the program that queues have now, by number.  A queue that was freed inside a
 * callback leaves when that has returned, and the program may have adopted the same again by then:
 * the last one to leave restores the flags.
 */
static struct prepared {
	unsigned int users; /* 0: none, and `flags` means nothing */
	int flags;	    /* that it had before the first of them */
} * table;
static size_t table_size;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static bool
table_reaches(int fd)
{
	const size_t size = table_size > (size_t)fd ? table_size : 2 * (size_t)fd + 16;
	struct prepared *larger = table;

	if (size == table_size)
		return true;
	larger = realloc(table, size * sizeof *table);
	if (!larger)
		return false;
	memset(larger + table_size, 0, (size - table_size) * sizeof *table);
	table = larger;
	table_size = size;
	return true;
}

/* *flags are what it had. */
static int
channel_unblock(int fd, int *flags)
{
	*flags = fcntl(fd, F_GETFL);
	return *flags < 0 || fcntl(fd, F_SETFL, *flags | O_NONBLOCK) < 0 ? -errno : 0;
}

int
rearm_fd_own(int fd)
{
	int flags;

	return channel_unblock(fd, &flags);
}

int
rearm_fd_prepare(int fd)
{
	int flags, r;

	pthread_mutex_lock(&table_lock);
	r = table_reaches(fd) ? channel_unblock(fd, &flags) : -ENOMEM;
	if (!r) {
		/* One that blocks is another file: the program has closed the one before. */
		if (!table[fd].users || !(flags & O_NONBLOCK))
			table[fd].flags = flags;
		table[fd].users++;
	}
	pthread_mutex_unlock(&table_lock);
	return r;
}

void
rearm_fd_restore(int fd)
{
	pthread_mutex_lock(&table_lock);
	if (--table[fd].users == 0)
		(void)fcntl(fd, F_SETFL, table[fd].flags);
	pthread_mutex_unlock(&table_lock);
}

/* The thread may be the program's: a cancellation does not end it here. */
int
rearm_channel_read(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
	REARM_UNCANCELLED;
	void *context;
	int r;

	errno = 0;
	r = ibv_get_cq_event(channel, cq, &context) ? -errno : 1;
	if (r == -EIO || r == -ENODEV || r == -EBADF)
		return r;
	return r == 1; /* other errors may be over at the next read */
}
