/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job -- which loop has an EVD, as a table of states and events
 *
 * An EVD whose events a loop's thread hands out (to an upcall or a CNO) has one job.  The job is in one
 * state, guarded by the trigger lock; every change of it goes through evd_job() (trigger.h), and the table names what
 * each event does in each state.  doc/evd-states.md is printed from it.
 */
#ifndef REARM_EVD_JOB_H
#define REARM_EVD_JOB_H

#include <stdint.h>

struct evd;

enum evd_job_state {
	EVD_JOB_IDLE,	  /* no loop has it */
	EVD_JOB_READY,	  /* queued on a loop's ready list, or taken off it by a thread about to run it */
	EVD_JOB_DEFERRED, /* the same, until that loop's thread has left a call-out: now it only pumps */
	EVD_JOB_BACKOFF,  /* the device failed: queued until some time has passed */
	EVD_JOB_RUNNING,  /* a loop's thread is in evd_run() */
	EVD_JOB_CALLING,  /* that thread is in the upcall, and goes on with the EVD when it returns */
	EVD_JOB_STATES
};

enum evd_job_event {
	EVD_JOB_WAKE_ONE,   /* work for upcalls that run one at a time */
	EVD_JOB_WAKE_MANY,  /* work for upcalls that may run at once */
	EVD_JOB_WAKE_CNO,   /* work for a CNO, which needs no call-out */
	EVD_JOB_MOVE,	    /* work, and the job waits on a loop that does not serve the EVD any more */
	EVD_JOB_BEGIN,	    /* the thread that took it from its list holds the trigger lock */
	EVD_JOB_CALL_ONE,   /* an event was claimed for an upcall beside which no other may start */
	EVD_JOB_CALL_MANY,  /* an event was claimed for an upcall beside which others may start */
	EVD_JOB_RETURN,	    /* an upcall of the former kind has returned */
	EVD_JOB_YIELD,	    /* others are to have their turn, or another loop serves the EVD */
	EVD_JOB_DEFER,	    /* the next step is a call-out, and the thread only pumps */
	EVD_JOB_FAIL,	    /* the device could not be polled or armed */
	EVD_JOB_REST,	    /* nothing to do */
	EVD_JOB_CANCEL,	    /* the EVD is freed */
	EVD_JOB_EVENTS
};

/* What is done to the loops' lists. */
enum evd_job_action {
	EVD_JOB_IMPOSSIBLE, /* the event does not come in this state */
	EVD_JOB_NOTHING,
	EVD_JOB_QUEUE,	 /* on the ready list of the loop that serves the EVD now */
	EVD_JOB_REQUEUE, /* the same; off the list it is on, if it is still on one */
	EVD_JOB_HASTEN,	 /* it need not wait any longer */
	EVD_JOB_QUEUE_DEFERRED, /* on the ready list, for the thread's next turn */
	EVD_JOB_DELAY,	 /* on the list of those that wait for a time */
	EVD_JOB_UNQUEUE, /* off its list; if it is on none any more, the state stays: BEGIN is to come */
};

struct evd_job_rule {
	uint8_t action; /* enum evd_job_action */
	uint8_t next;	/* enum evd_job_state */
};

extern const struct evd_job_rule evd_job_rules[EVD_JOB_STATES][EVD_JOB_EVENTS];

/* LOCKED.  Does the action of a rule that has one, and changes the state. */
void evd_job_act(struct evd *evd, const struct evd_job_rule *rule);

#endif
