/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/descriptor.h"

#include <poll.h>

/* After an error it is not read for a while: the dispatcher sees that, and tries later. */
#define ERROR_NS 10000000u

static int
descriptor_watch(const struct evd_descriptor *d)
{
	return os_epoll_ctl(d->epfd, EPOLL_CTL_MOD, d->fd, EPOLLIN | EPOLLONESHOT, 0);
}

/* Also after an error, which a read then returns. */
static bool
descriptor_is_there(const struct evd_descriptor *d)
{
	struct pollfd fd = { .fd = d->fd, .events = POLLIN };

	return os_poll(&fd, 1, 0) > 0;
}

static struct evd_device_result
descriptor_poll(void *source, struct evd_batch *batch)
{
	struct evd_descriptor *d = source;
	int n = 0;

	os_lock(&d->lock);
	if (os_clock_ns() < d->failed_until) {
		n = -EIO;
	} else if (!d->token && descriptor_is_there(d)) {
		d->token = true;
		(void)evd_batch_record(batch);
		evd_batch_queue(batch);
		n = 1;
	}
	os_unlock(&d->lock);
	return (struct evd_device_result){ n };
}

static struct evd_device_result
descriptor_arm(void *source, bool solicited_only)
{
	struct evd_descriptor *d = source;
	int r = 0;

	(void)solicited_only;
	os_lock(&d->lock);
	d->arm_later = d->token;
	if (!d->token)
		r = descriptor_watch(d);
	os_unlock(&d->lock);
	return (struct evd_device_result){ r };
}

/* A notification is no event: the consumer acknowledges these. */
static void
descriptor_ack(void *source, unsigned int n)
{
	(void)source;
	(void)n;
}

static int
descriptor_notified(void *source)
{
	const struct evd_descriptor *d = source;
	struct epoll_event ready;
	const int r = os_epoll_wait(d->epfd, &ready, 1, 0);

	return r == -EINTR ? 0 : r;
}

static void
descriptor_convert(
    void *source, const struct evd_record *record, void *event, struct evd_effect *effect)
{
	(void)source;
	(void)record;
	*effect = (struct evd_effect){ .code = 1, .object = event };
}

/* The thread that took the token reads the event, and the token goes. */
static void
descriptor_effect(void *source, const struct evd_effect *effect)
{
	struct evd_descriptor *d = source;
	struct evd_descriptor_result *result = effect->object;
	const int r = d->read(d->arg, result + 1);

	result->value = r < 0 ? -EIO : r;
	os_lock(&d->lock);
	d->token = false;
	if (r < 0)
		d->failed_until = os_clock_ns() + ERROR_NS;
	if (d->arm_later)
		(void)descriptor_watch(d);
	d->arm_later = false;
	os_unlock(&d->lock);
}

const struct evd_source_ops evd_descriptor_ops = {
	.poll = descriptor_poll,
	.convert = descriptor_convert,
	.arm = descriptor_arm,
	.ack = descriptor_ack,
	.read = descriptor_notified,
	.effect = descriptor_effect,
};

int
evd_descriptor_open(struct evd_descriptor *d)
{
	int r;

	d->epfd = os_epoll_open();
	if (d->epfd < 0)
		return d->epfd;
	r = os_epoll_ctl(d->epfd, EPOLL_CTL_ADD, d->fd, EPOLLONESHOT, 0);
	if (r)
		os_close(d->epfd);
	else
		os_mutex_init(&d->lock);
	return r;
}

void
evd_descriptor_close(struct evd_descriptor *d)
{
	os_close(d->epfd);
	os_mutex_fini(&d->lock);
}
