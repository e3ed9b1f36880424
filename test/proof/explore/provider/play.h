/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * play -- a scenario of the provider: an adapter, its EVDs, CNOs and endpoints, and what is known
 * of them
 *
 * All calls are those of the provider's table. Only the invariants read the state of the provider.
 *
 * Objects are freed and created in the course of a scenario, and a slot is used again at once. An
 * actor uses the objects whose handles it has: those that were there when the scenario began, that
 * it created itself, or that it found with `see`.
 */
#ifndef REARM_EXPLORE_PLAY_H
#define REARM_EXPLORE_PLAY_H

#include "dapl/api.h"
#include "dapl/evd/cno.h"
#include "dapl/ep/ep.h"

#include "rnic.h"
#include "scenario.h"
#include "sched.h"
#include "setting.h"

#define REQUESTS_MAX 16 /* posted to a direction of an endpoint in one life */
#define PLAY_LIVES 6
#define BINDS_MAX 24
#define STOCK_MAX 24 /* buffers that are posted to the shared receive queue */

/* A device that keeps completions back for longer is not waited for. */
#define PATIENCE_NS 100000000u

enum direction { REQUESTS, RECEIVES };

/* Of a request: not yet at the device, with it, done; with the status of verbs. */
enum outcome_of { OUTCOME_NONE, OUTCOME_POSTED, OUTCOME_DONE };

struct play_evd;

/* An EVD that is, or was, known by this name. */
struct play_evd_life {
	struct play_evd *evd;
	DAT_EVD_HANDLE handle;
	struct dapl_evd *object;
	bool over;    /* free, or the adapter's close, has returned */
	bool stopped; /* no upcall begins: one claimed before a free from inside may, after it */
	uint16_t posted[FIBERS], taken[FIBERS]; /* software events, by the fiber that posted them */
	DAT_EVD_FLAGS flags;
	unsigned int upcalls;
	struct setting length, enabled, waitable, listener,
	    policy; /* the values that a query returns */
};

struct play_evd {
	int index;
	const struct evd_spec *spec;
	unsigned int life;
	struct play_evd_life lives[PLAY_LIVES];
	uint32_t inside_wait; /* fibers */
	int running;
	unsigned int upcalls, n_delivered;
	unsigned int overflows, catastrophes; /* reported */
	bool lost;			      /* something was posted that did not fit */
	bool opening; /* an actor makes another one; no second one does meanwhile */
};

struct play_cno;

struct play_cno_life {
	struct play_cno *cno;
	DAT_CNO_HANDLE handle;
	const struct cno *core;
	bool over;
};

struct play_cno {
	int index;
	unsigned int life;
	struct play_cno_life lives[PLAY_LIVES];
	uint32_t inside_wait; /* fibers */
	int in_agent;
	unsigned int agent_calls;
	bool opening;
};

/* What may lead to a connection event. */
enum cause {
	CAUSE_ACCEPTED = 1,
	CAUSE_REJECTED = 2, /* by the consumer at the other end */
	CAUSE_DECLINED = 4, /* by its connection manager */
	CAUSE_UNREACHABLE = 8,
	CAUSE_LEFT = 16,	    /* the other end disconnected */
	CAUSE_LEAVING = 32,	    /* the consumer did, */
	CAUSE_CUT = 64,		    /* and not gracefully */
	CAUSE_FAILED = 128,	    /* a request or receive did */
	CAUSE_BROKE = 256,	    /* the queue pair did */
	CAUSE_FAILED_LEAVING = 512, /* a request did while a graceful disconnection waited for it */
};

