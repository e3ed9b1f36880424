/* SPDX-License-Identifier: BSD-3-Clause */
#include "cno/cno.h"

#include <stddef.h>
#include <string.h>

/* A proxy agent on a thread's stack. */
struct agent_frame {
	struct agent_frame *outer;
	struct cno *cno;
};

static struct cno *
cno_of_listener(struct evd_listener *listener)
{
	return (struct cno *)((char *)listener - offsetof(struct cno, listener));
}

static struct cno *
cno_of_job(struct loop_job *job)
{
	return (struct cno *)((char *)job - offsetof(struct cno, job));
}

/* Every entry from outside, as evd_enter(). */
static struct cno *
cno_enter(struct cno_ref ref)
{
	os_lock(&ref.cno->lock);
	if (ref.cno->alive && ref.cno->serial == ref.serial)
		return ref.cno;
	os_unlock(&ref.cno->lock);
	return NULL;
}

/* ---- the triggered list; the CNO's lock is held ---- */

static void
cno_list_append(struct cno *cno, struct evd *evd)
{
	evd->triggered = true;
	evd->triggered_next = NULL;
	if (cno->last)
		cno->last->triggered_next = evd;
	else
		cno->first = evd;
	cno->last = evd;
}

static void
cno_list_remove(struct cno *cno, struct evd *evd)
{
	struct evd *before = NULL;

	if (!evd->triggered)
		return;
	for (struct evd *e = cno->first; e != evd; e = e->triggered_next)
		before = e;
	if (before)
		before->triggered_next = evd->triggered_next;
	else
		cno->first = evd->triggered_next;
	if (cno->last == evd)
		cno->last = before;
	evd->triggered = evd->agent_unseen = false;
	evd->triggered_next = NULL;
}

static bool
cno_is_triggered(const struct cno *cno)
{
	return cno->first || cno->last_detached;
}

/* Ends every section that may have triggered the CNO or consumed the last trigger. */
static void
cno_update_fd(struct cno *cno)
{
	const bool readable = cno_is_triggered(cno);

	if (cno->fd < 0 || readable == cno->fd_readable)
		return;
	cno->fd_readable = readable;
	if (readable)
		os_event_set(cno->fd);
	else
		(void)os_event_clear(cno->fd);
}

static struct evd *
cno_first_unseen(const struct cno *cno)
{
	struct evd *evd = cno->first;

	while (evd && !evd->agent_unseen)
		evd = evd->triggered_next;
	return evd;
}

static void
cno_clear_due(struct cno *cno)
{
	cno->agent_due = false;
	cno->due_evd = DAT_HANDLE_NULL;
}

/*
 * The agent and the waiters are two readers of one list: a waiter takes an EVD off it, the agent
 * only marks it as seen, so that a re-installed agent is not called for ever about the same trigger
 * and a later cno_wait() still finds it.  An agent that was installed when the trigger came is
 * called even if a waiter was faster.
 */
static void
cno_queue_agent(struct cno *cno)
{
	if (!cno->alive || cno->job_queued || cno->in_agent)
		return;
	if (!cno->cfg.agent.proxy_agent_func || (!cno->agent_due && !cno_first_unseen(cno)))
		return;
	cno->job_queued = true;
	loop_ready(cno->cfg.loop, &cno->job);
}

/* ---- called by EVDs, trigger lock held ---- */

static void
cno_notify(struct evd_listener *listener, struct evd *evd)
{
	struct cno *cno = cno_of_listener(listener);

	os_lock(&cno->lock);
	if (!evd->triggered)
		cno_list_append(cno, evd);
	evd->agent_unseen = true;
	(void)park_list_wake_first(&cno->waiters);
	cno_queue_agent(cno);
	cno_update_fd(cno);
	os_unlock(&cno->lock);
}

