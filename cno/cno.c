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
of_listener(struct evd_listener *listener)
{
	return (struct cno *)((char *)listener - offsetof(struct cno, listener));
}

static struct cno *
of_job(struct loop_job *job)
{
	return (struct cno *)((char *)job - offsetof(struct cno, job));
}

/* Every entry from outside, as evd_enter(). */
static struct cno *
enter(struct cno_ref ref)
{
	os_lock(&ref.cno->lock);
	if (ref.cno->alive && ref.cno->life == ref.life)
		return ref.cno;
	os_unlock(&ref.cno->lock);
	return NULL;
}

/* ---- the triggered list; the CNO's lock is held ---- */

static void
list_append(struct cno *cno, struct evd *evd)
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
list_remove(struct cno *cno, struct evd *evd)
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
is_triggered(const struct cno *cno)
{
	return cno->first || cno->forsaken;
}

/* Ends every section that may have triggered the CNO or consumed the last trigger. */
static void
show_fd(struct cno *cno)
{
	const bool readable = is_triggered(cno);

	if (cno->fd < 0 || readable == cno->fd_readable)
		return;
	cno->fd_readable = readable;
	if (readable)
		os_event_set(cno->fd);
	else
		(void)os_event_clear(cno->fd);
}

static struct evd *
unseen_by_agent(const struct cno *cno)
{
	struct evd *evd = cno->first;

	while (evd && !evd->agent_unseen)
		evd = evd->triggered_next;
	return evd;
}

static void
forgive_agent(struct cno *cno)
{
	cno->agent_owed = false;
	cno->owed_evd = DAT_HANDLE_NULL;
}

/*
 * The agent and the waiters are two readers of one list: a waiter takes an EVD off it, the agent
 * only marks it as seen, so that a re-installed agent is not called for ever about the same trigger
 * and a later cno_wait() still finds it.  An agent that was installed when the trigger came is
 * called even if a waiter was faster.
 */
static void
queue_agent(struct cno *cno)
{
	if (!cno->alive || cno->job_queued || cno->in_agent)
		return;
	if (!cno->cfg.agent.proxy_agent_func || (!cno->agent_owed && !unseen_by_agent(cno)))
		return;
	cno->job_queued = true;
	loop_ready(cno->cfg.loop, &cno->job);
}

/* ---- called by EVDs, trigger lock held ---- */

static void
told(struct evd_listener *listener, struct evd *evd)
{
	struct cno *cno = of_listener(listener);

	os_lock(&cno->lock);
	if (!evd->triggered)
		list_append(cno, evd);
	evd->agent_unseen = true;
	(void)park_list_wake_first(&cno->waiters);
	queue_agent(cno);
	show_fd(cno);
	os_unlock(&cno->lock);
}

static void
left(struct evd_listener *listener, struct evd *evd)
{
	struct cno *cno = of_listener(listener);

	os_lock(&cno->lock);
	list_remove(cno, evd);
	if (cno->owed_evd == evd->cfg.handle)
		cno->owed_evd = DAT_HANDLE_NULL;
	show_fd(cno);
	os_unlock(&cno->lock);
}

/* ---- the agent, on the loop ---- */

static bool
quiescent(const struct cno *cno)
{
	return !cno->in_agent && !cno->job_queued && cno->n_waiters == 0 && cno->n_awaiting == 0;
}

/* As evd_closers(), of the one agent there can be. */
static bool
only_a_closer(const struct cno *cno)
{
	return cno->in_agent && cno->closer && os_in_callback();
}

/* Nobody is inside.  Who polls the descriptor still sees it readable: it was made so. */
static void
destroy(struct cno *cno)
{
	if (cno->fd >= 0)
		os_close(cno->fd);
	cno->cfg.destroyed(cno);
}

/* Drops the lock; the CNO must not be touched afterwards. */
static void
leave(struct cno *cno)
{
	bool last = false;

	if (cno->freed) {
		park_list_wake_all(&cno->frees);
		last = cno->free_on_return && quiescent(cno);
		if (last)
			cno->free_on_return = false;
	}
	os_unlock(&cno->lock);
	if (last)
		destroy(cno);
}

