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

#define EVDS	4
#define CNOS	2
#define EPS	2
#define ACTORS	8
#define ACTIONS 8

enum verb {
	DO_NONE,
	DO_COMPLETION,
	DO_BURST,
	DO_SPURIOUS,
	DO_POST,
	DO_BARRIER,
	DO_ESTABLISHED,
	DO_OVERFLOW,
	DO_PURGE,
	DO_SINGLE,
	DO_MANY,
	DO_NORIFY,
	DO_DISABLE,
	DO_TEARDOWN,
	DO_REARM,
	DO_FREE,
	DO_REOPEN,
	DO_DEQUEUE,
	DO_DRAIN,
	DO_TAKE,
	DO_WAIT,
	DO_UNWAITABLE,
	DO_WAITABLE,
	DO_CLOSING,
	DO_ATTACH,
	DO_DETACH,
	DO_CNO_ON,
	DO_CNO_OFF,
	DO_SERVE,
	DO_CNO_WAIT,
	DO_AGENT,
	DO_NO_AGENT,
	DO_CNO_FREE,
	DO_CNO_ABRUPT,
	DO_CNO_CLOSING,
	DO_UNTIL,
	DO_LOOP,
	DO_SOURCE,
	DO_CLOSE_LOOP,
	DO_RESIZE,
	DO_WATCH,
	DO_TRIGGER,
	/* of the provider's explorer: what the consumer does to an endpoint, */
	DO_RECV,
	DO_SEND,
	DO_SEND_MUTE,
	DO_CONNECT,
	DO_DISCONNECT,
	DO_DISCONNECT_GRACEFUL,
	DO_EP_RESET,
	DO_EP_FREE,
	/* and what the device and the other end do */
	DO_RECEIVED,
	DO_SENT,
	DO_FAILED,
	DO_CM_ACCEPTS, /* as soon as it is asked */
	DO_CM_ESTABLISHED,
	DO_CM_REJECTED,
	DO_CM_DISCONNECTED,
	DO_QP_FATAL,
	DO_CQ_ERROR,
	DO_DEVICE_FATAL,
	VERBS
};

struct action {
	enum verb verb;
	int object; /* an EVD's, a CNO's or an endpoint's number */
	int other;  /* the CNO of attach */
	int n, us;  /* counts, thresholds; a timeout in microseconds, -1: none */
	bool fresh; /* INVOC_NEW */
	bool same;  /* keeps the object that is installed */
	bool another; /* installs the policy's other object */
	bool dropped; /* by the shrinking */
};

enum actor_kind { ACTOR_THREAD, ACTOR_UPCALL, ACTOR_AGENT };

struct actor {
	enum actor_kind kind;
	char name[12];
	int object;  /* whose upcall or agent */
	bool every;  /* each call does it, not just the first */
	unsigned int n_actions;
	struct action actions[ACTIONS];
};

struct evd_spec {
	bool cq, private, exact, strict, effect, hold, off, ordered;
	bool quiet; /* every other completion, from the first on, wakes nobody */
	int policy; /* a DAT_UPCALL_POLICY */
	int qlen;
	int cno; /* -1: none */
	int backlog; /* completions there before it starts */
	int loop;
	bool async; /* the adapter's own, for asynchronous events */
	bool all;   /* takes those of another adapter on the device, beside what else it takes */
};

/* How far an endpoint is connected before a scenario begins. */
enum ep_begin { EP_BEGINS_CONNECTED, EP_BEGINS_PENDING, EP_BEGINS_FRESH };

struct ep_spec {
	int recv, request, connect; /* EVDs */
	enum ep_begin begin;
	int recvs, sends; /* posted before it starts */
};

struct scenario {
	char name[64];
	struct evd_spec evds[EVDS];
	struct ep_spec eps[EPS];
	int n_evds, n_cnos, n_eps, n_actors;
	bool agent[CNOS]; /* installed from the start */
	bool fd[CNOS];	  /* with a descriptor */
	struct actor actors[ACTORS];
	unsigned int faults;
	int max_faults;
	int crew;  /* threads, 0: none */
	int loops;
	uint64_t verbs; /* which occur */
	bool fixed; /* a device whose queues keep their lengths */
	bool heavy; /* many events: see --light */
	unsigned int weight; /* how often it is played, compared with others */
	uint32_t length, fault_points; /* of a schedule, once calibrated */
};

struct scenario_text {
	const char *name, *setup, *actors;
};

/* Exits with a message that tells what is wrong with the text. */
void scenario_parse(struct scenario *scenario, const struct scenario_text *text);

const char *verb_name(enum verb verb);
/* The first name of what it is done to; 0: nothing. */
char verb_prefix(enum verb verb);

/* All of them: the table's and the families'. */
extern struct scenario *scenarios;
extern unsigned int n_scenarios;
void scenario_load(void);

#endif
