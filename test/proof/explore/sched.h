/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sched -- chooses the fiber that runs next
 *
 * The threads of a run are fibers on one thread of the machine. A fiber runs from one scheduling
 * point to the next; there a strategy chooses among the fibers that can run. Two fibers are
 * special. Number 0 is the clock: its turn moves the time to the next deadline, so that a timeout
 * races with everything. Number 1 is the stage: it sets a scenario up and takes it down while no
 * other fiber runs, and sleeps in between until no fiber can run any more.
 */
#ifndef REARM_EXPLORE_SCHED_H
#define REARM_EXPLORE_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <poll.h>
#include <stdio.h>

#include "context.h"
#include "evd/os.h"

#define FIBERS 16
#define CLOCK 0
#define STAGE 1
#define STEP_CAP 30000 /* a schedule that takes longer does not end */

/* What a fiber is about to do.  The objects of the last kinds are the explorer's own. */
enum op {
	OP_NONE,
	OP_LOCK,
	OP_UNLOCK,
	OP_ALLOC,
	OP_FREE,
	OP_CLOCK,
	OP_OPEN,
	OP_SET,
	OP_CLEAR,
	OP_CLOSE,
	OP_POLL,
	OP_EPOLL_CTL,
	OP_EPOLL_WAIT,
	OP_SLEEP, /* on a flag */
	OP_SPAWN,
	OP_JOIN,
	OP_ATOMIC, /* reads or writes what no lock guards */
	OP_DEVICE, /* a call of the device, or the device's own move */
	OP_EVENT,  /* a call-out begins or ends, a call of the consumer returns */
	OP_ACTION, /* an actor begins an action */
	OP_UNTIL,
	OP_END,
	OPS
};

/* What two fibers can contend for; the numbers of one space. */
#define OBJECT_MUTEX(id) (id)
#define OBJECT_FD(fd) (32 + (fd))
#define OBJECT_EVD(i) (104 + (i))
#define OBJECT_CNO(i) (112 + (i))
#define OBJECT_CLOCK 120
#define OBJECT_WORLD 121
#define OBJECT_ATOMIC(n) (122 + (unsigned int)((n) % 6))
#define OBJECT_DEVICE(i) (128 + (i))
#define OBJECTS 160

enum fiber_state { FIBER_UNUSED, FIBER_READY, FIBER_BLOCKED, FIBER_DONE };

struct fiber {
	struct context context;
	char name[16];
	enum fiber_state state;
	bool detached;

	/* Why it is blocked. */
	enum op waits;
	struct os_mutex *mutex;
	struct pollfd *fds;
	unsigned int n_fds;
	int epfd, join;
	const struct os_flag *flag; /* it sleeps on, or NULL */
	uint32_t slept;		    /* sleepers on flags before it */
	bool woken;		    /* from there */
	/* It is inside the code of a shipped lock: which one, and where it was called. */
	bool locking;
	unsigned int lock_object;
	const struct os_site *lock_site;
	bool (*until)(void *arg);
	void *until_arg;
	uint64_t deadline;
	struct world_left *left; /* a wait in which it may be cancelled: world.h */

	/* Where it is: the names of its choices in a list of deviations. */
	uint32_t ops, picks, faults;
	const struct os_site *site;
	enum op op;
	unsigned int object;

	void *(*body)(void *arg);
	void *arg;
	struct os_self self;
	int error; /* its errno */

	uint64_t woken_by;   /* how often what it polls was set, when it last woke */
	unsigned int futile; /* wakes in a row without a new one */
	unsigned int unread; /* events that it brought to upcalls since it read the sources */

	unsigned int n_held;
	struct os_mutex *held[8];
	uint32_t locked_at[OBJECTS / 4]; /* step of its last acquisition, by mutex */

	uint32_t priority; /* PCT's */
	uint64_t hash;	   /* of what it did and saw */
	unsigned int kin;  /* the first of the fibers that are like this one */
};

enum strategy_kind { STRATEGY_RANDOM, STRATEGY_PCT, STRATEGY_DFS, STRATEGY_LIST };

/* A choice that is not the default one: at this place of this fiber, this. */
struct deviation {
	uint8_t fiber;
	bool fault;
	uint8_t pick, choice;
	uint32_t op;
};

#define DEVIATIONS 512

