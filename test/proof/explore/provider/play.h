/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * play -- a scenario of the provider being played: an adapter, its EVDs and endpoints, and what is
 * known of them
 *
 * All is done by the calls of the provider's table; what is read of the provider's own state is
 * read by the invariants alone.
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
#define LIVES 4

enum direction { REQUESTS, RECEIVES };

struct play_evd {
	int index;
	const struct evd_spec *spec;
	DAT_EVD_HANDLE handle;
	struct dapl_evd *object;
	bool freed;
	uint32_t inside_wait; /* fibers */
	int running;
	unsigned int upcalls, n_delivered;
	uint16_t posted[FIBERS], taken[FIBERS]; /* software events, by who posted them */
	unsigned int overflows, catastrophes; /* told */
	bool lost;	    /* something was posted that did not fit */
};

struct play_cno {
	DAT_CNO_HANDLE handle;
	const struct cno *core;
	bool freed;
	uint32_t inside_wait; /* fibers */
};

/* A queue pair's life: from create or reset to the next reset or free. */
struct play_life {
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
	DAT_EP_HANDLE handle;
	struct ep *object;
	bool freed;
	unsigned int life;
	struct play_life lives[LIVES];
};

struct play {
	const struct scenario *scenario;
	DAT_IA_HANDLE ia;
	DAT_IA_HANDLE other; /* on the same device: its asynchronous events go to an EVD of `ia` */
	DAT_PZ_HANDLE pz;
	struct play_evd evds[EVDS];
	struct play_ep eps[EPS];
	struct play_cno cnos[CNOS];
	int8_t actor_of[FIBERS];
	uint32_t taking_since[FIBERS]; /* step at which the fiber's call that takes began */
};

extern struct play play;

static inline struct play_life *
play_life(struct play_ep *ep)
{
	return &ep->lives[ep->life];
}

static inline bool
play_has(enum verb verb)
{
	return play.scenario->verbs >> verb & 1;
}

/* consumer.c */
void *consumer_body(void *actor);
void consumer_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);
unsigned int consumer_drain(struct play_evd *evd);
/* Whether the result, once the trace has it, is the one of a call that may find the EVD freed. */
bool consumer_evd_may_go(DAT_RETURN ret);
void consumer_result(const char *what, DAT_RETURN ret, bool allowed);
DAT_RETURN consumer_connect(struct play_ep *ep);
void consumer_post(struct play_ep *ep, enum direction direction, bool mute);

/* consumer_cno.c */
void consumer_attach(struct play_evd *evd, const struct play_cno *cno); /* NULL: detach */
void consumer_cno_wait(struct play_cno *cno, int us, unsigned int *drained);
void consumer_serve(struct play_cno *cno, int n);
void consumer_cno_free(struct play_cno *cno);

/* judge.c */
void judge_step(void);
void judge_rest(void);
void judge_end(void);
void judge_event(struct play_evd *evd, const DAT_EVENT *event);
/* Something that ends the connection is about to happen. */
void judge_ending(struct play_ep *ep);

#endif
