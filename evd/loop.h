/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop -- a thread that reads channels and runs jobs
 *
 * A source is a descriptor with a handler.  The handler reads the descriptor, records what it read
 * and wakes sinks.  A job is what such a wake-up puts on the ready list.  Upcalls are made by jobs
 * only, so a thread has recorded everything that it read before it makes an upcall.  The cost of a
 * turn depends on what is ready, not on how many sources and jobs exist.
 *
 * While jobs are ready a thread does not sleep, and it does not read the sources in each turn: that
 * is a system call.  It reads them in the first turn after LOOP_SPAN jobs and events, see
 * loop_must_read().  A pool has no sources; while a job is ready its threads make no system call.
 *
 * A thread of the consumer that waits for a CNO may read the shared channel in place of the loop:
 * see lead.h.
 *
 * A pool is a loop of several threads without sources, for upcalls that may run at the same time.
 * Each of them takes one job at a time, because a job may block.
 * A stepped loop has no thread: loop_step() runs it.
 *
 * Late handlers and jobs.  loop_remove() waits: after its return the handler does not run and will
 * not run.  loop_forget() and loop_unready() do not wait: a thread may have taken the handler or
 * job already and may start it after its object was freed and the slot was reused.  Therefore the
 * memory of handlers and jobs is never released to the system, and each of them gets the serial
 * number with which it was registered.  It compares that number in the lock section in which it
 * acts, and does nothing if the slot holds another object.
 *
 * The lock of a loop comes after the trigger lock in the lock order.  It is never held during a
 * job, a handler or a wait.
 */
#ifndef REARM_EVD_LOOP_H
#define REARM_EVD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "evd/annotate.h"

struct loop;

/* The list that a job is on. */
enum loop_place {
	LOOP_JOB_OFF,	   /* none: not queued, or taken by the thread that is going to run it */
	LOOP_JOB_READY,	   /* the ready list */
	LOOP_JOB_DEFERRED, /* the ready list, for the next turn of a thread that only pumps now */
	LOOP_JOB_DELAYED,  /* the list of jobs that wait for a time */
};

/*
 * The owner embeds it.  Only the owner accesses `on`, under its own lock.
 */
struct loop_job {
	struct loop_job *next BY_LOOP, *prev BY_LOOP;
	struct loop *on; /* the loop on which it was queued last; NULL: none */
	enum loop_place place BY_LOOP;
	/* the turn of the loop in which it became ready: it runs in a later one */
	uint64_t turn BY_LOOP;
	uint64_t due BY_LOOP; /* when a delayed job is due, as os_clock_ns() */
	/*
	 * Of the object, whose owner sets it; run() gets the value that was read when the job was
	 * taken from its list.
	 */
	uint64_t serial;
	void (*run)(struct loop_job *job, uint64_t serial);
};

/* Names a registered source.  A number, so that a stale ticket is detected. */
struct loop_ticket {
	uint64_t id; /* 0: none */
};

enum loop_kind {
	LOOP_THREAD,  /* one thread, may have sources */
	LOOP_POOL,    /* `threads` threads, no sources */
	LOOP_STEPPED, /* no thread: run by loop_step() */
};

int loop_create(enum loop_kind kind, int threads, struct loop **out);

/*
 * Stops and joins the threads, and frees the loop.  No job may be on its lists and no source
 * registered.  On a thread of the loop itself (an adapter is closed inside an upcall) it does not
 * join that thread: the thread ends, and frees the loop, after its current job.
 */
void loop_free(struct loop *loop) NO_CORE_LOCK;

/*
 * Ends the sleep of all threads in a turn of the loop, and ends its own threads.  Also for a
 * stepped loop whose adapter closes while another thread is in loop_step().
 */
void loop_stop(struct loop *loop) EXCLUDES(core_locks.loop);

/*
 * Registers fd, level-triggered.  The handler runs on the thread of the loop, also while that
 * thread is parked.
 */
int loop_add(struct loop *loop, int fd, void (*handler)(void *arg, uint64_t serial), void *arg,
    uint64_t serial, struct loop_ticket *ticket) EXCLUDES(core_locks.loop);

