/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/channel.h"

#include <fcntl.h>
#include <string.h>

#include "dapl/ia/ia.h"
#include "dapl/trace/debug.h"

struct dapl_slab dapl_cq_context_slab = DAPL_SLAB_INITIALIZER(struct dapl_cq_context, NULL);

int
dapl_channel_prepare_shared_fd(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
}

int
dapl_channel_prepare_fd(int *fd)
{
	*fd = os_keep(*fd);
	return *fd < 0 ? *fd : dapl_channel_prepare_shared_fd(*fd);
}

bool
dapl_channel_is_broken(int error)
{
	/* Other errors, for example ENOMEM, may be over at the next read. */
	if (error != EIO && error != ENODEV && error != EBADF)
		return false;
	dapl_debug_error("cannot read a channel of the device: %s", strerror(error));
	return true;
}

bool
dapl_channel_check(struct loop *loop, struct loop_ticket *ticket)
{
	if (!dapl_channel_is_broken(errno))
		return false;
	loop_forget(loop, ticket);
	return true;
}

/* How many threads read asynchronous events. */
static struct os_flag async_readers;

static void
channel_count_readers(uint32_t change)
{
	uint32_t now;

	do
		now = os_flag_get(&async_readers);
	while (!os_flag_change(&async_readers, now, now + change));
}

void
dapl_channel_begin_async(void)
{
	channel_count_readers(1);
}

void
dapl_channel_end_async(void)
{
	channel_count_readers(UINT32_MAX);
	os_flag_wake(&async_readers);
}

/* A wake-up ends one sleep: each is short. */
void
dapl_channel_await_async(void)
{
	uint32_t readers;

	for (int i = 0; i < 10 && (readers = os_flag_get(&async_readers)); i++)
		(void)os_flag_wait(&async_readers, readers, os_clock_ns() + 10 * OS_NS_PER_MS);
}

/* A CQ is not destroyed before the notification that was read for it has been counted. */
static struct evd_ref
dapl_channel_ref(void *context)
{
	return ((struct dapl_cq_context *)context)->ref;
}

int
dapl_channel_read(void *arg, struct evd_ref *ref)
{
	struct dapl_ia_loop *l = arg;
	void *context;
	const int r = dapl_channel_get_as_consumer(l->channel, &context);

	if (r == 1)
		*ref = dapl_channel_ref(context);
	return r;
}

/* On a thread of the loop, or of the program that steps it (extension_step()). */
static int
dapl_channel_read_one(void *arg)
{
	struct dapl_ia_loop *l = arg;
	void *context;

	if (dapl_channel_get(l->channel, &context) != 1)
		return 0;
	evd_notified(dapl_channel_ref(context));
	return 1;
}

void
dapl_channel_read_shared(void *arg, uint64_t serial)
{
	struct dapl_ia_loop *l = arg;

	(void)serial; /* the loop's own: see dapl_ia_device_stop() */
	if (loop_read_some(&l->pace, dapl_channel_read_one, l) != 1 &&
	    dapl_channel_check(l->loop, &l->ticket))
		l->ia->ops->lost_channel(l->ia, l);
}
