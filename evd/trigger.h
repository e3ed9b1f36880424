/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trigger -- the trigger lock of an EVD: who enters, what leaves, and which EVD it is
 *
 * Private to evd/, as are sink.h, frame.h, rearm.h, take.h, upcall.h and run.h.  A call from
 * outside is made of sections of this lock.  A section begins with the question whether the slot
 * still has the EVD that the caller means.  One that may have been the last that a free waited for
 * ends with evd_leave().
 */
#ifndef REARM_EVD_TRIGGER_H
#define REARM_EVD_TRIGGER_H

#include "evd/evd.h"

static inline void
evd_lock(struct evd *evd) ACQUIRE(core_locks.trigger) UNCHECKED
{
	os_lock(&evd->lock);
}

static inline void
evd_unlock(struct evd *evd) RELEASE(core_locks.trigger) UNCHECKED
{
	os_unlock(&evd->lock);
}

/* As evd_lock(), but may fail while another thread has the lock. */
static inline bool
evd_trylock(struct evd *evd) TRY_ACQUIRE(core_locks.trigger) UNCHECKED
{
	return os_trylock(&evd->lock);
}

/* Whether the slot has this EVD, and it was not freed. */
static inline bool
evd_is(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	return ref.evd->alive && ref.evd->serial == ref.serial;
}

/*
 * Every call from outside begins here.  Returns the EVD with its lock held, or NULL if the EVD was
 * freed; the slot may hold another EVD by then.
 */
static inline struct evd *
evd_enter(struct evd_ref ref) TRY_ACQUIRE(core_locks.trigger)
{
	evd_lock(ref.evd);
	if (evd_is(ref))
		return ref.evd;
	evd_unlock(ref.evd);
	return NULL;
}

/* The loop or pool that runs the job under the current policy. */
static inline struct loop *
evd_serving_loop(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->policy == EVD_POLICY_MANY && evd->cfg.pool ? evd->cfg.pool : evd->cfg.loop;
}

/* Enters an event of the job table (job.h). */
static inline void
evd_job(struct evd *evd, enum evd_job_event event) REQUIRES(core_locks.trigger)
{
	const struct evd_job_rule *rule = &evd_job_rules[evd->job_state][event];

	if (rule->action != EVD_JOB_NOTHING)
		evd_job_act(evd, rule);
	else
		evd->job_state = (enum evd_job_state)rule->next;
}

/* No thread uses the EVD and its job is not queued, so destroyed() may run. */
static inline bool
evd_quiescent(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->in_progress == 0 && evd->job_state == EVD_JOB_IDLE && evd->pins == 0 &&
	       !evd->waiting && evd->tearing == 0;
}

/* evd_leave() for an EVD whose free has begun. */
void evd_leave_freed(struct evd *evd) RELEASE(core_locks.trigger);

/*
 * Drops the lock at the end of a section that may have been the last one a free waited for.  Wakes
 * the thread that frees, or destroys the EVD.  The caller must not access the EVD afterwards.
 */
static inline void
evd_leave(struct evd *evd) RELEASE(core_locks.trigger)
{
	if (evd->freed)
		evd_leave_freed(evd);
	else
		evd_unlock(evd);
}

#endif
