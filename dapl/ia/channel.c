/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/channel.h"

#include <fcntl.h>
#include <string.h>

#include "dapl/ia/ia.h"
#include "dapl/trace/debug.h"

struct slab evd_cq_context_slab = SLAB_INITIALIZER(struct evd_cq_context, NULL);

int
ia_prepare_fd(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
}

void
ia_channel_read(struct loop *loop, struct loop_ticket *ticket)
{
	/* Anything else, a shortage of memory for one, may be over at the next turn. */
	if (errno != EIO && errno != ENODEV && errno != EBADF)
		return;
	debug_error("a channel of the device is broken: %s", strerror(errno));
	loop_forget(loop, ticket);
}

/* Reads, books and kicks; a CQ cannot go before the event read for it is booked. */
void
ia_shared_channel_read(void *arg, uint64_t serial)
{
	struct ia_loop *l = arg;
	struct ibv_cq *cq;
	void *context;

	(void)serial; /* the loop's own: see ia_device_quiet() */
	while (ibv_get_cq_event(l->channel, &cq, &context) == 0)
		evd_notified(((struct evd_cq_context *)context)->ref);
	ia_channel_read(l->loop, &l->ticket);
}
