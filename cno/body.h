/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * body -- what the files of cno/ share: the lock, the list of triggered EVDs, the agent
 *
 * Private to cno/.
 */
#ifndef REARM_CNO_BODY_H
#define REARM_CNO_BODY_H

#include "cno/cno.h"

#include "evd/lead.h"

static inline void
cno_lock(struct cno *cno) ACQUIRE(core_locks.cno) UNCHECKED
{
	os_lock(&cno->lock);
}

static inline void
cno_unlock(struct cno *cno) RELEASE(core_locks.cno) UNCHECKED
{
	os_unlock(&cno->lock);
}

/*
 * Every call from outside begins here, as evd_enter().  Returns the CNO with its lock held, or NULL
 * if the CNO was freed.
 */
static inline struct cno *
cno_enter(struct cno_ref ref) TRY_ACQUIRE(core_locks.cno)
{
	cno_lock(ref.cno);
	if (ref.cno->alive && ref.cno->serial == ref.serial)
		return ref.cno;
	cno_unlock(ref.cno);
	return NULL;
}

/* ---- list.c ---- */

/* What its EVDs call; the trigger lock of the EVD is held. */
void cno_on_notify(struct evd_listener *listener, struct evd *evd) EXCLUDES(core_locks.cno);
void cno_on_detach(struct evd_listener *listener, struct evd *evd) EXCLUDES(core_locks.cno);

/* Removes the EVD from the list of triggered EVDs, if it is there. */
void cno_list_remove(struct cno *cno, struct evd *evd) REQUIRES(core_locks.cno);

/* The trigger for the EVD was taken. */
void cno_handed_add(struct cno *cno, struct evd *evd) REQUIRES(core_locks.cno);
/* Removes the EVD from the list of those, if it is there. */
void cno_handed_remove(struct cno *cno, struct evd *evd) REQUIRES(core_locks.cno);

static inline bool
cno_is_triggered(const struct cno *cno) REQUIRES(core_locks.cno)
{
	return cno->first || cno->last_detached;
}

/*
 * Makes the descriptor readable or not.  The end of every section that may have triggered the CNO
 * or consumed the last trigger.
 */
void cno_set_fd(struct cno *cno) REQUIRES(core_locks.cno);

static inline void
cno_update_fd(struct cno *cno) REQUIRES(core_locks.cno)
{
	if (cno->fd >= 0)
		cno_set_fd(cno);
}

/* The oldest triggered EVD for which the agent was not called, or NULL. */
struct evd *cno_first_unseen(const struct cno *cno) REQUIRES(core_locks.cno);

/* Queues the job that calls the agent, if there is an agent and a trigger for it. */
void cno_queue_agent(struct cno *cno) REQUIRES(core_locks.cno);

/* ---- agent.c ---- */

/* A proxy agent in progress, on the stack of its thread. */
struct agent_frame {
	struct agent_frame *outer;
	struct cno *cno;
};

/* The job of a CNO: calls the agent. */
void cno_run_agent(struct loop_job *job, uint64_t serial) NO_CORE_LOCK;

/* ---- cno.c ---- */

/* The same for a CNO whose free has begun. */
void cno_leave_freed(struct cno *cno) RELEASE(core_locks.cno);

/*
 * Drops the lock at the end of a section that may have been the last one a free waited for.  The
 * caller must not access the CNO afterwards.
 */
static inline void
cno_leave(struct cno *cno) RELEASE(core_locks.cno)
{
	if (cno->freed)
		cno_leave_freed(cno);
	else
		cno_unlock(cno);
}

#endif
