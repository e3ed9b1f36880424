/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage -- a scenario being played: its EVDs, CNOs, loops and actors, and what is known of them
 */
#ifndef REARM_EXPLORE_STAGE_H
#define REARM_EXPLORE_STAGE_H

#include "cno/cno.h"
#include "device.h"
#include "scenario.h"
#include "sched.h"

/* An event's id: EVD, its life, stream, number within the stream. */
#define STREAM_CQ	   0
#define STREAM_ACTOR	   1 /* + the actor's number */
#define STREAM_BARRIER	   (STREAM_ACTOR + ACTORS)
#define STREAM_ESTABLISHED (STREAM_BARRIER + 1)
#define STREAMS		   (STREAM_ESTABLISHED + 1)

static inline uint64_t
event_id(unsigned int evd, unsigned int life, unsigned int stream, unsigned int number)
{
	return (uint64_t)evd << 40 | (uint64_t)life << 32 | (uint64_t)stream << 16 | number;
}

/* Who an upcall is for: each policy has its own, and another one that may replace it. */
struct stage_object {
	struct stage_evd *evd;
	int policy;
	bool replaced;
	int claimed; /* calls with it that were claimed when it was replaced, and have not begun */
};

#define STAGE_OBJECTS 6

struct stage_evd {
	struct evd evd;
	int index;
	const struct evd_spec *spec;
	struct device_cq cq;
	struct device_channel own; /* the private channel */
	struct evd_hold hold;
	struct stage_object objects[STAGE_OBJECTS];
	struct stage_cno *cno; /* it is attached to; guarded by `link` where that changes */
	struct os_mutex link;
	bool unlinked; /* by free: it is attached no more */
	bool open, closing;
	unsigned int life;
	bool overflowed; /* and was told so */
	bool purged;
	int qlen; /* as the last resize left it */

	/* the consumer's calls */
	int enabling;		/* calls that enable, in progress */
	uint32_t enabled_at;	/* step of the last section of the last of them that returned */
	uint32_t quiet_at;	/* step of the last section of the last TEARDOWN that returned */
	uint32_t disabled_at;	/* the same of a DISABLE */
	uint32_t inside_wait;	/* fibers in evd_wait() */

	/* upcalls */
	int running, singles, exempt;
	unsigned int upcalls;
	uint64_t claims; /* seen so far */

	/* events */
	uint16_t produced[STREAMS], posts; /* posts that returned */
	uint64_t delivered[STREAMS];
	unsigned int n_delivered;
	uint16_t barrier_after; /* completions visible when the barrier was posted */
};

struct stage_cno {
	struct cno cno;
	int index;
	bool open;
	unsigned int agent_calls;
	int in_agent;
	int installs; /* of an agent, that had no call yet */
	uint32_t inside_wait;
};

struct stage_loop {
	struct loop *loop;
	struct device_channel channel;
	struct loop_ticket ticket;
};

struct stage {
	const struct scenario *scenario;
	struct stage_evd evds[EVDS];
	struct stage_cno cnos[CNOS];
	struct stage_loop loops[2];
	int n_loops;
	struct loop *crew;
	uint8_t frames[FIBERS][EVDS];  /* upcalls the fiber is inside of */
	bool exempted[FIBERS][EVDS];   /* its upcall called TEARDOWN or free */
	uint8_t calling[FIBERS]; /* the fiber is inside a call of the library */
	int8_t actor_of[FIBERS];
	uint16_t last[FIBERS][EVDS][STREAMS];
};

extern struct stage stage;

/* Plays the scenario once. */
enum outcome stage_play(const struct scenario *scenario, struct strategy *strategy, uint64_t seed);

/* actor.c */
void *actor_body(void *actor);
void actor_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);
void actor_agent(DAT_PVOID instance, DAT_EVD_HANDLE handle);
void evd_slot_close(struct evd *evd); /* destroyed() of every EVD */
void stage_evd_open(struct stage_evd *e);
unsigned int call_drain(struct stage_evd *e); /* call_evd.c */

/* oracle.c */
void oracle_step(void);
void oracle_rest(void);
void oracle_end(void);
void oracle_deliver(struct stage_evd *e, const DAT_EVENT *event);
void oracle_upcall_begins(struct stage_evd *e, struct stage_object *object);
void oracle_upcall_ends(struct stage_evd *e);
/* After the call that installed it returned. */
void oracle_installed(struct stage_evd *e, const struct stage_object *object);
/* After TEARDOWN or free returned. */
void oracle_quiet(struct stage_evd *e, const char *what);

/* EVDs are attached to CNOs while others run. */
static inline bool
stage_moves(void)
{
	return stage.scenario->verbs & (1ull << DO_ATTACH | 1ull << DO_DETACH);
}

/* The step at which the calling fiber last took the EVD's trigger lock. */
static inline uint32_t
stage_locked_at(const struct stage_evd *e)
{
	return sched.self->locked_at[e->evd.lock.id];
}

static inline uint8_t *
stage_frames(const struct stage_evd *e)
{
	return &stage.frames[sched.self - sched.fibers][e->index];
}

#endif
