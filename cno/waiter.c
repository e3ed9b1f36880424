/* SPDX-License-Identifier: BSD-3-Clause */
/* waiter -- a thread of the consumer takes triggers, at once or after it slept */
#include "cno/body.h"

#include "evd/channel.h"

/* Removes the oldest triggered EVD.  An agent that was installed when the trigger came is still
 * due. */
static struct evd *
cno_pop(struct cno *cno) REQUIRES(core_locks.cno)
{
	struct evd *evd = cno->first;

	if (!evd)
		return NULL;
	if (evd->agent_unseen && cno->cfg.agent.function) {
		cno->agent_due = true;
		cno->due_evd = evd->cfg.handle;
	}
	cno_list_remove(cno, evd);
	if (cno->fd >= 0)
		cno_handed_add(cno, evd);
	return evd;
}

/* Consumes a trigger, if there is one: returns true, and the EVD that it was for. */
static bool
cno_consume(struct cno *cno, void **handle) REQUIRES(core_locks.cno)
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
cno_trigger(struct cno_ref ref, void **handle)
{
	struct cno *cno = cno_enter(ref);
	int r = -EINVAL;

	*handle = NULL;
	if (!cno)
		return -ENODEV;
	if (cno->fd >= 0)
		r = cno_consume(cno, handle) ? 0 : -EAGAIN;
	cno_unlock(cno);
	return r;
}

/* Makes a taken EVD that has events trigger the CNO again.  Drops and retakes the lock. */
static void
cno_report_again(struct cno *cno, struct evd *evd) REQUIRES(core_locks.cno)
{
	/* It cannot be freed before it was detached, which takes this lock. */
	const struct evd_ref ref = evd_self(evd);

	cno_handed_remove(cno, evd);
	cno_unlock(cno);
	evd_report_again(ref);
	cno_lock(cno);
}

int
cno_trywait(struct cno_ref ref, void **handle)
{
	struct cno *cno = cno_enter(ref);
	int r = -EINVAL;

	*handle = NULL;
	if (!cno)
		return -ENODEV;
	if (cno->fd < 0)
		goto leave;
	cno->n_waiters++;
	while (cno->alive && !cno_is_triggered(cno) && !TAILQ_EMPTY(&cno->handed))
		cno_report_again(cno, TAILQ_FIRST(&cno->handed));
	if (!cno->alive)
		r = -ENODEV;
	else
		r = cno_consume(cno, handle) ? 0 : -EAGAIN;
	cno->n_waiters--;
leave:
	cno_leave(cno);
	return r;
}

/* What a call of cno_wait() knows. */
struct wait {
	uint64_t deadline;	/* as os_clock_ns() */
	uint64_t last_detaches; /* of the CNO when the wait began */
	void **handle;
};

/* True if the wait is over; *r is its result.  `why` it ends in any case: -errno, or 0. */
static bool
cno_wait_is_over(struct cno *cno, const struct wait *wait, int why, int *r) REQUIRES(core_locks.cno)
{
	*r = 0;
	if (cno->alive && cno_consume(cno, wait->handle))
		return true;
	if (!cno->alive || cno->closing)
		*r = -ECANCELED;
	else if (cno->last_detaches == wait->last_detaches)
		*r = why;
	else
		return true;
	return *r != 0;
}

/* What a wait that blocks has to undo. */
struct block {
	struct cno *cno;
	struct park_entry entry;
	struct lead *led; /* by this thread; NULL: none */
};

static void
cno_end_block(struct block *block) REQUIRES(core_locks.cno)
{
	struct cno *cno = block->cno;

	if (block->led)
		lead_end(block->led);
	park_list_remove(&cno->waiters, &block->entry);
	/* One wake-up may stand for several triggers: wake the next waiter for the rest. */
	if (cno->first)
		(void)park_list_wake_first(&cno->waiters);
}