static void
run_agent(struct loop_job *job, uint64_t life)
{
	struct cno *cno = of_job(job);
	struct os_self *self = os_self();
	struct agent_frame frame = { .outer = self->agent, .cno = cno };
	DAT_OS_WAIT_PROXY_AGENT agent;
	DAT_EVD_HANDLE handle;
	struct evd *evd;

	os_lock(&cno->lock);
	if (cno->life != life) {
		os_unlock(&cno->lock);
		return;
	}
	if (cno->alive && loop_pumping()) {
		loop_put_off(cno->cfg.loop, job); /* no call-out from inside another one */
		os_unlock(&cno->lock);
		return;
	}
	cno->job_queued = false;
	agent = cno->cfg.agent;
	evd = unseen_by_agent(cno);
	if (cno->alive && agent.proxy_agent_func && (evd || cno->agent_owed)) {
		/* One-shot: taken out before the call, which may install the next. */
		cno->cfg.agent = (DAT_OS_WAIT_PROXY_AGENT){ NULL, NULL };
		handle = cno->owed_evd;
		if (evd) {
			evd->agent_unseen = false;
			handle = evd->cfg.handle;
		}
		forgive_agent(cno);
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
		queue_agent(cno);
	}
	leave(cno);
}

/* ---- life ---- */

void
cno_slot_init(struct cno *cno)
{
	*cno = (struct cno){ .alive = false };
	os_mutex_init(&cno->lock);
}

int
cno_open(struct cno *cno, const struct cno_config *config)
{
	int fd = config->with_fd ? os_event_open(false) : -1;

	if (config->with_fd && fd < 0)
		return fd;
	os_lock(&cno->lock);
	/* Nothing is left of the CNO that the slot held before, whatever members there are. */
	memset((char *)cno + offsetof(struct cno, life), 0, sizeof *cno - offsetof(struct cno, life));
	cno->life = config->life;
	cno->cfg = *config;
	cno->listener = (struct evd_listener){ .told = told, .left = left };
	cno->job = (struct loop_job){ .run = run_agent, .life = config->life };
	cno->owed_evd = DAT_HANDLE_NULL;
	cno->fd = fd;
	cno->alive = true;
	os_unlock(&cno->lock);
	return 0;
}

/* Locked. */
static void
mark_dead(struct cno *cno)
{
	cno->alive = false;
	cno->freed = true;
	park_list_wake_all(&cno->waiters);
	park_list_wake_all(&cno->frees);
	cno->forsaken = true;
	show_fd(cno);
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
may_be_freed(void *arg)
{
	const struct cno *cno = arg;

	return quiescent(cno) || only_a_closer(cno);
}

int
cno_free(struct cno_ref ref, bool abrupt)
{
	struct cno *cno = enter(ref);

	if (!cno)
		return -ENODEV;
	if (cno->evds || (cno->n_waiters && !abrupt)) {
		os_unlock(&cno->lock);
		return -EBUSY;
	}
	mark_dead(cno);
	if (!cno_is_inside(cno))
		park_list_await(&cno->frees, &cno->lock, may_be_freed, cno);
	cno->free_on_return = true; /* at once, if no thread is inside */
	leave(cno);
	return 0;
}

/* ---- the end of an adapter ---- */

int
cno_retire(struct cno_ref ref)
{
	struct cno *cno = enter(ref);

	if (!cno)
		return -ENODEV;
	mark_dead(cno);
	cno->free_on_return = true;
	leave(cno);
	return 0;
}

static void
mark_frames(bool closing)
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
	mark_frames(true);
}

void
cno_leave_close(void)
{
	mark_frames(false);
}

bool
cno_is_left_to_closer(struct cno_ref ref)
{
	bool left;

	os_lock(&ref.cno->lock);
	left = ref.cno->life == ref.life && !ref.cno->alive && only_a_closer(ref.cno);
	os_unlock(&ref.cno->lock);
	return left;
}

/* Alive: its free has begun elsewhere, and the agent may be called until that comes here. */
static bool
no_other_agent(void *arg)
{
	const struct cno *cno = arg;

	return !cno->alive && (!cno->in_agent || only_a_closer(cno));
}