static void
cno_detach(struct evd_listener *listener, struct evd *evd)
{
	struct cno *cno = cno_of_listener(listener);

	os_lock(&cno->lock);
	cno_list_remove(cno, evd);
	if (cno->due_evd == evd->cfg.handle)
		cno->due_evd = DAT_HANDLE_NULL;
	cno_update_fd(cno);
	os_unlock(&cno->lock);
}

/* ---- the agent, on the loop ---- */

static bool
cno_is_quiescent(const struct cno *cno)
{
	return !cno->in_agent && !cno->job_queued && cno->n_waiters == 0 && cno->n_awaiting == 0;
}

/* As evd_closers(), of the one agent there can be. */
static bool
cno_only_closer(const struct cno *cno)
{
	return cno->in_agent && cno->closer && os_in_callback();
}

/* Nobody is inside.  Who polls the descriptor still sees it readable: it was made so. */
static void
cno_destroy(struct cno *cno)
{
	if (cno->fd >= 0)
		os_close(cno->fd);
	cno->cfg.destroyed(cno);
}

/* Drops the lock; the CNO must not be touched afterwards. */
static void
cno_leave(struct cno *cno)
{
	bool last = false;

	if (cno->freed) {
		park_list_wake_all(&cno->frees);
		last = cno->free_on_return && cno_is_quiescent(cno);
		if (last)
			cno->free_on_return = false;
	}
	os_unlock(&cno->lock);
	if (last)
		cno_destroy(cno);
}

static void
cno_run_agent(struct loop_job *job, uint64_t serial)
{
	struct cno *cno = cno_of_job(job);
	struct os_self *self = os_self();
	struct agent_frame frame = { .outer = self->agent, .cno = cno };
	DAT_OS_WAIT_PROXY_AGENT agent;
	DAT_EVD_HANDLE handle;
	struct evd *evd;

	os_lock(&cno->lock);
	if (cno->serial != serial) {
		os_unlock(&cno->lock);
		return;
	}
	if (cno->alive && loop_is_pumping()) {
		loop_defer(cno->cfg.loop, job); /* no call-out from inside another one */
		os_unlock(&cno->lock);
		return;
	}
	cno->job_queued = false;
	agent = cno->cfg.agent;
	evd = cno_first_unseen(cno);
	if (cno->alive && agent.proxy_agent_func && (evd || cno->agent_due)) {
		/* One-shot: taken out before the call, which may install the next. */
		cno->cfg.agent = (DAT_OS_WAIT_PROXY_AGENT){ NULL, NULL };
		handle = cno->due_evd;
		if (evd) {
			evd->agent_unseen = false;
			handle = evd->cfg.handle;
		}
		cno_clear_due(cno);
		cno->in_agent = true;
		os_unlock(&cno->lock);

		self->agent = &frame;
		if (cno->cfg.call)
			cno->cfg.call(&agent, handle);
		else
			agent.proxy_agent_func(agent.instance_data, handle);
		self->agent = frame.outer;

		os_lock(&cno->lock);
		cno->in_agent = false;
		cno_queue_agent(cno);
	}
	cno_leave(cno);
}

/* ---- life ---- */

void
cno_slot_init(struct cno *cno)
{
	*cno = (struct cno){ .alive = false };
	os_mutex_init(&cno->lock);
}

int
cno_create(struct cno *cno, const struct cno_config *config)
{
	int fd = config->with_fd ? os_event_open(false) : -1;

	if (config->with_fd && fd < 0)
		return fd;
	os_lock(&cno->lock);
	/* Nothing is left of the CNO that the slot held before, whatever members there are. */
	memset((char *)cno + offsetof(struct cno, serial), 0, sizeof *cno - offsetof(struct cno, serial));
	cno->serial = config->serial;
	cno->cfg = *config;
	cno->listener = (struct evd_listener){ .notify = cno_notify, .detach = cno_detach };
	cno->job = (struct loop_job){ .run = cno_run_agent, .serial = config->serial };
	cno->due_evd = DAT_HANDLE_NULL;
	cno->fd = fd;
	cno->alive = true;
	os_unlock(&cno->lock);
	return 0;
}

