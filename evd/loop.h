/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop -- a thread that reads channels and runs what became ready
 *
 * Sources are descriptors with a handler that reads, books and kicks.  Jobs are what a kick put
 * on the ready list; upcalls run from jobs alone, so everything read from a channel is booked
 * before any call-out on that thread.  A loop costs what is ready, never what exists.
 *
 * A crew is a loop of several threads without sources, for upcalls that may run concurrently.  A
 * stepped loop has no thread at all: loop_step() pumps it by hand.
 *
 * Late handlers and jobs.  loop_remove() waits: once it has returned the handler does not run and will
 * not.  loop_forget() and loop_unready() do not wait: the handler or job may have been taken already,
 * and may begin after the object it belongs to was freed and its slot serves another.  So memory that
 * is given to a loop is never given back to the system, and every handler and job gets the life that it
 * was registered for.  It compares the life in the lock section in which it acts, and does nothing if
 * another lives there.
 *
 * Lock: the loop's lock ranks after the trigger lock; it is never held during a job, a handler or a
 * wait.
 */
#ifndef REARM_EVD_LOOP_H
#define REARM_EVD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;

/* Where a job is. */
enum loop_place {
	LOOP_JOB_OFF,	  /* on no list: not queued, or taken by the thread that is going to run it */
	LOOP_JOB_READY,	  /* on the ready list */
	LOOP_JOB_DEFERRED, /* there too, for the next turn of a thread that now only pumps */
	LOOP_JOB_DELAYED, /* on the list of those that wait for a time */
};

/*
 * Owned by whoever embeds it.  Links and place belong to the loop, under its lock; `on` is written and read
 * by the owner alone, under its own lock.
 */
struct loop_job {
	struct loop_job *next, *prev;
	struct loop *on; /* the loop that it was queued on last; NULL: none */
	enum loop_place place;
	uint64_t due; /* of a delayed job: its os_clock_ns() time */
	uint64_t serial;	 /* of what it is a job of; run() gets it as it was when the job was popped */
	void (*run)(struct loop_job *job, uint64_t serial);
};

/* Names a registered source; a number, so that a stale one is noticed. */
struct loop_ticket {
	uint64_t id; /* 0: none */
};

enum loop_kind {
	LOOP_THREAD,  /* one thread, sources allowed */
	LOOP_POOL,    /* `threads` threads, no sources */
	LOOP_STEPPED, /* no thread: pumped by loop_step() */
};

int loop_create(enum loop_kind kind, int threads, struct loop **out);

/*
 * Stops and joins the threads; the ready list must be empty of live jobs and no source registered.
 * Called on the loop's own thread (an IA closed from inside an upcall) it does not join: the thread
 * ends, and frees the loop, after the current job returned.
 */
void loop_free(struct loop *loop);

/*
 * No thread sleeps in a turn of the loop any more, and its own threads end.  For a stepped loop whose
 * adapter closes while another thread is in loop_step().
 */
void loop_stop(struct loop *loop);

/* Watches fd for reading, level-triggered; the handler runs on the loop's thread, parked or not. */
int loop_add(struct loop *loop, int fd, void (*handler)(void *arg, uint64_t serial), void *arg,
    uint64_t serial, struct loop_ticket *ticket);

/* Pauses and resumes a source, also under the trigger lock.  A handler may be entered once more. */
void loop_watch(struct loop *loop, const struct loop_ticket *ticket, bool on);

/*
 * As loop_remove() without the waiting, allowed under the trigger lock: a handler that was already
 * entered may still run, so its argument must outlive it.
 */
void loop_forget(struct loop *loop, struct loop_ticket *ticket);

/*
 * Stops watching.  When it returns the handler is not running on another thread and will not
 * run again.  No lock of the caller may be held that the handler takes.
 */
void loop_remove(struct loop *loop, struct loop_ticket *ticket);

/* Appends the job to the ready list; it must be on none. */
void loop_ready(struct loop *loop, struct loop_job *job);
/* The same after a delay in nanoseconds. */
void loop_ready_later(struct loop *loop, struct loop_job *job, uint64_t delay_ns);
/*
 * For a job that wants to call out while its thread only pumps: it goes back onto the ready list
 * for that thread's next turn, and does not keep the parked thread awake.
 */
void loop_defer(struct loop *loop, struct loop_job *job);
/* A delayed or put-off job is to run as soon as it can; any other is left alone. */
void loop_hasten(struct loop_job *job);
/* Takes the job off its list; false when it was on none (it may be running). */
bool loop_unready(struct loop_job *job);

/* The loop whose thread this is (a stepped loop: while loop_step() runs), or NULL. */
struct loop *loop_current(void);

/*
 * Reads the sources once, waiting up to timeout_ms for the first, and runs the jobs that are ready
 * (each at most once).  Returns how many handlers and jobs ran.  For stepped loops.
 */
int loop_step(struct loop *loop, int timeout_ms);

/*
 * For park_sleep() on a thread of loop_to_pump(), which is NULL on threads that are of no loop, or
 * of a crew: that has no sources, and other threads for its jobs.  loop_sleep_begin() tells until when the
 * thread may sleep on loop_fd(), or returns false when there is something to pump; each true is
 * answered by one loop_sleep_end().  loop_pump() reads the sources and runs the ready jobs, which must
 * not call out: loop_is_pumping() is true on that thread meanwhile.
 */
struct loop *loop_to_pump(void);
int loop_fd(const struct loop *loop);
bool loop_sleep_begin(struct loop *loop, uint64_t *until);
void loop_sleep_end(struct loop *loop);
void loop_pump(struct loop *loop);
bool loop_is_pumping(void);

#endif