/*
 * The thread of a wait was cancelled in its sleep: as at the end of a wait that takes no trigger.
 * A notification that the thread has not read stays in the channel, as when a wait that leads has
 * timed out.
 */
static void
cno_wait_left(void *arg) NO_CORE_LOCK
{
	struct block *block = arg;
	struct cno *cno = block->cno;

	cno_lock(cno);
	cno_end_block(block);
	cno->n_waiters--;
	cno_leave(cno);
}

/*
 * Sleeps until the CNO was triggered, or until a thread that leads has read a notification.
 * Returns why the wait ends: -ETIMEDOUT, or another -errno; 0: for no reason but a trigger.  The
 * time is read before the channel and the list of triggers, so that the last check of them is not
 * too early.  A thread that cannot read the channel does not lead any longer.
 */
static int
cno_sleep(struct block *block, struct park *park, uint64_t deadline) REQUIRES(core_locks.cno)
{
	struct cno *cno = block->cno;
	struct lead **led = &block->led;
	bool readable, expired;
	int r;

	cno_unlock(cno);
	r = park_sleep_or_leave(
	    park, deadline, *led ? (*led)->fd : -1, &readable, cno_wait_left, block);
	expired = deadline != PARK_FOREVER && os_clock_ns() >= deadline;
	if (*led && expired && r != -ETIMEDOUT)
		lead_read_all(*led);
	else if (*led && readable && !lead_read(*led))
		*led = NULL; /* the loop has the channel now */
	cno_lock(cno);
	park_reset(park);
	if (expired)
		return -ETIMEDOUT;
	return r == -ETIMEDOUT ? 0 : r;
}

/* The caller has seen in the same lock section that the wait is not over. */
static int
cno_block(struct cno *cno, const struct wait *wait) REQUIRES(core_locks.cno)
{
	struct park *park = os_self()->park ? os_self()->park : park_self();
	struct block block = { .cno = cno };
	int r;

	if (!park)
		return -errno;
	cno->at_once = 0;
	park_reset(park);
	park_list_add(&cno->waiters, &block.entry, park);
	block.led = lead_begin(cno->cfg.lead) ? cno->cfg.lead : NULL;
	do
		r = cno_sleep(&block, park, wait->deadline);
	while (!cno_wait_is_over(cno, wait, r, &r));
	cno_end_block(&block);
	return r;
}

/*
 * The part of a wait that does not sleep.  It reads the channel, if no other thread does, in a call
 * without a timeout, and in one after many that found the CNO triggered: other EVDs may have
 * completions.  As cno_wait_is_over().
 */
static bool
cno_look(struct cno *cno, const struct wait *wait, bool waits, int *r) REQUIRES(core_locks.cno)
{
	if ((!waits || ++cno->at_once > LOOP_SPAN) && lead_must_read(cno->cfg.lead)) {
		cno->at_once = 0;
		cno_unlock(cno);
		lead_read_all(cno->cfg.lead);
		cno_lock(cno);
	}
	return cno_wait_is_over(cno, wait, waits ? 0 : -ETIMEDOUT, r);
}

int
cno_wait(struct cno_ref ref, uint32_t timeout, void **handle)
{
	struct wait wait = { .deadline = PARK_FOREVER, .handle = handle };
	struct cno *cno;
	int r;

	*handle = NULL;
	if (timeout != EVD_FOREVER)
		wait.deadline = os_clock_ns() + (uint64_t)timeout * OS_NS_PER_US;
	cno = cno_enter(ref);
	if (!cno)
		return -ENODEV;
	if (cno->closing) {
		cno_unlock(cno);
		return -ENODEV;
	}
	wait.last_detaches = cno->last_detaches;
	cno->n_waiters++;
	if ((timeout != 0 && !cno_is_triggered(cno)) || !cno_look(cno, &wait, timeout != 0, &r))
		r = cno_block(cno, &wait);
	cno->n_waiters--;
	cno_leave(cno);
	return r;
}
