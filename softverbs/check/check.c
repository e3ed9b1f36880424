/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check -- the checker as the judge of the device: it is set when the library is loaded, if the
 * user wants it
 */
#include "adversary.h"
#include "pending.h"
#include "report.h"
#include "sentry.h"
#include "settings.h"
#include "softverbs/device/runtime.h"
#include "softverbs/qp/post.h"
#include "softverbs/qp/qp.h"

/*
 * A thread that spins, and did not create the queue, loses the processor after so many polls that
 * found nothing.
 */
#define PAUSE_AFTER 1024u

/* A record of the parent of a fork is not used in the child. */
static struct soft_check_queue *
check_queue(struct soft_cq *cq)
{
	struct soft_check_queue *queue = soft_check_queue_of(cq);

	return queue && queue->generation == soft_runtime_generation() ? queue : NULL;
}

/* True after a report if the queue is destroyed. */
static bool
check_is_destroyed(struct soft_check_queue *queue, const char *call) SOFT_NO_CHECK_LOCK
{
	const struct soft_check_state state = { 0 };

	if (!queue->destroyed)
		return false;
	soft_check_queue_lock(queue);
	soft_report(SOFT_USED_WHEN_DESTROYED, queue, &state,
	    "Thread %d calls %s with a queue that thread %d has destroyed.",
	    (int)soft_site_thread(), call, (int)queue->destroying.thread);
	soft_check_queue_unlock(queue);
	return true;
}

/* --- the operations of a context */

static void
check_polled(struct soft_check_queue *queue, int wanted, int found, const struct ibv_wc *wc,
    const void *caller) SOFT_NO_CHECK_LOCK
{
	struct soft_check_state state;

	atomic_fetch_add_explicit(&queue->activity, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&queue->polls, 1, memory_order_relaxed);
	if (queue->refused)
		queue->refused = 0;
	if (found > 0)
		atomic_fetch_add_explicit(&soft_check_progress, 1, memory_order_relaxed);
	soft_check_queue_lock(queue);
	queue->wanted = wanted;
	queue->found = found;
	soft_site_mark(&queue->polled, caller);
	for (int i = 0; i < found; i++) {
		if (!soft_check_is_not_ready(&wc[i]) || queue->destroyed)
			continue;
		state = soft_check_queue_look(queue);
		state.made |= soft_completion_is_made(&wc[i]);
		soft_report(SOFT_RECEIVER_NOT_READY, queue, &state,
		    "The connection of queue pair %u failed: the peer had no receive for a "
		    "message.",
		    wc[i].qp_num);
	}
	soft_check_queue_unlock(queue);
}

static int
check_poll_cq(struct ibv_cq *ibv, int n, struct ibv_wc *wc) SOFT_NO_CHECK_LOCK
{
	struct soft_check_queue *queue = soft_check_queue_of(soft_cq_of(ibv));
	int found;

	if (check_is_destroyed(queue, "ibv_poll_cq()"))
		return -EINVAL;
	queue->inside++;
	found = soft_cq_poll(ibv, n, wc);
	if (!found && ++queue->empties % PAUSE_AFTER == 0 && queue->creator != soft_site_thread())
		soft_adversary_pause_poll(soft_cq_of(ibv));
	queue->inside--;
	check_polled(queue, n, found, wc, __builtin_return_address(0));
	return found;
}

/* ---- an extended poll, step by step */

static int
check_polling(struct soft_cq *cq, const char *call) SOFT_NO_CHECK_LOCK
{
	struct soft_check_queue *queue = check_queue(cq);

	if (!queue)
		return EIO; /* the parent's */
	if (check_is_destroyed(queue, call))
		return EINVAL;
	queue->inside++;
	return 0;
}

static void
check_polled_one(struct soft_cq *cq, int found, const struct ibv_wc *wc) SOFT_NO_CHECK_LOCK
{
	struct soft_check_queue *queue = soft_check_queue_of(cq);

	if (found > 0)
		queue->poller = soft_site_thread();
	queue->inside--;
	check_polled(queue, 1, found, wc, __builtin_return_address(0));
}

static int
check_poll_ending(struct soft_cq *cq) SOFT_NO_CHECK_LOCK
{
	struct soft_check_queue *queue = check_queue(cq);

	if (!queue)
		return 0;
	if (check_is_destroyed(queue, "ibv_end_poll()"))
		return EINVAL;
	queue->poller = 0;
	return 0;
}

