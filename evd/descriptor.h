/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor -- a source whose events are behind a descriptor, which is readable while there are
 * some
 *
 * For events that must not be read before they are given out: where one that was read holds up its
 * object until the consumer has acknowledged it.  So no event waits in the queue of the EVD.  What
 * is queued there, and taken, is at most one *token*: there is an event.  The thread that takes the
 * token reads the event, as its effect, and if that has gone meanwhile it gets none.  While there
 * is a token the source has no more; the descriptor is watched again when the event was read.
 *
 * To arm is to watch the descriptor for one shot, by an epoll of its own; what has been reported
 * once is not reported again before the next arm.
 */
#ifndef REARM_EVD_DESCRIPTOR_H
#define REARM_EVD_DESCRIPTOR_H

#include "evd/device.h"
#include "evd/os.h"

/* The front end has it, as the source of one EVD, whose queue has room for EVD_TOKENS. */
struct evd_descriptor {
	int fd;
	/*
	 * Not locked.  Reads an event without blocking: 1; 0 if there is none; or -errno.  The
	 * place is behind the result in the memory of the consumer.
	 */
	int (*read)(void *arg, void *event);
	void *arg;
	int epfd; /* the channel_fd of the EVD */
	struct os_mutex lock;
	bool token, arm_later; /* guarded by lock, as is what follows */
	uint64_t failed_until;
};

/* More than the one token, so that the queue is never full. */
#define EVD_TOKENS 2

/* An event begins with this: what read() has returned, but -EIO for each error. */
struct evd_descriptor_result {
	int64_t value;
};

extern const struct evd_source_ops evd_descriptor_ops;

/* With fd, read and arg set; nothing is watched before the first arm.  0 or -errno. */
int evd_descriptor_open(struct evd_descriptor *descriptor);
void evd_descriptor_close(struct evd_descriptor *descriptor);

#endif
