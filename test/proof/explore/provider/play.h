/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * play -- a scenario of the provider being played: an adapter, its EVDs, CNOs and endpoints, and what
 * is known of them
 *
 * All is done by the calls of the provider's table; what is read of the provider's own state is
 * read by the invariants alone.
 *
 * Objects are freed and made anew in the course of a scenario, and a slot is used again at once.  An
 * actor means the objects whose handles it has: those that were there when the scenario began, that it
 * made itself, or saw (`see`).
 */
#ifndef REARM_EXPLORE_PLAY_H
#define REARM_EXPLORE_PLAY_H

#include "dapl/api.h"
#include "dapl/cno.h"
#include "dapl/ep.h"

#include "rnic.h"
#include "scenario.h"
#include "sched.h"

#define REQUESTS_MAX 16 /* posted to a direction of an endpoint in one life */
#define PLAY_LIVES 4

enum direction { REQUESTS, RECEIVES };

struct play_evd;

/* An EVD that is, or was, known by this name. */
struct play_evd_life {
	struct play_evd *evd;
	DAT_EVD_HANDLE handle;
	struct dapl_evd *object;
	bool over; /* free, or the adapter's close, has returned */
	bool quiet; /* no upcall begins: one claimed before a free from inside may, after it */
	uint16_t posted[FIBERS], taken[FIBERS]; /* software events, by who posted them */
};

struct play_evd {
	int index;
	const struct evd_spec *spec;
	unsigned int life;
	struct play_evd_life lives[PLAY_LIVES];
	uint32_t inside_wait; /* fibers */
	int running;
	unsigned int upcalls, n_delivered;
	unsigned int overflows, catastrophes; /* told */
	bool lost;	    /* something was posted that did not fit */
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
};

/* A queue pair's life: from create or reset to the next reset or free. */
struct play_life {
	DAT_EP_HANDLE handle;
	uint16_t posted[2];
	uint32_t told[2]; /* a bit each */
	uint32_t posted_at[2][REQUESTS_MAX]; /* step at which the post returned, 0: it has not */
	uint32_t mute;	  /* of the requests: successes bring no event */
	int last[2];	  /* the last number told */
	bool established, ended; /* told */
	uint32_t ending_at;	 /* step at which the first thing happened that ends it */
	uint64_t ending_time;
	uint32_t over_at; /* step at which reset or free had returned */
};

struct play_ep {
	int index;
	const struct ep_spec *spec;
	struct ep *object;
	bool freed;
	unsigned int life;
	struct play_life lives[PLAY_LIVES];
};

struct play {
	const struct scenario *scenario;
	DAT_IA_HANDLE ia;
	DAT_IA_HANDLE other; /* on the same device: its asynchronous events go to an EVD of `ia` */
	unsigned int closing; /* calls that close */
	bool closed;
	DAT_PZ_HANDLE pz;
	struct play_evd evds[EVDS];
	struct play_ep eps[EPS];
	struct play_cno cnos[CNOS];
	int8_t actor_of[FIBERS];
	int8_t acting[FIBERS]; /* whose actions the fiber does; -1: nobody's */
	uint32_t taking_since[FIBERS]; /* step at which the fiber's call that takes began */
	const struct play_evd_life *frame[FIBERS][EVDS]; /* its innermost upcall of the EVD */
	uint8_t frames[FIBERS][EVDS];
	uint8_t agents[FIBERS][CNOS];
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
DAT_RETURN play_open_evd(int i, DAT_EVD_HANDLE async);
DAT_RETURN play_open_cno(int i);
DAT_RETURN play_open_ep(int i);

/* consumer.c */
void *consumer_body(void *actor);
void consumer_upcall(DAT_PVOID life, const DAT_EVENT *event, DAT_BOOLEAN more);
void consumer_agent(DAT_PVOID life, DAT_EVD_HANDLE handle);
bool consumer_is(DAT_RETURN ret, DAT_RETURN type);
/* A result other than success must be allowed. */
void consumer_result(const char *what, DAT_RETURN ret, bool allowed);
/* The handle is said to be invalid, and it may be: what it meant is, or may be, gone. */
bool consumer_gone(DAT_RETURN ret, bool over, enum verb by, enum verb or_by);
/* A call that begins after the end of what it means must be told so. */
void consumer_too_late(const char *what, DAT_RETURN ret, bool over);

/* consumer_evd.c */
struct play_evd_life *consumer_evd(struct play_evd *evd); /* who is meant */
unsigned int consumer_drain(struct play_evd_life *evd);
void consumer_act_evd(const struct action *a);

/* consumer_ep.c */
DAT_RETURN consumer_connect(DAT_EP_HANDLE handle);
void consumer_post(struct play_ep *ep, enum direction direction, bool mute);
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
/* Something that ends the connection is about to happen. */
void judge_ending(struct play_ep *ep);

#endif