/* Locked. */
static void
cno_mark_dead(struct cno *cno)
{
	cno->alive = false;
	cno->freed = true;
	park_list_wake_all(&cno->waiters);
	park_list_wake_all(&cno->frees);
	cno->last_detached = true;
	cno_update_fd(cno);
	if (cno->job_queued && loop_unready(&cno->job))
		cno->job_queued = false;
}

bool
cno_is_inside(const struct cno *cno)
{
	const struct agent_frame *frame = os_self()->agent;

	while (frame && frame->cno != cno)
		frame = frame->outer;
	return frame != NULL;
}

static bool
cno_may_be_freed(void *arg)
{
	const struct cno *cno = arg;

	return cno_is_quiescent(cno) || cno_only_closer(cno);
}

int
cno_free(struct cno_ref ref, bool abrupt)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	if (cno->evds || (cno->n_waiters && !abrupt)) {
		os_unlock(&cno->lock);
		return -EBUSY;
	}
	cno_mark_dead(cno);
	if (!cno_is_inside(cno))
		park_list_await(&cno->frees, &cno->lock, cno_may_be_freed, cno);
	cno->free_on_return = true; /* at once, if no thread is inside */
	cno_leave(cno);
	return 0;
}

/* ---- the end of an adapter ---- */

int
cno_free_nowait(struct cno_ref ref)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	cno_mark_dead(cno);
	cno->free_on_return = true;
	cno_leave(cno);
	return 0;
}

static void
cno_mark_frames(bool closing)
{
	for (struct agent_frame *frame = os_self()->agent; frame; frame = frame->outer) {
		os_lock(&frame->cno->lock);
		frame->cno->closer = closing;
		park_list_wake_all(&frame->cno->frees);
		os_unlock(&frame->cno->lock);
	}
}

void
cno_enter_close(void)
{
	cno_mark_frames(true);
}

void
cno_leave_close(void)
{
	cno_mark_frames(false);
}

bool
cno_is_left_to_closer(struct cno_ref ref)
{
	bool cno_detach;

	os_lock(&ref.cno->lock);
	cno_detach = ref.cno->serial == ref.serial && !ref.cno->alive && cno_only_closer(ref.cno);
	os_unlock(&ref.cno->lock);
	return cno_detach;
}

/* Alive: its free has begun elsewhere, and the agent may be called until that comes here. */
static bool
cno_no_other_agent(void *arg)
{
	const struct cno *cno = arg;

	return !cno->alive && (!cno->in_agent || cno_only_closer(cno));
}

bool
cno_await_others(struct cno_ref ref)
{
	struct cno *cno = ref.cno;

	os_lock(&cno->lock);
	if (cno->serial != ref.serial || cno_no_other_agent(cno)) {
		const bool running = cno->serial == ref.serial && cno->in_agent;

		os_unlock(&cno->lock);
		return running; /* it closes an adapter at this moment, but maybe not at the next */
	}
	cno->n_awaiting++; /* keeps the CNO: the last to leave may be this thread */
	park_list_await(&cno->frees, &cno->lock, cno_no_other_agent, cno);
	cno->n_awaiting--;
	cno_leave(cno);
	return true;
}

struct evd_listener *
cno_listener(struct cno *cno)
{
	return &cno->listener;
}

int
cno_attach_evd(struct cno_ref ref)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	cno->evds++;
	cno->last_detached = false;
	cno_update_fd(cno);
	os_unlock(&cno->lock);
	return 0;
}

void
cno_detach_evd(struct cno *cno)
{
	os_lock(&cno->lock);
	if (--cno->evds == 0) {
		cno->last_detaches++;
		park_list_wake_all(&cno->waiters);
		cno->last_detached = cno->fd >= 0;
		cno_update_fd(cno);
	}
	os_unlock(&cno->lock);
}

/* ---- for the consumer ---- */

