/* SPDX-License-Identifier: BSD-3-Clause */
/* cno -- lifetime of a CNO, its EVDs, and the end of an adapter */
#include "cno/body.h"

/* ---- lifetime ---- */

/* No thread is inside and the job of the agent is not queued. */
static bool
cno_is_quiescent(const struct cno *cno) REQUIRES(core_locks.cno)
{
	return !cno->in_agent && !cno->job_queued && cno->n_waiters == 0 && cno->n_awaiting == 0;
}

/* True if the agent runs, and its thread closes an adapter. */
static bool
cno_only_closer(const struct cno *cno) REQUIRES(core_locks.cno)
{
	return cno->in_agent && cno->closer && os_in_callback();
}

/* No thread is inside.  A program that polls the descriptor sees it readable until the end. */
static void
cno_destroy(struct cno *cno)
{
	if (cno->fd >= 0)
		os_close(cno->fd);
	cno->cfg.destroyed(cno);
}

void
cno_leave_freed(struct cno *cno)
{
	bool last;

	park_list_wake_all(&cno->frees);
	last = cno->free_on_return && cno_is_quiescent(cno);
	if (last)
		cno->free_on_return = false;
	cno_unlock(cno);
	if (last)
		cno_destroy(cno);
}

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
	cno_lock(cno);
	/* Clear all members of the CNO that was in the slot before. */
	os_clear_from(cno, serial);
	cno->serial = config->serial;
	cno->cfg = *config;
	cno->listener = (struct evd_listener){ .notify = cno_on_notify, .detach = cno_on_detach };
	cno->job = (struct loop_job){ .run = cno_run_agent, .serial = config->serial };
	cno->due_evd = NULL;
	TAILQ_INIT(&cno->handed);
	cno->fd = fd;
	cno->alive = true;
	if (fd >= 0 || config->agent.function)
		lead_give_up(config->lead);
	cno_unlock(cno);
	return 0;
}

static void
cno_mark_dead(struct cno *cno) REQUIRES(core_locks.cno)
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

static bool
cno_may_be_freed(void *arg) REQUIRES(core_locks.cno)
{
	const struct cno *cno = arg;

	return cno_is_quiescent(cno) || cno_only_closer(cno);
}

int
cno_begin_free(struct cno_ref ref)
{
	struct cno *cno = cno_enter(ref);
	int r = 0;

	if (!cno)
		return -ENODEV;
	if (cno->n_waiters)
		r = -EBUSY;
	else
		cno->closing = true;
	cno_unlock(cno);
	return r;
}

int
cno_free(struct cno_ref ref, bool abrupt)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	if (cno->evds || (cno->n_waiters && !abrupt)) {
		cno_unlock(cno);
		return -EBUSY;
	}
	cno_mark_dead(cno);
	if (!cno_is_inside(cno))
		park_list_await(&cno->frees, &cno->lock, cno_may_be_freed, cno);
	/* cno_leave() destroys the CNO at once if no thread is inside */
	cno->free_on_return = true;
	cno_leave(cno);
	return 0;
}

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

/* ---- the EVDs that refer to it ---- */

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
	cno_unlock(cno);
	return 0;
}

void
cno_detach_evd(struct cno *cno)
{
	cno_lock(cno);
	if (--cno->evds == 0) {
		cno->last_detaches++;
		park_list_wake_all(&cno->waiters);
		cno->last_detached = cno->fd >= 0;
		cno_update_fd(cno);
	}
	cno_unlock(cno);
}

/* ---- the end of an adapter ---- */

void
cno_set_closing(struct cno_ref ref)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return;
	cno->closing = true;
	park_list_wake_all(&cno->waiters);
	cno_unlock(cno);
}

static void
cno_mark_frames(bool closing)
{
	for (struct agent_frame *frame = os_self()->agent; frame; frame = frame->outer) {
		cno_lock(frame->cno);
		frame->cno->closer = closing;
		park_list_wake_all(&frame->cno->frees);
		cno_unlock(frame->cno);
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
	bool is_left;

	cno_lock(ref.cno);
	is_left = ref.cno->serial == ref.serial && !ref.cno->alive && cno_only_closer(ref.cno);
	cno_unlock(ref.cno);
	return is_left;
}

/*
 * A CNO that is alive here is about to be freed by another thread; its agent may be called until
 * then.
 */
static bool
cno_no_other_agent(void *arg) REQUIRES(core_locks.cno)
{
	const struct cno *cno = arg;

	return !cno->alive && (!cno->in_agent || cno_only_closer(cno));
}

bool
cno_await_others(struct cno_ref ref)
{
	struct cno *cno = ref.cno;

	cno_lock(cno);
	if (cno->serial != ref.serial || cno_no_other_agent(cno)) {
		const bool running = cno->serial == ref.serial && cno->in_agent;

		cno_unlock(cno);
		return running; /* the close on the agent's thread may end before the agent */
	}
	cno->n_awaiting++; /* prevents the destruction: this may be the last thread that leaves */
	park_list_await(&cno->frees, &cno->lock, cno_no_other_agent, cno);
	cno->n_awaiting--;
	cno_leave(cno);
	return true;
}