struct strategy {
	enum strategy_kind kind;
	int depth; /* PCT */
	int bound; /* DFS: preemptions */
	int max_faults;
	bool settled;	 /* the loops sleep before it begins */
	uint32_t length; /* of the scenario's schedules, as calibrated */
	uint32_t fault_points;
	struct deviation list[DEVIATIONS];
	unsigned int n_list;
};

enum outcome { OUTCOME_PASSED, OUTCOME_PRUNED, OUTCOME_FAILED };

/* The run. */
struct sched {
	struct fiber fibers[FIBERS];
	unsigned int n_fibers;
	struct fiber *self; /* the running one */
	uint32_t enabled;   /* fibers that can run */
	uint32_t pollers;   /* blocked on something that has no list of waiters */
	bool no_choices;    /* the stage runs: there are no choices */
	bool resting;	    /* the stage waits for rest */
	uint32_t steps;
	uint32_t fault_points;
	int faults;
	uint64_t now;		/* virtual time */
	uint64_t last_deadline; /* no fiber has a later one */
	uint64_t objects[OBJECTS];
	bool settled; /* as the strategy chose */
	bool hashing; /* a search wants to know states again */
	bool coarse;  /* the strategy passes over the minor points */
	bool recording, tracing;
	uint32_t preemptions;
	enum outcome outcome;
	char failure[512];
};

extern struct sched sched;

/* ---- for a run ---- */

/* Runs body() as the stage's fiber; `seed` belongs to random and PCT. */
enum outcome sched_run(struct strategy *strategy, uint64_t seed, void (*body)(void));

/* Depth-first search: forget the tree; go to its next schedule, false at its end. */
void sched_dfs_reset(void);
bool sched_dfs_next(void);

/* ---- for the modelled primitives ---- */

/* The running fiber is about to do this; others may go first. */
void sched_point(enum op op, unsigned int object, const struct os_site *site);

/* The same for what commutes with everything the others do: no choice in an exhaustive search. */
void sched_point_minor(enum op op, unsigned int object, const struct os_site *site);

/*
 * The search recognizes a state by these: the running fiber changed the object (and saw it), only
 * saw it, or made a step that concerns no other fiber.
 */
void sched_mix(enum op op, uint64_t *seen, bool changed);

static inline void
sched_touch(enum op op, unsigned int object)
{
	if (sched.hashing)
		sched_mix(op, &sched.objects[object], true);
}

static inline void
sched_see(enum op op, unsigned int object)
{
	if (sched.hashing)
		sched_mix(op, &sched.objects[object], false);
}

static inline void
sched_step(enum op op)
{
	static uint64_t nothing;

	if (sched.hashing)
		sched_mix(op, &nothing, false);
}

/* Until enabled: by sched_enable(), or when its condition turns true. */
void sched_block(enum op waits, unsigned int object);
void sched_changed(void); /* a condition that a fiber polls for may have changed */

/* Chooses one of n; 0 is what happens without a fault. */
int sched_fault(int n, const struct os_site *site);

struct fiber *sched_spawn(const char *name, void *(*body)(void *), void *arg);
void sched_until(bool (*until)(void *arg), void *arg, enum op op, unsigned int object);

/* The stage lets all fibers run until none can; no_choices: in one fixed order. */
void sched_rest(bool no_choices);

/* Finds fault with the run and ends it. */
__attribute__((noreturn, format(printf, 1, 2))) void violation(const char *format, ...);

/* Called at every point, and while the run's outcome is open. */
extern void (*sched_oracle)(void);

static inline uint32_t
fiber_bit(const struct fiber *f)
{
	return 1u << (f - sched.fibers);
}

/* ---- what happened, when tracing ---- */

struct trace_entry {
	uint32_t step;
	uint8_t fiber, op, object;
	const struct os_site *site;
	char text[56];
};

#define TRACE_CAP 4096
extern struct trace_entry trace[TRACE_CAP];
extern unsigned int n_trace;

/* Adds text to the last point of the trace, or a line of its own. */
__attribute__((format(printf, 1, 2))) void trace_add(const char *format, ...);

#define trace_note(...) \
	do { \
		if (__builtin_expect(sched.tracing, 0)) \
			trace_add(__VA_ARGS__); \
	} while (0)

#endif