static int
check_req_notify_cq(struct ibv_cq *ibv, int solicited_only) SOFT_NO_CHECK_LOCK
{
	struct soft_cq *cq = soft_cq_of(ibv);
	struct soft_check_queue *queue = soft_check_queue_of(cq);
	int r;

	if (check_is_destroyed(queue, "ibv_req_notify_cq()"))
		return EINVAL;
	queue->inside++;
	if (soft_check_settings.arms_fail && soft_adversary_fails(cq)) {
		r = EAGAIN;
	} else {
		soft_adversary_pause(cq);
		r = soft_cq_request(ibv, solicited_only);
		soft_adversary_pause_after(cq);
	}
	queue->inside--;
	soft_check_acted(queue);
	soft_check_queue_lock(queue);
	queue->was_armed |= !r;
	queue->arm_failed = r != 0;
	soft_site_mark(&queue->armed, __builtin_return_address(0));
	soft_check_queue_unlock(queue);
	return r;
}

/*
 * Counts the requests in a row that have no completion, up to `end`; returns whether they are more
 * than the send queue holds.  Here such a request leaves the queue when it is done, so the device
 * does not notice; an adapter keeps it until the completion of a later one is polled.
 */
static bool
check_count_unsignaled(struct soft_qp *qp, const struct ibv_send_wr *wr,
    const struct ibv_send_wr *end) SOFT_NO_SEND_LOCK
{
	bool full = false;

	soft_qp_lock_send(qp);
	if (qp->state == IBV_QPS_RTS)
		for (; wr != end; wr = wr->next) {
			if (qp->sq.sig_all || wr->send_flags & IBV_SEND_SIGNALED)
				qp->sq.unsignaled = 0;
			else
				full |= ++qp->sq.unsignaled > qp->sq.size;
		}
	soft_qp_unlock_send(qp);
	return full;
}

/*
 * An adapter has room for another request when a completion was polled, here when a request is
 * done.  False if so many were posted since the last poll that it has none; those without any
 * completion are counted above.
 */
static bool
check_has_room(struct soft_qp *qp, const struct soft_check_queue *queue,
    const struct ibv_send_wr *wr) SOFT_NO_SEND_LOCK
{
	const uint32_t polls = queue->polls;
	bool signaled = false, room = true;
	uint32_t n = 0;

	for (; wr; wr = wr->next, n++)
		signaled |= qp->sq.sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	soft_qp_lock_send(qp);
	if (qp->state == IBV_QPS_RTS) {
		if (qp->sq.polls != polls)
			qp->sq.unpolled = 0;
		qp->sq.polls = polls;
		if (!qp->sq.unpolled)
			qp->sq.unpolled_signaled = false;
		room = !qp->sq.unpolled_signaled || qp->sq.unpolled + n <= qp->sq.size;
		if (room) {
			qp->sq.unpolled += n;
			qp->sq.unpolled_signaled |= signaled;
		}
	}
	soft_qp_unlock_send(qp);
	return room;
}

/* Those from here on were refused, and take up no room. */
static void
check_give_room_back(struct soft_qp *qp, const struct ibv_send_wr *wr) SOFT_NO_SEND_LOCK
{
	uint32_t n = 0;

	for (; wr; wr = wr->next)
		n++;
	soft_qp_lock_send(qp);
	qp->sq.unpolled -= n < qp->sq.unpolled ? n : qp->sq.unpolled;
	soft_qp_unlock_send(qp);
}

/*
 * A program may post until there is no room, and then poll.  It is reported if it does not do so.
 */
static void
check_refused(struct soft_check_queue *queue, uint32_t number) SOFT_NO_CHECK_LOCK
{
	struct soft_check_state state;

	soft_check_queue_lock(queue);
	state = soft_check_queue_look(queue);
	soft_report(SOFT_SEND_QUEUE_FULL, queue, &state,
	    "A request on queue pair %u was refused with ENOMEM: so many were posted since the "
	    "queue was last polled. It was "
	    "not polled after that either.",
	    number);
	soft_check_queue_unlock(queue);
}

