/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cno -- a notification object: one wait for many EVDs
 *
 * A CNO keeps the list of its triggered EVDs, and is TRIGGERED until the list is empty.  So the
 * trigger of one EVD is never dropped because another EVD has triggered the CNO, and a consumer
 * that drains only the EVD it was given still gets every event.
 *
 * The lock of a CNO comes after the trigger lock in the lock order, because notify() runs under
 * that.  It is never held while the agent runs, which the loop calls.
 *
 * Slots, serial numbers and late calls are as in evd/evd.h: a call for a CNO that was freed returns
 * -ENODEV.
 *
 * Functions return 0 or -errno.
 */
#ifndef REARM_CNO_CNO_H
#define REARM_CNO_CNO_H

#include "evd/evd.h"

struct cno;

/* Names a CNO outside its lock; see struct evd_ref. */
struct cno_ref {
	struct cno *cno;
	uint64_t serial;
};

/* A proxy agent: a function of the consumer, and its argument.  It gets the handle of an EVD. */
struct cno_agent {
	void *instance;
	void (*function)(void *instance, void *evd);
};

struct cno_config {
	uint64_t serial;   /* a number that no earlier CNO of the slot had */
	struct loop *loop; /* calls the agent */
	/*
	 * Of the shared channel of the EVDs, if all that the CNO may have share one (evd/lead.h); a
	 * thread that waits may read it.  NULL: the loops read the channels.
	 */
	struct lead *lead;
	struct cno_agent agent;
	bool with_fd; /* it has a descriptor, which is readable while the CNO is TRIGGERED */
	/* Not locked.  Calls the function of the agent.  NULL: the core calls it itself. */
	void (*call)(const struct cno_agent *agent, void *evd);
	/* The last step of a free, as in struct evd_config. */
	void (*destroyed)(struct cno *cno);
};

/* Called once for each slot. */
void cno_slot_init(struct cno *cno);
/* -errno: no descriptor is available. */
int cno_create(struct cno *cno, const struct cno_config *config);

/*
 * -EBUSY while an EVD refers to the CNO or a thread waits on it.  With `abrupt` (the adapter
 * closes) waiters do not matter: they return with a null EVD.  Inside the agent of this CNO the
 * call does not wait for the agent.
 */
int cno_free(struct cno_ref ref, bool abrupt);

/*
 * Before the handle of a CNO is freed.  -EBUSY while a thread waits on it; 0: from now on every
 * wait returns -ENODEV.
 */
int cno_begin_free(struct cno_ref ref);

/*
 * The end of an adapter, as for EVDs (evd/evd.h).  cno_free_nowait() is for a CNO to which no EVD
 * refers; waits on it return with a null EVD.
 */
void cno_set_closing(struct cno_ref ref);
int cno_free_nowait(struct cno_ref ref);
void cno_enter_close(void);
void cno_leave_close(void);
bool cno_is_left_to_closer(struct cno_ref ref);
bool cno_await_others(struct cno_ref ref);

/* True if the calling thread is inside the agent of the CNO. */
bool cno_is_inside(const struct cno *cno);

/* The argument for evd_set_listener(). */
struct evd_listener *cno_listener(struct cno *cno);
/* Count the EVDs that refer to the CNO.  dapl/ calls both functions around evd_set_listener(). */
int cno_attach_evd(struct cno_ref ref);
/* When the last EVD leaves, blocked waiters return with a null EVD. */
void cno_detach_evd(struct cno *cno);

/*
 * Consumes one trigger.  *evd is the EVD that it was for, or NULL after the last EVD has left.  The
 * timeout is in microseconds.  -ETIMEDOUT, -EINTR, -ENODEV, -ECANCELED (freed during the wait: *evd
 * is NULL).
 */
int cno_wait(struct cno_ref ref, uint32_t timeout, void **evd);

/*
 * The same without waiting, for a CNO with a descriptor.  *evd is NULL also when the last EVD has
 * left: that triggers the CNO, because a program that polls the descriptor would not notice it
 * otherwise.  -EAGAIN: not triggered.  -EINVAL: no descriptor.  -ENODEV.
 */
int cno_trigger(struct cno_ref ref, void **evd);

/*
 * The same, but an EVD whose trigger was taken before counts as triggered while it has events.
 * -EAGAIN: no EVD has events but those that will trigger the CNO, so a thread may sleep on the
 * descriptor.
 */
int cno_trywait(struct cno_ref ref, void **evd);

/*
 * Installs or removes the agent, which is called once.  If the CNO is TRIGGERED the loop calls it
 * at once.
 */
int cno_modify_agent(struct cno_ref ref, struct cno_agent agent);
int cno_query(struct cno_ref ref, struct cno_agent *agent);

/* ---- the object: its owner embeds it, only cno/ accesses its members ---- */

struct cno {
	struct os_mutex lock;	/* guards also the list members of its EVDs: BY_CNO in evd.h */
	uint64_t serial BY_CNO; /* of the CNO in the slot, or of the last one that was in it */
	bool alive BY_CNO;
	bool freed BY_CNO;
	bool free_on_return BY_CNO; /* the last thread that leaves the CNO destroys it */
	struct cno_config cfg;	    /* constant */
	struct evd_listener listener BY_CNO;
	unsigned int evds BY_CNO;		/* number of EVDs that refer to it */
	uint64_t last_detaches BY_CNO;		/* how often the last EVD was detached */
	struct evd *first BY_CNO, *last BY_CNO; /* the triggered EVDs, oldest first */
	/*
	 * Of a CNO with a descriptor: the EVDs whose trigger was taken since cno_trywait() has
	 * looked at them.  They may have events of which no trigger is left.
	 */
	TAILQ_HEAD(, evd) handed BY_CNO;
	struct park_list waiters BY_CNO;
	/* threads in cno_wait() or cno_trywait() that use the CNO without its lock */
	unsigned int n_waiters BY_CNO;
	unsigned int at_once BY_CNO; /* calls of cno_wait() since one has read the shared channel */
	bool closing BY_CNO;	     /* cno_set_closing() was called */
	struct loop_job job BY_CNO;  /* calls the agent */
	bool job_queued BY_CNO;
	bool in_agent BY_CNO;
	bool closer BY_CNO; /* the thread of the agent is inside cno_enter_close() */
	/* a waiter consumed the trigger first, while an agent was installed */
	bool agent_due BY_CNO;
	void *due_evd BY_CNO;
	struct park_list frees BY_CNO;	/* calls that wait for the agent or the waiters to leave */
	unsigned int n_awaiting BY_CNO; /* number of threads in cno_await_others() */
	int fd;				/* -1: none; constant */
	bool fd_readable BY_CNO;	/* whether this CNO made it readable */
	/* the last EVD left, which triggers a CNO that has a descriptor */
	bool last_detached BY_CNO;
};

/* A reference to the CNO in the slot, for an owner that prevents its destruction. */
static inline struct cno_ref
cno_self(struct cno *cno) UNCHECKED
{
	return (struct cno_ref){ cno, cno->serial };
}

/*
 * The descriptor, or -1; it does not change.  A program polls it and never reads it: see
 * cno_trigger().
 */
static inline int
cno_fd(const struct cno *cno)
{
	return cno->fd;
}

#endif
