/* SPDX-License-Identifier: BSD-3-Clause */
/* channel -- the descriptor of a channel does not block; a notification is read */
#include <fcntl.h>

#include "rearm/internal.h"

int
rearm_fd_prepare(int fd, int *flags)
{
	*flags = fcntl(fd, F_GETFL);
	return *flags < 0 || fcntl(fd, F_SETFL, *flags | O_NONBLOCK) < 0 ? -errno : 0;
}

void
rearm_fd_restore(int fd, int flags)
{
	(void)fcntl(fd, F_SETFL, flags);
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
