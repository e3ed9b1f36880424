/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actor -- a thread: one of this program, or one of the library that calls a function of this
 * program
 *
 * It has a random source, a ring with its last actions, and its present action.
 */
#ifndef REARM_HOSTILE_ACTOR_H
#define REARM_HOSTILE_ACTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <dat2/udat.h>

#define TRACE_LENGTH 256

struct evd;
struct cno;
struct adapter;

/* A line of the ring.  Another thread prints it after a failure, so all members are atomic. */
struct trace_line {
	_Atomic(uint64_t) stamp;
	_Atomic(const char *) what;
	_Atomic(uint64_t) on, also; /* names of objects: see life_name() */
	_Atomic(uint64_t) detail;
	_Atomic(uint64_t) end; /* the stamp of the return, 0 before */
	_Atomic(DAT_RETURN) ret;
};

/* The state of the thread, for run_watch() and the calm. */
enum actor_manner {
	ACTOR_WORKS,  /* between calls, or in a call that returns by itself */
	ACTOR_SLEEPS, /* in a call that may wait long for an event */
	ACTOR_PARKED, /* stopped for a calm */
};

/* A function of this program that the library has called, innermost first. */
struct frame {
	struct frame *outer;
	struct adapter *adapter;
	struct evd *evd; /* of an upcall */
	struct cno *cno; /* of an agent */
};

struct actor {
	struct actor *next; /* in the list of all actors, in use or not */
	atomic_bool in_use;
	_Atomic(const char *) role;
	_Atomic(int) number;
	_Atomic(pid_t) tid;
	_Atomic(unsigned int) signals; /* that it has handled */
	uint64_t random;
	struct frame *frame;
	_Atomic(int) manner;
	atomic_bool endless;	     /* it waits without a timeout */
	_Atomic(const char *) doing; /* NULL between calls */
	_Atomic(uint64_t) doing_on, since;
	_Atomic(unsigned int) at; /* the next line of the ring */
	struct trace_line trace[TRACE_LENGTH];
};

/* The actor of the calling thread.  Creates one for a thread of the library. */
struct actor *actor_self(void);
void actor_enter(const char *role, int number);
void actor_leave(void);
struct actor *actor_first(void);

/* A signal for this thread; its handler only counts. */
void actors_handle_signals(void);
void actor_signal(const struct actor *actor);

/* The seed of all random sources. */
void actor_seed(uint64_t seed);
uint64_t actor_random(void);
/* 0 to n - 1 */
unsigned int pick(unsigned int n);
/* True in `percent` of 100 cases. */
bool chance(unsigned int percent);

/* Writes a line into the ring; returns it for trace_done(). */
struct trace_line *trace(const char *what, uint64_t on, uint64_t also, uint64_t detail);
void trace_done(struct trace_line *line, DAT_RETURN ret);

/* Prints the last actions of all threads on the objects with these names (0: any), in order. */
void trace_print(const uint64_t *names, int n, unsigned int most);
/* Prints the present action of each thread. */
void actors_print(void);

#endif