/*
 * Pauses or resumes a source.  May be called under the trigger lock.  After a pause the handler may
 * run once more.
 */
void loop_watch(struct loop *loop, const struct loop_ticket *ticket, bool on)
    EXCLUDES(core_locks.loop);

/*
 * As loop_remove(), but does not wait; may be called under the trigger lock.  A handler that was
 * started may still run, so its argument must stay valid.
 */
void loop_forget(struct loop *loop, struct loop_ticket *ticket) EXCLUDES(core_locks.loop);

/*
 * Unregisters a source.  After the return the handler does not run on another thread and will not
 * run again.  The caller must hold no lock that the handler takes.
 */
void loop_remove(struct loop *loop, struct loop_ticket *ticket) NO_CORE_LOCK;

/*
 * How many notifications the handler of a channel reads at once.  The descriptor stays readable
 * while there is another one, so none is lost.  To find out that there is none costs a system call.
 * So the handler reads one; now and then it reads until none is left.  If that finds several, as
 * when many queues share the channel, it does so each time; if not, ever more rarely.  Zeroed at
 * first; only loop_read_some() accesses it, for one handler.
 */
struct loop_pace {
	unsigned int singles; /* how often one is read between two times that all are read */
	unsigned int rest;    /* of these are still to come */
};

/*
 * read() reads one notification and handles it: 1, 0 if there is none, or -errno.  Returns the
 * result of the last read().
 */
int loop_read_some(struct loop_pace *pace, int (*read)(void *arg), void *arg) NO_CORE_LOCK;

/* Appends the job to the ready list.  It must be on no list. */
void loop_ready(struct loop *loop, struct loop_job *job) EXCLUDES(core_locks.loop);
/* The same after a delay in nanoseconds. */
void loop_ready_later(struct loop *loop, struct loop_job *job, uint64_t delay_ns)
    EXCLUDES(core_locks.loop);
/*
 * For a job that has to call the consumer while its thread only pumps.  The job goes back to the
 * ready list for the next turn of the thread, and does not wake the thread while it is parked.
 */
void loop_defer(struct loop *loop, struct loop_job *job) EXCLUDES(core_locks.loop);
/* Makes a delayed or deferred job run as soon as possible.  No effect on other jobs. */
void loop_hasten(struct loop_job *job) EXCLUDES(core_locks.loop);
/* Removes the job from its list; false if it was on none (it may be running). */
bool loop_unready(struct loop_job *job) EXCLUDES(core_locks.loop);

/* The loop of the calling thread (of a stepped loop: during loop_step()), or NULL. */
struct loop *loop_current(void);

/* A loop in which the calling thread has begun to step another one. */
struct loop_outer {
	struct loop_outer *next;
	struct loop *loop; /* or NULL */
};

/* Whether the calling thread is in a turn of this loop, also if it steps another one there. */
bool loop_is_inside(const struct loop *loop);

/*
 * Runs one turn of a stepped loop: reads the sources, waiting up to timeout_ms for the first, and
 * runs each ready job once.  Returns how many handlers and jobs ran.
 */
int loop_step(struct loop *loop, int timeout_ms) NO_CORE_LOCK;

/*
 * The functions that follow are for park_sleep().  loop_to_pump() returns the loop of the calling
 * thread.  It returns NULL if the thread belongs to no loop, or to a pool: a pool has no sources,
 * and its other threads run its jobs.  loop_sleep_begin() returns false if there is something to
 * pump; else it sets the time until which the thread may sleep on loop_fd(), and loop_sleep_end()
 * follows the sleep.  With `drained` it returns false, too, if a source may have been left readable
 * by the last turn: who watches loop_fd() for edges does not see it again.  loop_pump() reads the
 * sources and runs the ready jobs, which must not call the consumer: loop_is_pumping() is true on
 * that thread meanwhile.
 */
struct loop *loop_to_pump(void);
int loop_fd(const struct loop *loop);
bool loop_sleep_begin(struct loop *loop, bool drained, uint64_t *until) EXCLUDES(core_locks.loop);
void loop_sleep_end(struct loop *loop) EXCLUDES(core_locks.loop);
void loop_pump(struct loop *loop) NO_CORE_LOCK;
bool loop_is_pumping(void);

#endif
