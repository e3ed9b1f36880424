/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actor -- a thread that acts: one of ours, or one of the library's inside our function
 *
 * It has a random source, a ring with what it did last, and what it is doing now.
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

/* A line of the ring.  Another thread prints it when something failed, so all of it is atomic. */
struct trace_line {
	_Atomic(uint64_t) stamp;
	_Atomic(const char *) what;
	_Atomic(uint64_t) on, also; /* names of objects: see life_name() */
	_Atomic(uint64_t) detail;
	_Atomic(uint64_t) end; /* the stamp of the return, 0 before */
	_Atomic(DAT_RETURN) ret;
};

/* What the thread is about, as far as others have to know. */
enum actor_manner {
	ACTOR_WORKS,  /* is in a call that returns by itself, or between calls */
	ACTOR_SLEEPS, /* is in a call that may wait for an event for long */
	ACTOR_PARKED, /* stands still, because it was asked to */
};

/* One of our functions that the library has called, innermost first. */
struct frame {
	struct frame *outer;
	struct adapter *adapter;
	struct evd *evd; /* of an upcall */
	struct cno *cno; /* of an agent */
};

struct actor {
	struct actor *next; /* of all there ever were */
	atomic_bool in_use;
	_Atomic(const char *) role;
	_Atomic(int) number;
	_Atomic(pid_t) tid;
	_Atomic(unsigned int) signals; /* that it has handled */
	uint64_t random;
	struct frame *frame;
	_Atomic(int) manner;
	atomic_bool endless;	     /* it waits without a limit */
	_Atomic(const char *) doing; /* NULL between calls */
	_Atomic(uint64_t) doing_on, since;
	_Atomic(unsigned int) at; /* the next line of the ring */
	struct trace_line trace[TRACE_LENGTH];
};

/* Of the calling thread; a thread of the library's becomes one by this. */
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

/* Prints, for the objects named (0: any), what all threads did last, in order. */
void trace_print(const uint64_t *names, int n, unsigned int most);
/* Prints what each thread does now. */
void actors_print(void);

#endif