/* A queue pair's life: from create or reset to the next reset or free. */
struct play_life {
	DAT_EP_HANDLE handle;
	uint16_t posted[2];
	uint32_t delivered[2];		     /* a bit each */
	uint32_t posted_at[2][REQUESTS_MAX]; /* step at which the post returned, 0: it has not */
	uint32_t mute;			     /* of the requests: successes bring no event */
	uint32_t hushed; /* of the requests: the events of successes are unsignalled */
	uint8_t outcomes[2][REQUESTS_MAX];
	uint32_t generation; /* of its queue pair */
	unsigned int causes; /* enum cause, of what happened to it */
	bool hastened;	     /* by a reset, before the event of its end was queued */
	/* the last attempt whose answer had private data, see judge_private_data() */
	uint8_t answered;
	uint64_t patience;	 /* when its attempt times out, or 0 */
	bool vague;		 /* what became of its requests is not known */
	int last[2];		 /* the last number delivered */
	bool established, ended; /* as events reported */
	bool early;		 /* a receive was delivered before either */
	uint32_t ending_at;	 /* step at which the first thing happened that ends it */
	uint64_t ending_time;
	uint32_t over_at;		   /* step at which reset or free had returned */
	unsigned int bound;		   /* the order of the last bind that was delivered */
	unsigned int taken, came, reports; /* with a shared receive queue: see stock.c */
};

struct play_ep {
	int index;
	const struct ep_spec *spec;
	struct dapl_ep *object;
	bool freed, opening;
	unsigned int life;
	uint8_t answers; /* that had private data */
	struct play_life lives[PLAY_LIVES];
};

/* Of the shared receive queue. */
struct play_buffer {
	uint8_t outcome;
	bool delivered;
	struct play_ep *ep;	  /* whose message took it, */
	unsigned int life, order; /* in which life, as which */
};

struct play_bind {
	struct play_ep *ep;
	unsigned int life;
	uint8_t outcome;
	unsigned int order; /* in which the device got them */
	bool unbinds, mute, accepted, delivered;
};

struct play {
	const struct scenario *scenario;
	DAT_IA_HANDLE ia;
	DAT_IA_HANDLE other;  /* on the same device: its asynchronous events go to an EVD of `ia` */
	unsigned int closing; /* calls that close */
	bool closed;
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;
	struct play_bind binds[BINDS_MAX];
	unsigned int n_binds, n_posted_binds;
	DAT_SRQ_HANDLE srq;
	struct dapl_srq *shared;
	struct play_buffer buffers[STOCK_MAX];
	unsigned int n_buffers;
	struct play_evd evds[EVDS];
	struct play_ep eps[EPS];
	struct play_cno cnos[CNOS];
	int8_t actor_of[FIBERS];
	int8_t acting[FIBERS];	       /* the actor of the fiber; -1: none */
	uint32_t taking_since[FIBERS]; /* step at which the fiber's call that takes began */
	const struct play_evd_life *frame[FIBERS][EVDS]; /* its innermost upcall of the EVD */
	uint8_t frames[FIBERS][EVDS];
	uint8_t agents[FIBERS][CNOS];
	uint64_t posting[FIBERS]; /* the cookie of what the fiber posts */
	bool unknown_broke; /* the queue pair of an endpoint whose creation had not returned */
	uint8_t knows[ACTORS][EVDS], knows_cno[ACTORS][CNOS], knows_ep[ACTORS][EPS];
};

extern struct play play;

static inline struct play_life *
play_life(struct play_ep *ep)
{
	return &ep->lives[ep->life];
}

static inline struct play_evd_life *
play_evd_life(struct play_evd *evd)
{
	return &evd->lives[evd->life];
}

static inline struct play_cno_life *
play_cno_life(struct play_cno *cno)
{
	return &cno->lives[cno->life];
}

static inline bool
play_has(enum verb verb)
{
	return play.scenario->verbs[verb];
}

static inline unsigned int
play_self(void)
{
	return (unsigned int)(sched.self - sched.fibers);
}

/* play.c: another one is made under the name. */
DAT_RETURN play_open_evd(int i, DAT_EVD_HANDLE async, enum evd_base base);
DAT_RETURN play_open_cno(int i);
DAT_RETURN play_open_ep(int i);

/* consumer.c */
void *consumer_body(void *actor);
void consumer_upcall(DAT_PVOID life, const DAT_EVENT *event, DAT_BOOLEAN more);
#define PLAY_ARRAY 3
void consumer_upcall_array(DAT_PVOID life, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more);
/* Changes the policy, with an object of the kind that the EVD has. */
DAT_RETURN consumer_modify(
    struct play_evd_life *evd, int policy, bool installs, DAT_UPCALL_FLAG flag);