static struct evd *
cno_pop(struct cno *cno)
{
	struct evd *evd = cno->first;

	if (!evd)
		return NULL;
	if (evd->agent_unseen && cno->cfg.agent.proxy_agent_func) {
		cno->agent_due = true;
		cno->due_evd = evd->cfg.handle;
	}
	cno_list_remove(cno, evd);
	return evd;
}

/* Consumes a trigger, if there is one: true, and whose it was. */
static bool
cno_consume(struct cno *cno, DAT_EVD_HANDLE *handle)
{
	struct evd *evd = cno_pop(cno);
	const bool last_detached = cno->last_detached;

	if (evd)
		*handle = evd->cfg.handle;
	else
		cno->last_detached = false;
	cno_update_fd(cno);
	return evd || last_detached;
}

int
cno_trigger(struct cno_ref ref, DAT_EVD_HANDLE *handle)
{
	struct cno *cno = cno_enter(ref);
	int r = -EINVAL;

	*handle = DAT_HANDLE_NULL;
	if (!cno)
		return -ENODEV;
	if (cno->fd >= 0)
		r = cno_consume(cno, handle) ? 0 : -EAGAIN;
	os_unlock(&cno->lock);
	return r;
}

int
cno_wait(struct cno_ref ref, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *handle)
{
	uint64_t deadline = PARK_FOREVER, last_detaches;
	struct park_entry entry;
	struct park *park;
	struct cno *cno;
	bool expired, got;
	int r, why = 0;

	*handle = DAT_HANDLE_NULL;
	if (timeout != DAT_TIMEOUT_INFINITE)
		deadline = os_clock_ns() + (uint64_t)timeout * 1000u;
	cno = cno_enter(ref);
	if (!cno)
		return -ENODEV;
	if (cno->closing) {
		os_unlock(&cno->lock);
		return -ENODEV;
	}
	last_detaches = cno->last_detaches;
	got = cno_consume(cno, handle);
	if (got || timeout == 0) {
		os_unlock(&cno->lock);
		return got ? 0 : -ETIMEDOUT;
	}
	park = park_self();
	if (!park) {
		os_unlock(&cno->lock);
		return -errno;
	}

	cno->n_waiters++;
	park_list_add(&cno->waiters, &entry, park);
	for (;;) {
		park_reset(park);
		expired = os_clock_ns() >= deadline; /* before the look: the last look is not early */
		r = 0;
		if (cno->alive && cno_consume(cno, handle))
			break;
		if (!cno->alive || cno->closing)
			r = -ECANCELED;
		else if (cno->last_detaches != last_detaches)
			break;
		else if (expired)
			r = -ETIMEDOUT;
		else
			r = why;
		if (r)
			break;
		os_unlock(&cno->lock);
		r = park_sleep(park, deadline, -1, NULL);
		os_lock(&cno->lock);
		why = r == -ETIMEDOUT ? 0 : r; /* a signal, or the thread cannot sleep at all */
	}
	park_list_remove(&cno->waiters, &entry);
	cno->n_waiters--;
	/* The wake may have been one of several triggers': pass on what is left. */
	if (cno->first)
		(void)park_list_wake_first(&cno->waiters);
	cno_leave(cno);
	return r;
}

void
cno_set_closing(struct cno_ref ref)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return;
	cno->closing = true;
	park_list_wake_all(&cno->waiters);
	os_unlock(&cno->lock);
}

int
cno_modify_agent(struct cno_ref ref, DAT_OS_WAIT_PROXY_AGENT agent)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	cno->cfg.agent = agent;
	if (!agent.proxy_agent_func)
		cno_clear_due(cno);
	cno_queue_agent(cno);
	os_unlock(&cno->lock);
	return 0;
}

int
cno_query(struct cno_ref ref, DAT_OS_WAIT_PROXY_AGENT *agent)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	*agent = cno->cfg.agent;
	os_unlock(&cno->lock);
	return 0;
}
