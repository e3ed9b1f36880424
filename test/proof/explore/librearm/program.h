/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program -- a scenario of librearm: a loop, its queues, and what is known of them
 *
 * All calls are those of <rearm/rearm.h>.  Only the invariants read the state of the library.
 *
 * As a right program does, an actor calls nothing for a queue whose free has begun, but inside of
 * its callbacks, which the free waits for; other calls may have begun before that.  A slot is used
 * again at once, also while such a call is still in progress.
 */
#ifndef REARM_EXPLORE_PROGRAM_H
#define REARM_EXPLORE_PROGRAM_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rearm/rearm.h>

#include "rearm/internal.h"

#include "rnic_queue.h"
#include "scenario.h"
#include "sched.h"

#define PROGRAM_LIVES 4
#define PROGRAM_EVENTS 32 /* of a queue in one life; of a channel of CM events in all */
#define PROGRAM_CQE 8
#define PROGRAM_BATCH 3 /* more than a callback gets */

struct program_life;

/* What wr_id of a completion is the address of. */
struct program_request {
	struct rearm_request base;
	struct program_life *life;
	unsigned int number;
	bool solicited;
};

/* A queue that is, or was, known by this name. */
struct program_life {
	struct program_queue *queue;
	struct rearm_queue *object; /* NULL: it could not be made */
	enum evd_base base;
	uint64_t serial;
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel; /* that the program made for it, or shares */
	bool ending;			  /* free has begun */
	bool over;			  /* and has returned */
	bool inside;		     /* from inside a callback of it, which was to return first */
	bool lost;		     /* its channel cannot be read any more */
	bool destroyed;		     /* the completion queue, by the program */
	bool closed;		     /* its channel */
	bool many;		     /* it has had callbacks that run at the same time */
	bool kept;		     /* its completion queue is one that another life had */
	unsigned int arms;	     /* that one's, which may still lead to a notification */
	unsigned int unacknowledged; /* notifications of that one */
	unsigned int users;	     /* calls in progress */
	int running, exempt;
	unsigned int upcalls, failures;
	int enabling;			 /* calls in progress that enable */
	uint32_t enabled_at, stopped_at; /* steps of the last sections of calls that do that */
	const char *stopped_by;
	int claimed; /* callbacks that had not begun when the last of these returned */
	unsigned int produced;
	uint64_t delivered; /* a bit each */
	struct program_request requests[PROGRAM_EVENTS];
};

struct program_queue {
	int index;
	const struct evd_spec *spec;
	unsigned int life; /* the last one; they count from 1 */
	struct program_life lives[PROGRAM_LIVES];
	unsigned int last[FIBERS + 1]; /* number of the last event + 1: that a fiber took; of all */
	uint32_t inside_wait;	       /* fibers */
	unsigned int upcalls, failures, n_delivered;
	bool opening;
};

struct program {
	const struct scenario *scenario;
	struct rearm_loop *loop;
	struct ibv_context contexts[EVDS];
	struct ibv_comp_channel *channel; /* that queues share; NULL: none */
	bool lost;			  /* that one */
	struct program_queue queues[EVDS];
	int8_t actor_of[FIBERS], acting[FIBERS];  /* -1: none */
	struct program_life *frame[FIBERS][EVDS]; /* of its innermost callback of the queue */
	bool exempted[FIBERS][EVDS];		  /* and that has called teardown or free */
	unsigned int calling[FIBERS];
	uint8_t knows[ACTORS][EVDS]; /* the life that the actor means */
};

extern struct program program;

static inline struct program_life *
program_life(struct program_queue *queue)
{
	return &queue->lives[queue->life];
}

static inline bool
program_has(enum verb verb)
{
	return program.scenario->verbs[verb];
}

static inline unsigned int
program_self(void)
{
	return (unsigned int)(sched.self - sched.fibers);
}

/* It has CM events, or asynchronous ones: they are of the channel, not of a life. */
static inline bool
program_has_events(const struct program_queue *queue)
{
	return queue->spec->base == BASE_CM || queue->spec->async;
}

/* The step at which the calling fiber last took the lock of the queue. */
static inline uint32_t
program_locked_at(const struct program_life *life)
{
	return sched.self->locked_at[life->object->core.lock.id];
}

/* program.c: another queue is made under the name; 0 or -errno. */
int program_open(struct program_queue *queue, enum evd_base base);
/* Its free has returned, and the library has let it go. */
void program_given_back(struct program_life *life);
/* The program destroys a completion queue that it had adopted. */
void program_destroy(struct program_life *life);
/* A loop without threads: until the program may sleep and nothing wakes it. */
void program_idle(void);

/* calls.c */
void *program_body(void *actor);
void program_scripts(enum actor_kind kind, int object, bool first);
unsigned int program_drain(struct program_life *life);
/* Enables callbacks; `a` NULL: with its object, also if something is there. */
int program_enable(struct program_life *life, int policy, const struct action *a);
int program_free(struct program_life *life);

/* callbacks.c */
void program_callback(void *life, const struct ibv_wc *wc, int n, int more);
void program_event_callback(void *life, const union rearm_event *event);
void program_request_done(struct rearm_request *request, const struct ibv_wc *wc, void *life);
void program_failed(void *life, int error);

/* channels.c: CM and asynchronous events; the queue's channel has a descriptor of its own. */
void channels_begin(void);
void channels_open(const struct program_queue *queue);
struct rdma_event_channel *channels_cm(const struct program_queue *queue);
void channels_raise(const struct program_queue *queue);
void channels_drop(const struct program_queue *queue); /* the last one that was not read has gone */
void channels_lose(const struct program_queue *queue);
unsigned int channels_unread(const struct program_queue *queue);
/* The number of an event; it is acknowledged. */
unsigned int channels_take(const struct program_queue *queue, const union rearm_event *event);
bool channels_blocks(int fd); /* a read of it would wait */
void channels_end(const struct program_queue *queue);

/* judge.c */
void judge_step(void);
void judge_rest(void);
void judge_end(void);
void judge_deliver(struct program_life *life, unsigned int number);
void judge_wc(struct program_life *life, const struct ibv_wc *wc);
void judge_event(struct program_life *life, const union rearm_event *event);
void judge_begins(struct program_life *life, const char *what);
void judge_ends(struct program_life *life);
/* After disable, teardown or free returned; whether it waits for callbacks. */
void judge_stopped(struct program_life *life, const char *what, bool waits);
/* A take that found nothing, or a wait that found less than `least`. */
void judge_empty(const struct program_life *life, unsigned int produced, unsigned int least);

/* statics.c */
void statics_begin(void);
void statics_end(void);

/* table_chance.c */
void table_chance_load(void);
void table_family_load(void);

#endif