bool
cno_await_others(struct cno_ref ref)
{
	struct cno *cno = ref.cno;

	os_lock(&cno->lock);
	if (cno->life != ref.life || no_other_agent(cno)) {
		const bool running = cno->life == ref.life && cno->in_agent;

		os_unlock(&cno->lock);
		return running; /* it closes an adapter at this moment, but maybe not at the next */
	}
	cno->n_awaiting++; /* keeps the CNO: the last to leave may be this thread */
	park_list_await(&cno->frees, &cno->lock, no_other_agent, cno);
	cno->n_awaiting--;
	leave(cno);
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
	struct cno *cno = enter(ref);

	if (!cno)
		return -ENODEV;
	cno->evds++;
	cno->forsaken = false;
	show_fd(cno);
	os_unlock(&cno->lock);
	return 0;
}

void
cno_detach_evd(struct cno *cno)
{
	os_lock(&cno->lock);
	if (--cno->evds == 0) {
		cno->deserted++;
		park_list_wake_all(&cno->waiters);
		cno->forsaken = cno->fd >= 0;
		show_fd(cno);
	}
	os_unlock(&cno->lock);
}

/* ---- for the consumer ---- */

static struct evd *
pop(struct cno *cno)
{
	struct evd *evd = cno->first;

	if (!evd)
		return NULL;
	if (evd->agent_unseen && cno->cfg.agent.proxy_agent_func) {
		cno->agent_owed = true;
		cno->owed_evd = evd->cfg.handle;
	}
	list_remove(cno, evd);
	return evd;
}

/* Consumes a trigger, if there is one: true, and whose it was. */
static bool
consume(struct cno *cno, DAT_EVD_HANDLE *handle)
{
	struct evd *evd = pop(cno);
	const bool forsaken = cno->forsaken;

	if (evd)
		*handle = evd->cfg.handle;
	else
		cno->forsaken = false;
	show_fd(cno);
	return evd || forsaken;
}

int
cno_trigger(struct cno_ref ref, DAT_EVD_HANDLE *handle)
{
	struct cno *cno = enter(ref);
	int r = -EINVAL;

	*handle = DAT_HANDLE_NULL;
	if (!cno)
		return -ENODEV;
	if (cno->fd >= 0)
		r = consume(cno, handle) ? 0 : -EAGAIN;
	os_unlock(&cno->lock);
	return r;
}

int
cno_wait(struct cno_ref ref, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *handle)
{
	uint64_t deadline = PARK_FOREVER, deserted;
	struct park_entry entry;
	struct park *park;
	struct cno *cno;
	bool expired, got;
	int r, why = 0;

	*handle = DAT_HANDLE_NULL;
	if (timeout != DAT_TIMEOUT_INFINITE)
		deadline = os_clock_ns() + (uint64_t)timeout * 1000u;
	cno = enter(ref);
	if (!cno)
		return -ENODEV;
	if (cno->closing) {
		os_unlock(&cno->lock);
		return -ENODEV;
	}
	deserted = cno->deserted;
	got = consume(cno, handle);
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
		if (cno->alive && consume(cno, handle))
			break;
		if (!cno->alive || cno->closing)
			r = -ECANCELED;
		else if (cno->deserted != deserted)
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
	leave(cno);
	return r;
}

void
cno_set_closing(struct cno_ref ref)
{
	struct cno *cno = enter(ref);

	if (!cno)
		return;
	cno->closing = true;
	park_list_wake_all(&cno->waiters);
	os_unlock(&cno->lock);
}

int
cno_modify_agent(struct cno_ref ref, DAT_OS_WAIT_PROXY_AGENT agent)
{
	struct cno *cno = enter(ref);

	if (!cno)
		return -ENODEV;
	cno->cfg.agent = agent;
	if (!agent.proxy_agent_func)
		forgive_agent(cno);
	queue_agent(cno);
	os_unlock(&cno->lock);
	return 0;
}

int
cno_query(struct cno_ref ref, DAT_OS_WAIT_PROXY_AGENT *agent)
{
	struct cno *cno = enter(ref);

	if (!cno)
		return -ENODEV;
	*agent = cno->cfg.agent;
	os_unlock(&cno->lock);
	return 0;
}