static bool
check_refuses(struct soft_check_queue *queue, struct ibv_qp *ibv,
    const struct ibv_send_wr *wr) SOFT_NO_CHECK_LOCK SOFT_NO_SEND_LOCK
{
	unsigned int none = 0;

	if (!queue || check_has_room(soft_qp_of(ibv), queue, wr))
		return false;
	if (atomic_compare_exchange_strong(&queue->refused, &none, ibv->qp_num))
		queue->refused_at = soft_now();
	else if (none == ibv->qp_num &&
		 soft_now() - queue->refused_at >= soft_check_settings.stranded_after)
		check_refused(queue, ibv->qp_num);
	return true;
}

/* The requests up to `end` were posted. */
static void
check_posted_until(struct ibv_qp *ibv, const struct ibv_send_wr *wr,
    const struct ibv_send_wr *end) SOFT_NO_CHECK_LOCK SOFT_NO_SEND_LOCK
{
	struct soft_check_queue *queue = check_queue(soft_cq_of(ibv->send_cq));
	struct soft_qp *qp = soft_qp_of(ibv);
	struct soft_check_state state;

	atomic_fetch_add_explicit(&soft_check_progress, 1, memory_order_relaxed);
	if (!queue || !check_count_unsignaled(qp, wr, end))
		return;
	soft_check_queue_lock(queue);
	state = soft_check_queue_look(queue);
	state.made = 0; /* whatever becomes of the requests */
	soft_report(SOFT_SEND_QUEUE_FULL, queue, &state,
	    "More than %u requests in a row on queue pair %u had no completion: an adapter refuses "
	    "them from now on.",
	    qp->sq.size, ibv->qp_num);
	soft_check_queue_unlock(queue);
}

static void
check_posted(struct ibv_qp *ibv, const struct ibv_send_wr *wr) SOFT_NO_CHECK_LOCK SOFT_NO_SEND_LOCK
{
	check_posted_until(ibv, wr, NULL);
}

static int
check_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr,
    struct ibv_send_wr **bad) SOFT_NO_CHECK_LOCK SOFT_NO_SEND_LOCK
{
	int r;

	if (check_refuses(check_queue(soft_cq_of(ibv->send_cq)), ibv, wr)) {
		*bad = wr;
		return ENOMEM;
	}
	r = soft_qp_post_send(ibv, wr, bad);
	if (r)
		check_give_room_back(soft_qp_of(ibv), *bad);
	check_posted_until(ibv, wr, r ? *bad : NULL);
	return r;
}

static int
check_bind_mw(struct ibv_qp *ibv, struct ibv_mw *mw,
    struct ibv_mw_bind *bind) SOFT_NO_CHECK_LOCK SOFT_NO_SEND_LOCK
{
	const struct ibv_send_wr wr = { .send_flags = bind->send_flags };
	int r = soft_qp_bind_mw(ibv, mw, bind);

	if (!r)
		check_posted_until(ibv, &wr, NULL);
	return r;
}

static int
check_post_srq_recv(
    struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) SOFT_NO_SRQ_LOCK
{
	atomic_fetch_add_explicit(&soft_check_progress, 1, memory_order_relaxed);
	return soft_srq_post_recv(ibv, wr, bad);
}

static int
check_post_recv(
    struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) SOFT_NO_RECEIVE_LOCK
{
	atomic_fetch_add_explicit(&soft_check_progress, 1, memory_order_relaxed);
	return soft_qp_post_recv(ibv, wr, bad);
}

static void
check_context(struct soft_context *ctx)
{
	struct ibv_context_ops *ops = &ctx->verbs.context.ops;

	ops->poll_cq = check_poll_cq;
	ops->req_notify_cq = check_req_notify_cq;
	ops->post_send = check_post_send;
	ops->post_recv = check_post_recv;
	ops->post_srq_recv = check_post_srq_recv;
	ops->bind_mw = check_bind_mw;
}

/* --- the functions of libibverbs */

static int
check_created(struct soft_cq *cq)
{
	int r = soft_check_queue_create(cq);

	if (r)
		return r;
	cq->ibv.handle = soft_check_queue_of(cq)->number;
	(void)soft_sentry_start(); /* without it less is found */
	return 0;
}