void consumer_agent(DAT_PVOID life, DAT_EVD_HANDLE handle);
bool consumer_is(DAT_RETURN ret, DAT_RETURN type);
/* A result other than success must be allowed. */
void consumer_result(const char *what, DAT_RETURN ret, bool allowed);
/* The call returned DAT_INVALID_HANDLE, and the object was freed, or may have been. */
bool consumer_gone(DAT_RETURN ret, bool over, enum verb by, enum verb or_by);
/* A call that begins after the end of what it means must return that. */
void consumer_too_late(const char *what, DAT_RETURN ret, bool over);

/* consumer_evd.c */
struct play_evd_life *consumer_evd(struct play_evd *evd); /* the EVD of the calling actor */
unsigned int consumer_drain(struct play_evd_life *evd);
void consumer_act_evd(const struct action *a);

/* consumer_ep.c */
DAT_RETURN consumer_connect(DAT_EP_HANDLE handle, DAT_TIMEOUT timeout);
void consumer_post(struct play_ep *ep, enum direction direction, DAT_COMPLETION_FLAGS flags);
void consumer_act_ep(const struct action *a);

/* consumer_cno.c */
void consumer_act_cno(const struct action *a);
DAT_CNO_HANDLE consumer_cno_handle(struct play_cno *cno); /* of the one that is meant */

/* consumer_ia.c */
void consumer_close(DAT_CLOSE_FLAGS flags);

/* judge.c */
void judge_step(void);
void judge_rest(void);
void judge_end(void);
void judge_event(struct play_evd_life *evd, const DAT_EVENT *event);
/* An event of the endpoint's life is taken: not by a call that began when the life was over. */
void judge_life(const struct play_ep *ep, unsigned int life);
/* The events of the EVD cannot be judged in the end: it is not what it was, or broken. */
bool judge_evd_gone(int i);

/* standing.c */
void standing_rest(const struct play_evd *evd);
/*
 * Whether a waiter can ask for one event only, since the flags of endpoints suppress notifications;
 * `surely` or perhaps.
 */
bool standing_is_narrow(const struct play_evd *evd, bool surely);

/* transfer.c */
void judge_transfer(
    const struct play_evd *evd, const DAT_DTO_COMPLETION_EVENT_DATA *data, bool ordered);
DAT_DTO_COMPLETION_STATUS transfer_status(uint8_t outcome);
void judge_transfers_rest(struct play_ep *ep);
void judge_transfers_end(struct play_ep *ep);

/* binds.c */
void binds_open(void);
void binds_post(struct play_ep *ep, unsigned int life, bool unbinds, bool mute);
bool binds_posted(uint64_t cookie);
bool binds_completed(uint64_t cookie, enum ibv_wc_status status);
void binds_event(
    const struct play_evd *evd, const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data, bool ordered);
void binds_end(void);

/* stock.c */
bool stock_is(uint64_t cookie);
void stock_open(void);
void stock_post(void);
void stock_resize(int length);
void stock_posted(uint64_t cookie);
void stock_completed(uint64_t cookie, enum ibv_wc_status status);
void stock_transfer(
    const struct play_evd *evd, const DAT_DTO_COMPLETION_EVENT_DATA *data, bool ordered);
/* EP_BROKEN of that handle; false: it is of no endpoint with a shared receive queue. */
bool stock_reported(DAT_HANDLE handle);
void stock_end(void);

/* Something that ends the connection is about to happen. */
void judge_ending(struct play_ep *ep);

/* cause.c */
void judge_cause(struct play_ep *ep, enum cause cause);
/* Whether the causes of each life are known for what they are. */
bool judge_is_exact(const struct play_ep *ep);
/* The event has its cause; it is of that life, `surely` or perhaps. */
void judge_connection_cause(const struct play_ep *ep, unsigned int life, bool surely,
    const DAT_CONNECTION_EVENT_DATA *data, DAT_EVENT_NUMBER number);

#endif
