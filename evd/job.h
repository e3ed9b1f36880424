/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job -- which loop runs an EVD, as a table of states and events
 *
 * An EVD has one job.  A thread of a loop runs it to deliver events to an upcall or a CNO.  Its
 * state is guarded by the trigger lock.  Every change goes through evd_job() (trigger.h), and the
 * table defines what each event does in each state.  doc/evd-states.md is printed from the table.
 */
#ifndef REARM_EVD_JOB_H
#define REARM_EVD_JOB_H

#include <stdint.h>

#include "evd/annotate.h"

struct evd;

enum evd_job_state {
	EVD_JOB_IDLE,  /* on no loop */
	EVD_JOB_READY, /* on the ready list of a loop, or taken from it by a thread that is about to
			  run it */
	EVD_JOB_DEFERRED, /* the same, but that thread only pumps: it runs the job after its
			     callback has returned */
	EVD_JOB_BACKOFF,  /* the device failed: queued with a delay */
	EVD_JOB_RUNNING,  /* a thread of a loop is in evd_run() */
	EVD_JOB_CALLING,  /* that thread is in the upcall, and continues with the EVD after it */
	EVD_JOB_STATES
};

enum evd_job_event {
	EVD_JOB_WAKE_ONE,  /* work for upcalls that run one at a time */
	EVD_JOB_WAKE_MANY, /* work for upcalls that may run at once */
	EVD_JOB_WAKE_CNO,  /* work for a CNO, which needs no callback */
	EVD_JOB_MOVE,  /* work, and the job is queued on a loop that does not serve the EVD any more
			*/
	EVD_JOB_TAKE,  /* work for a CNO, which the thread that found it does itself */
	EVD_JOB_BEGIN, /* the thread that took the job from its list holds the trigger lock */
	EVD_JOB_CALL_ONE,  /* an event was claimed for an upcall that excludes others */
	EVD_JOB_CALL_MANY, /* an event was claimed for an upcall that does not exclude others */
	EVD_JOB_RETURN,	   /* an upcall that excludes others has returned */
	EVD_JOB_YIELD,	   /* other EVDs get their turn, or another loop serves the EVD */
	EVD_JOB_DEFER,	   /* the next step is an upcall, and the thread only pumps */
	EVD_JOB_FAIL,	   /* the device could not be polled or armed */
	EVD_JOB_REST,	   /* nothing to do */
	EVD_JOB_CANCEL,	   /* the EVD is freed */
	EVD_JOB_EVENTS
};

/* What to do with the lists of the loops. */
enum evd_job_action {
	EVD_JOB_IMPOSSIBLE, /* the event cannot happen in this state */
	EVD_JOB_NOTHING,
	EVD_JOB_QUEUE,	 /* put it on the ready list of the loop that serves the EVD */
	EVD_JOB_REQUEUE, /* the same, after removal from its list; nothing if it was on none */
	EVD_JOB_HASTEN,	 /* end its delay or deferral */
	EVD_JOB_QUEUE_DEFERRED, /* put it on the ready list for the next turn of the thread */
	EVD_JOB_DELAY,		/* put it on the list of delayed jobs */
	EVD_JOB_UNQUEUE, /* remove it from its list; if it was on none, the state stays and BEGIN
			    follows */
};

struct evd_job_rule {
	uint8_t action; /* enum evd_job_action */
	uint8_t next;	/* enum evd_job_state */
};

/*
 * A row has a power of two rules, of which the last ones are not used: its address is a shift away.
 */
extern const struct evd_job_rule evd_job_rules[EVD_JOB_STATES][16];
_Static_assert(EVD_JOB_EVENTS <= 16, "a rule for each event");

/* Performs the action of a rule that has one, and changes the state. */
void evd_job_act(struct evd *evd, const struct evd_job_rule *rule) REQUIRES(core_locks.trigger);

/* The same for EVD_JOB_QUEUE. */
void evd_job_queue(struct evd *evd, const struct evd_job_rule *rule) REQUIRES(core_locks.trigger);

#endif