/* The program has called, and has got an error, which it may not ignore. */
static void
check_failed(struct soft_cq *cq, bool arm) SOFT_NO_CHECK_LOCK
{
	struct soft_check_queue *queue = check_queue(cq);

	if (!queue || queue->destroyed)
		return;
	soft_check_acted(queue);
	if (!arm) {
		atomic_fetch_add_explicit(&queue->polls, 1, memory_order_relaxed);
		queue->refused = 0;
		return;
	}
	soft_check_queue_lock(queue);
	queue->arm_failed = true;
	soft_site_mark(&queue->armed, NULL);
	soft_check_queue_unlock(queue);
}

static void
check_event(struct soft_cq *cq)
{
	struct soft_check_queue *queue = check_queue(cq);

	if (!queue)
		return;
	queue->events_read++;
	soft_check_acted(queue);
	soft_adversary_event(cq);
	soft_check_queue_lock(queue);
	soft_site_mark(&queue->event, NULL);
	soft_check_queue_unlock(queue);
}

static void
check_acknowledging(struct soft_cq *cq, unsigned int n)
{
	struct soft_check_queue *queue = check_queue(cq);
	struct soft_check_state state;
	unsigned int acknowledged;

	if (!queue || check_is_destroyed(queue, "ibv_ack_cq_events()"))
		return;
	acknowledged = atomic_fetch_add(&queue->events_acknowledged, n) + n;
	soft_check_acted(queue);
	if (acknowledged <= queue->events_read)
		return;
	soft_check_queue_lock(queue);
	state = soft_check_queue_look(queue);
	soft_report(SOFT_ACKNOWLEDGED_TOO_MUCH, queue, &state,
	    "Thread %d has acknowledged %u events of the queue, of which %u were read.",
	    (int)soft_site_thread(), acknowledged, queue->events_read);
	soft_check_queue_unlock(queue);
}

static void
check_destroying(struct soft_cq *cq)
{
	struct soft_check_queue *queue = check_queue(cq);

	struct soft_check_state state;
	bool inside;
	pid_t poller;

	if (!queue)
		return;
	poller = queue->poller;
	inside = queue->inside || (poller && poller != soft_site_thread());
	if (queue->refused)
		check_refused(queue, queue->refused);
	soft_check_acted(queue);
	soft_adversary_leave(cq);
	soft_sentry_look_at(queue);
	soft_check_queue_lock(queue);
	soft_site_mark(&queue->destroying, NULL);
	if (inside) {
		state = soft_check_queue_look(queue);
		soft_report(SOFT_USED_WHEN_DESTROYED, queue, &state,
		    "Thread %d destroys the queue while another one is in ibv_poll_cq() or "
		    "ibv_req_notify_cq() with it, or between ibv_start_poll() and ibv_end_poll().",
		    (int)soft_site_thread());
	}
	soft_check_queue_unlock(queue);
}

static void
check_destroyed(struct soft_cq *cq)
{
	struct soft_check_queue *queue = soft_check_queue_of(cq);

	soft_check_queue_lock(queue);
	queue->destroyed = true;
	soft_check_queue_unlock(queue);
	soft_check_queue_remove(queue);
}

static const struct soft_judge judge = {
	.personality = &soft_adversary,
	.context = check_context,
	.created = check_created,
	.polling = check_polling,
	.polled = check_polled_one,
	.poll_ending = check_poll_ending,
	.posted = check_posted,
	.failed = check_failed,
	.event = check_event,
	.acknowledging = check_acknowledging,
	.waiting = soft_pending_begin,
	.waits = soft_pending_progress,
	.waited = soft_pending_end,
	.destroying = check_destroying,
	.destroyed = check_destroyed,
};

/* --- the process */

static void
check_fork_child(void)
{
	soft_site_reset();
	soft_check_queues_reset();
	soft_reports_reset();
	soft_pending_reset();
	soft_sentry_reset();
}

static __attribute__((constructor)) void
check_load(void)
{
	if (!soft_check_settings_read())
		return;
	soft_site_prepare();
	pthread_atfork(NULL, NULL, check_fork_child);
	soft_judge = &judge;
}

/* What happened just before the end. */
static __attribute__((destructor)) void
check_unload(void)
{
	if (!soft_judge)
		return;
	soft_sentry_look();
	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next)
		if (!queue->destroyed && queue->refused &&
		    queue->generation == soft_runtime_generation())
			check_refused(queue, queue->refused);
}
