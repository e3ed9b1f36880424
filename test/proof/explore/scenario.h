/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scenario -- a few EVDs and CNOs, and a few threads that do things to them
 *
 * Written as text, see README.md:
 *
 *	{ "name", "a=cq,single b=sw,n n", "hw: c a 2 | ctl: disable a; single a | up.a: drain a" }
 */
#ifndef REARM_EXPLORE_SCENARIO_H
#define REARM_EXPLORE_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "verb.h"

#define EVDS 4
#define CNOS 2
#define EPS 3
#define ACTORS 8
#define ACTIONS 32

/*
 * The source of an EVD; BASE_SAME: as that of the first EVD in the slot.  The last three are of
 * librearm's queues: adopted with a channel of its own, with one that others share; CM events.
 */
enum evd_base {
	BASE_SAME,
	BASE_SHARED,
	BASE_PRIVATE,
	BASE_SOFTWARE,
	BASE_ADOPTED,
	BASE_CHANNEL,
	BASE_CM
};

struct action {
	enum verb verb;
	int object;	    /* an EVD's, a CNO's or an endpoint's number */
	int other;	    /* the CNO of attach */
	int n, us;	    /* counts, thresholds; a timeout in microseconds, -1: none */
	bool fresh;	    /* INVOC_NEW */
	bool same;	    /* keeps the object that is installed */
	bool another;	    /* installs the policy's other object */
	enum evd_base base; /* of the EVD that is opened in the slot */
	int ep;		    /* the endpoint whose events they are */
	bool dropped;	    /* by the shrinking */
};

enum actor_kind { ACTOR_THREAD, ACTOR_UPCALL, ACTOR_AGENT, ACTOR_FAILED };

struct actor {
	enum actor_kind kind;
	char name[12];
	int object; /* whose upcall, agent or failed() */
	bool every; /* each call does it, not just the first */
	unsigned int n_actions;
	struct action actions[ACTIONS];
};

struct evd_spec {
	enum evd_base base;
	bool exact, strict, effect, off, ordered;
	unsigned int holds; /* the receives of these endpoints, until ESTABLISHED; a bit each */
	bool solicited;	  /* events are asked for solicited completions, which every other one is */
	bool spins;	  /* a wait polls before it sleeps */
	bool unsignalled; /* every other completion, from the first on, is unsignalled */
	int policy;	  /* an enum evd_policy */
	int qlen, depth;  /* of the device's queue: as much as qlen, at least */
	int cno;	  /* -1: none */
	int backlog;	  /* completions there before it starts */
	int loop;
	int consumers; /* threads that take its events, all those of the loops as one */
	bool sole;     /* it is one at most, so that the order among streams shows */
	bool async;    /* the adapter's own, for asynchronous events */
	int array;     /* upcalls get up to so many events, with the call for arrays; 0: one */
	bool requests; /* its callbacks are those of the requests */
	bool bare;     /* no room for posted events before the first post */
	bool kept;     /* the next life adopts the same completion queue */
	bool all;      /* takes those of another adapter on the device, beside what else it takes */
};

/* How far an endpoint is connected before a scenario begins. */
enum ep_begin { EP_BEGINS_CONNECTED, EP_BEGINS_PENDING, EP_BEGINS_FRESH };

struct ep_spec {
	int recv, request, connect; /* EVDs */
	enum ep_begin begin;
	int recvs, sends; /* posted before it starts */
	int depth; /* requests, and receives, that may be outstanding; 0: as many as by default */
	int in_flags, out_flags; /* completion flags of receives, of requests */
	bool shared;		 /* receives from the shared receive queue */
};

struct scenario {
	char name[64];
	const char *setup, *text; /* what it was parsed from */
	struct evd_spec evds[EVDS];
	struct ep_spec eps[EPS];
	int n_evds, n_cnos, n_eps, n_actors;
	bool agent[CNOS]; /* installed from the start */
	bool fd[CNOS];	  /* with a descriptor */
	struct actor actors[ACTORS];
	unsigned int faults;
	int max_faults;
	int pool; /* threads, 0: none */
	int loops;
	bool lead;	   /* threads that wait for a CNO may read the channel of the loop */
	bool verbs[VERBS]; /* which occur */
	bool fixed;	   /* a device whose queues keep their lengths */
	char answers[8];   /* to attempts to connect, in turn */
	int stock;	   /* buffers that are in the shared receive queue at the start */
	bool windows; /* a device with memory windows of type 2, and a region for an endpoint */
	bool silent;  /* a device that does not say that a queue pair takes no further buffer */
	bool stepped; /* the loop has no thread: an actor runs it */
	bool shipped; /* its locks are the shipped ones: see world_shipped_locks */
	bool family;  /* one of every combination of something: see --light */
	bool chance;  /* drawn by lot: not searched */
	unsigned int weight;	       /* how often it is played, compared with others */
	uint32_t length, fault_points; /* of a schedule, once calibrated */
};

struct scenario_text {
	const char *name, *setup, *actors;
};

/* Exits with a message about the error in the text. */
void scenario_parse(struct scenario *scenario, const struct scenario_text *text);

/* All of them: the table's and the families'. */
extern struct scenario *scenarios;
extern unsigned int n_scenarios;
void scenario_load(void);

/* All scenarios are played with the shipped locks. */
extern bool scenario_shipped;

/* Of the scenarios drawn by lot those of this draw. */
extern unsigned int scenario_draw;

#endif
