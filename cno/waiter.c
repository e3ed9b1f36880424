/* SPDX-License-Identifier: BSD-3-Clause */
/* waiter -- a thread of the consumer takes triggers, at once or after it slept */
#include "cno/body.h"

/* Removes the oldest triggered EVD.  An agent that was installed when the trigger came is still
 * due. */
static struct evd *
cno_pop(struct cno *cno) REQUIRES(core_locks.cno)
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

/* Consumes a trigger, if there is one: returns true, and the EVD that it was for. */
static bool
cno_consume(struct cno *cno, DAT_EVD_HANDLE *handle) REQUIRES(core_locks.cno)
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
	cno_unlock(cno);
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
		deadline = os_clock_ns() + (uint64_t)timeout * OS_NS_PER_US;
	cno = cno_enter(ref);
	if (!cno)
		return -ENODEV;
	if (cno->closing) {
		cno_unlock(cno);
		return -ENODEV;
	}
	last_detaches = cno->last_detaches;
	got = cno_consume(cno, handle);
	if (got || timeout == 0) {
		cno_unlock(cno);
		return got ? 0 : -ETIMEDOUT;
	}
	park = park_self();
	if (!park) {
		cno_unlock(cno);
		return -errno;
	}

	cno->n_waiters++;
	park_list_add(&cno->waiters, &entry, park);
	for (;;) {
		park_reset(park);
		expired =
		    os_clock_ns() >=
		    deadline; /* read before the check, so that the last check is not too early */
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
		cno_unlock(cno);
		r = park_sleep(park, deadline, -1, NULL);
		cno_lock(cno);
		why = r == -ETIMEDOUT ? 0 : r; /* a signal, or the thread cannot sleep */
	}
	park_list_remove(&cno->waiters, &entry);
	cno->n_waiters--;
	/* One wake-up may stand for several triggers: wake the next waiter for the rest. */
	if (cno->first)
		(void)park_list_wake_first(&cno->waiters);
	cno_leave(cno);
	return r;
}
