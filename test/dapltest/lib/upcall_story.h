/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upcall_story -- an EVD whose upcalls record what they see
 *
 * The upcall records its arguments, waits while its gate is closed, runs a function of the test,
 * and returns.  Everything goes through the public calls.
 */
#ifndef REARM_TEST_LIB_UPCALL_STORY_H
#define REARM_TEST_LIB_UPCALL_STORY_H

#include <pthread.h>
#include <stdatomic.h>

#include "dt.h"

#define UP_NOTES 4096

/* One event in an upcall: that of the upcall, or one that it dequeued. */
struct up_note {
	DAT_EVENT event;
	DAT_BOOLEAN more;
	bool taken; /* by dat_evd_dequeue() */
	pthread_t thread;
	DAT_PVOID instance;
};

struct up {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE evd;
	DAT_UPCALL_OBJECT object;
	void (*_Atomic act)(struct up *up, const DAT_EVENT *event);
	void *arg;	    /* for act */
	_Atomic(bool) gate; /* closed: upcalls wait in front of what they do */
	_Atomic(int) entered, inside, most_inside, returned;
	_Atomic(int) nulls; /* upcalls without an event */
	_Atomic(int) noted;
	struct up_note notes[UP_NOTES];
};

/* The policies, for tests that run once for each.  The first UP_ENABLING make upcalls. */
#define UP_ENABLING 3
#define UP_POLICIES 5
extern const DAT_UPCALL_POLICY up_policies[UP_POLICIES];
bool up_calls(DAT_UPCALL_POLICY policy);

/* Before the EVD is made: clears the record.  The object is the recording upcall. */
void up_init(struct up *up);
/* Makes the EVD, of 64 events; up_open_length() of another length. */
void up_open(
    struct up *up, const struct dt_side *side, DAT_UPCALL_POLICY policy, DAT_EVD_FLAGS flags);
void up_open_length(struct up *up, const struct dt_side *side, DAT_UPCALL_POLICY policy,
    DAT_EVD_FLAGS flags, DAT_COUNT length);

/* All of it: clears the record, opens a side, and makes the EVD on it. */
void up_begin(struct up *up, struct dt_side *side, DAT_UPCALL_POLICY policy, DAT_EVD_FLAGS flags);

/* A connected pair whose side b receives into the EVD, with that many receives posted. */
void up_connect(struct up *up, struct dt_pair *pair, DAT_UPCALL_POLICY policy, DAT_UINT64 receives);
/* Sends to it, and takes the sender's completion. */
void up_send(struct dt_pair *pair, DAT_UINT64 cookie);

/* modify_upcall with the object that is installed. */
DAT_RETURN up_try(const struct up *up, DAT_UPCALL_POLICY policy, DAT_UPCALL_FLAG flag);
/* The same for any event, which must work. */
void up_set(const struct up *up, DAT_UPCALL_POLICY policy);

/* The upcall, for objects of a test's own; `instance` must be a struct up. */
void up_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);
/* An act: dequeues until nothing is left, and notes it. */
void up_drain(struct up *up, const DAT_EVENT *event);
/* For acts: notes an event that was dequeued. */
void up_note_taken(struct up *up, const DAT_EVENT *event);
/*
 * For acts: under NORIFY takes the event that the upcall was called for, so that the queue is as
 * with the other policies.
 */
void up_take_reported(struct up *up, const DAT_EVENT *event);

void up_await_inside(const struct up *up, int n);
void up_await_entered(const struct up *up, int n);
void up_await_returned(const struct up *up, int n);
void up_await_noted(const struct up *up, int n);
/* That many upcalls have started since the beginning, and no other does for some time. */
void up_assert_no_more(const struct up *up, int entered);

/* How many upcalls can stand at once under a policy, and that many in front of a closed gate. */
int up_standing(DAT_UPCALL_POLICY policy);
void up_let_stand(struct up *up, DAT_UPCALL_POLICY policy);

/* A thread that ends the upcalls of an EVD, and what it found when its call returned. */
struct up_ending {
	struct up *up;
	pthread_t thread;
	DAT_RETURN ret;
	int inside; /* upcalls that ran */
	_Atomic(bool) returned;
};
/* By TEARDOWN, by free; returns when the thread has begun to wait for an upcall that stands. */
void up_tear_down(struct up_ending *ending, struct up *up);
void up_free(struct up_ending *ending, struct up *up);
/* Opens the gate: the call works, and returns after the last upcall. */
void up_let_end(struct up_ending *ending);

/*
 * Until another thread's DISABLE or TEARDOWN has begun.  May take an event, which is noted.
 */
void up_await_off(struct up *up);
/* Until a thread waits on the EVD.  Nothing may be queued. */
void up_await_waiter(const struct up *up);

/* What a noted software event or completion carried: its pointer or cookie. */
DAT_UINT64 up_value(const DAT_EVENT *event);
void up_assert_values(const struct up *up, DAT_UINT64 first, int n);

struct dat_rearm_evd_counters up_counters(const struct up *up);

/*
 * What the policy in force is, seen by what becomes of one more event of a software stream: an
 * upcall gets it, is called without it, or it stays queued.  Nothing may be queued or running.
 */
void up_assert_policy(struct up *up, DAT_UPCALL_POLICY policy);

/* Runs fn in a thread. */
pthread_t up_thread(void *(*fn)(void *), void *arg);
void up_join(pthread_t thread);

#endif
