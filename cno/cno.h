/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cno -- the wake-up funnel of many EVDs: a taker of EVDs
 *
 * A CNO keeps the list of its triggered EVDs and stays TRIGGERED until the list is empty: no EVD's
 * trigger is ever dropped because another's stands, and a consumer that drains only the EVD it was
 * handed still sees every event.
 *
 * Lock: the CNO's lock ranks after the trigger lock (told() runs inside it) and is never held
 * during the agent's call, which happens on the loop.
 *
 * Slots, lives and late callers are as in evd/evd.h: a call that comes too late returns -ENODEV.
 *
 * Functions return 0 or -errno.
 */
#ifndef REARM_CNO_CNO_H
#define REARM_CNO_CNO_H

#include "evd/evd.h"

struct cno;

/* A CNO, as everybody outside its lock names it; see struct evd_ref. */
struct cno_ref {
	struct cno *cno;
	uint64_t serial;
};

struct cno_config {
	uint64_t serial;	   /* a number that no earlier CNO of the slot had */
	struct loop *loop; /* calls the agent */
	DAT_OS_WAIT_PROXY_AGENT agent;
	bool with_fd; /* its proxy is a descriptor, which is readable while the CNO is TRIGGERED */
	/* Not locked: calls the agent's function.  NULL: the function is called as it is. */
	void (*call)(const DAT_OS_WAIT_PROXY_AGENT *agent, DAT_EVD_HANDLE evd);
	/* The end of cno_free(); as evd_config's. */
	void (*destroyed)(struct cno *cno);
};

/* Once per memory slot, ever. */
void cno_slot_init(struct cno *cno);
/* 0, or no descriptor was to be had: -errno. */
int cno_create(struct cno *cno, const struct cno_config *config);

/*
 * -EBUSY while an EVD refers to it or a thread waits, unless `abrupt` (IA close): then the waiters
 * return with a null EVD.  From inside the CNO's own agent it does not wait for the agent.
 */
int cno_free(struct cno_ref ref, bool abrupt);

/*
 * The end of an adapter, as for EVDs (evd/evd.h).  cno_free_nowait() is for one that no EVD refers to,
 * and ends waits with a null EVD.
 */
void cno_set_closing(struct cno_ref ref);
int cno_free_nowait(struct cno_ref ref);
void cno_enter_close(void);
void cno_leave_close(void);
bool cno_is_left_to_closer(struct cno_ref ref);
bool cno_await_others(struct cno_ref ref);

/* Whether the calling thread is inside the CNO's agent. */
bool cno_is_inside(const struct cno *cno);

/* What evd_set_listener() takes. */
struct evd_listener *cno_listener(struct cno *cno);
/* Counts the EVDs that refer to the CNO; dapl/ calls them around evd_set_listener(). */
int cno_attach_evd(struct cno_ref ref);
/* The last EVD's leaving releases blocked waiters with a null EVD. */
void cno_detach_evd(struct cno *cno);

/*
 * Consumes one trigger: *evd is the EVD it was for (NULL after the last EVD went).
 * timeout in microseconds.  -ETIMEDOUT, -EINTR, -ENODEV (dead when called), -ECANCELED (freed
 * meanwhile: *evd NULL).
 */
int cno_wait(struct cno_ref ref, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd);

/*
 * The same without waiting, for a CNO with a descriptor: *evd is NULL also when the last EVD went,
 * which triggers such a CNO, because who polls the descriptor could not learn of it otherwise.
 * -EAGAIN: not triggered.  -EINVAL: it has no descriptor.  -ENODEV.
 */
int cno_trigger(struct cno_ref ref, DAT_EVD_HANDLE *evd);

/* Installs or removes the one-shot agent; on a TRIGGERED CNO it is called at once, by the loop. */
int cno_modify_agent(struct cno_ref ref, DAT_OS_WAIT_PROXY_AGENT agent);
int cno_query(struct cno_ref ref, DAT_OS_WAIT_PROXY_AGENT *agent);

/* ---- the body: embedded by the owner, touched by cno/ alone ---- */

struct cno {
	struct os_mutex lock; /* guards everything below, and the triggered_* members of its EVDs */
	uint64_t serial; /* of the CNO that lives in the slot, or lived in it last */
	bool alive;
	bool freed;
	bool free_on_return; /* freed from inside its own agent */
	struct cno_config cfg;
	struct evd_listener listener;
	unsigned int evds; /* that refer to it */
	uint64_t last_detaches; /* how often the last of them went */
	struct evd *first, *last; /* the triggered ones, oldest first */
	struct park_list waiters;
	unsigned int n_waiters;
	bool closing; /* cno_set_closing() was called */
	struct loop_job job; /* calls the agent */
	bool job_queued;
	bool in_agent;
	bool closer; /* the agent's thread is inside cno_enter_close() */
	bool agent_due; /* a waiter took the trigger first, while an agent was installed */
	DAT_EVD_HANDLE due_evd;
	struct park_list frees; /* those that wait for the agent, or the waiters, to leave */
	unsigned int n_awaiting; /* threads in cno_await_others() */
	int fd;		  /* -1: none */
	bool fd_readable; /* as this CNO left it */
	bool last_detached;	  /* the last EVD went: a trigger of its own, where there is a descriptor */
};

/* The CNO in the slot, for an owner that keeps it from being destroyed. */
static inline struct cno_ref
cno_self(struct cno *cno)
{
	return (struct cno_ref){ cno, cno->serial };
}

/* The descriptor, or -1; constant while open.  To be polled, never read: see cno_trigger(). */
static inline int
cno_fd(const struct cno *cno)
{
	return cno->fd;
}

#endif
