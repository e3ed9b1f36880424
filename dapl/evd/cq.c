/* SPDX-License-Identifier: BSD-3-Clause */
/* cq -- the completion queue of an EVD: its depth, polling, arming and its channel */

#include <string.h>

#include "dapl/evd/evd_object.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/cq_arm.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/shortage.h"

/*
 * A completion queue that overflows cannot be used again, and DAT consumers attach endpoints to
 * EVDs that are shorter than the number of requests. So no queue is shorter than this depth, and
 * rarely one has to grow.
 */
#ifndef CQ_DEPTH_MIN /* the build of the explorer makes it small, so that every queue has to grow */
#define CQ_DEPTH_MIN 64
#endif
/* The depth on a device that cannot resize completion queues. */
#define CQ_DEPTH_FIXED 4096

static int
dapl_cq_first_depth(const struct dapl_ia *ia, int qlen)
{
	int least = CQ_DEPTH_MIN;

	if (ia->fixed_cqs)
		least = ia->device.max_cqe < CQ_DEPTH_FIXED ? ia->device.max_cqe : CQ_DEPTH_FIXED;
	return qlen < least ? least : qlen;
}

int
dapl_evd_cq_open(struct dapl_ia *ia, struct dapl_evd *evd, int qlen,
    struct ibv_comp_channel *shared, int vector, bool private_channel)
{
	struct ibv_context *verbs = shared->context;
	int depth = dapl_cq_first_depth(ia, qlen);
	int r;

	evd->channel = NULL;
	evd->context = dapl_slab_alloc(&dapl_cq_context_slab);
	if (!evd->context)
		return -ENOMEM;
	if (private_channel) {
		errno = 0;
		evd->channel = ibv_create_comp_channel(verbs);
		if (!evd->channel) {
			r = dapl_shortage_of_device("ibv_create_comp_channel");
			goto free_context;
		}
		r = dapl_channel_prepare_fd(&evd->channel->fd);
		if (r)
			goto destroy_channel;
	}
	errno = 0;
	evd->cq =
	    ibv_create_cq(verbs, depth, evd->context, evd->channel ? evd->channel : shared, vector);
	if (!evd->cq) {
		r = dapl_shortage_of_device("ibv_create_cq");
		goto destroy_channel;
	}
	/*
	 * The device has accepted this before, and without it the EVD only has more notifications.
	 */
	r = dapl_ia_moderate(ia, evd->cq);
	if (r)
		dapl_debug_error("an EVD without moderation: %s", strerror(-r));
	return 0;

destroy_channel:
	if (evd->channel)
		ibv_destroy_comp_channel(evd->channel);
	evd->channel = NULL;
free_context:
	dapl_slab_free(&dapl_cq_context_slab, evd->context);
	evd->context = NULL;
	return r;
}

void
dapl_evd_cq_close(struct dapl_evd *evd)
{
	if (evd->cq)
		ibv_destroy_cq(evd->cq);
	if (evd->channel)
		ibv_destroy_comp_channel(evd->channel);
	if (evd->context)
		dapl_slab_free(&dapl_cq_context_slab, evd->context);
}

/*
 * 0 or -errno. The depth that the dispatcher knows is never too small: it
 * grows before the device queue and shrinks after it.
 */
static int
dapl_cq_set_depth(struct dapl_evd *evd, int want) REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	const int was = evd->cq->cqe;
	int r;

	if (want > was)
		evd_set_depth(dapl_evd_ref(evd), (unsigned int)want);
	r = ibv_resize_cq(evd->cq, want);
	evd_set_depth(dapl_evd_ref(evd), (unsigned int)(r ? was : evd->cq->cqe));
	return r < 0 ? -errno : -r;
}

void
dapl_evd_cq_get_room(struct dapl_evd *evd, int n)
{
	const int most = dapl_ia_of(&evd->obj)->device.max_cqe;
	int want;

	dapl_object_lock(&evd->obj);
	evd->room += n;
	if (evd->cq && evd->room > evd->cq->cqe && evd->cq->cqe < most) {
		want = evd->cq->cqe < most / 2 ? 2 * evd->cq->cqe : most;
		if (want < evd->room)
			want = evd->room < most ? evd->room : most;
		(void)dapl_cq_set_depth(evd, want);
	}
	dapl_object_unlock(&evd->obj);
}

void
dapl_evd_cq_put_room(struct dapl_evd *evd, int n)
{
	int r;

	dapl_object_lock(&evd->obj);
	n += evd->stale;
	evd->stale = 0;
	dapl_object_unlock(&evd->obj);
	r = dapl_evd_drain(dapl_evd_ref(evd));
	dapl_object_lock(&evd->obj);
	if (r)
		evd->stale += n;
	else
		evd->room -= n;
	dapl_object_unlock(&evd->obj);
}

int
dapl_evd_cq_deepen(struct dapl_evd *evd, int qlen)
{
	int r;

	if (!evd->cq || evd->cq->cqe >= qlen)
		return 0;
	r = dapl_cq_set_depth(evd, qlen);
	return r == -ENOMEM || r == -EAGAIN ? dapl_shortage_of_result("ibv_resize_cq", -r) : 0;
}

void
dapl_evd_cq_shorten(struct dapl_evd *evd, int qlen)
{
	int want = qlen > evd->room ? qlen : evd->room;

	if (want < CQ_DEPTH_MIN)
		want = CQ_DEPTH_MIN;
	if (evd->cq && evd->cq->cqe > want)
		(void)dapl_cq_set_depth(evd, want);
}

struct evd_device_result
dapl_evd_cq_arm(void *source, bool solicited_only)
{
	struct dapl_evd *evd = source;

	return (struct evd_device_result){ dapl_cq_arm(evd->cq, solicited_only) };
}

void
dapl_evd_cq_ack(void *source, unsigned int n)
{
	struct dapl_evd *evd = source;

	ibv_ack_cq_events(evd->cq, n);
}

int
dapl_evd_cq_read(void *source)
{
	struct dapl_evd *evd = source;
	void *context;
	const int r = dapl_channel_get_as_consumer(evd->channel, &context);

	if (r >= 0)
		return r;
	if (!dapl_channel_is_broken(-r))
		return 0;
	dapl_ia_lost_channel(dapl_ia_of(&evd->obj), NULL);
	return r;
}
