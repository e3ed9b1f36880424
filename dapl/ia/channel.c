/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/channel.h"

#include <fcntl.h>
#include <string.h>

#include "dapl/ia/ia.h"
#include "dapl/trace/debug.h"

struct dapl_slab dapl_cq_context_slab = DAPL_SLAB_INITIALIZER(struct dapl_cq_context, NULL);

int
dapl_channel_prepare_fd(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
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

void
dapl_channel_check(struct loop *loop, struct loop_ticket *ticket)
{
	if (dapl_channel_is_broken(errno))
		loop_forget(loop, ticket);
}

/*
 * A CQ is not destroyed before evd_notified() has counted the notification that was read for
 * it.
 */
int
dapl_channel_read(void *arg, struct evd_ref *ref)
{
	struct dapl_ia_loop *l = arg;
	void *context;
	const int r = dapl_channel_get(l->channel, &context);

	if (r == 1)
		*ref = ((struct dapl_cq_context *)context)->ref;
	return r;
}

static int
dapl_channel_read_one(void *arg)
{
	struct evd_ref ref;

	if (dapl_channel_read(arg, &ref) != 1)
		return 0;
	evd_notified(ref);
	return 1;
}

void
dapl_channel_read_shared(void *arg, uint64_t serial)
{
	struct dapl_ia_loop *l = arg;

	(void)serial; /* the loop's own: see dapl_ia_device_stop() */
	if (loop_read_some(&l->pace, dapl_channel_read_one, l) != 1)
		dapl_channel_check(l->loop, &l->ticket);
}
