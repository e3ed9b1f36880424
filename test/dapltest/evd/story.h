/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * story -- helpers of the tests of the dispatcher
 *
 * A story has a loop that runs only when the test steps it, a scripted device with its EVD, and a
 * tape on which the upcalls are recorded.  story_expect_nothing() checks that nothing else happens,
 * and that no event is stranded.
 */
#ifndef REARM_TEST_EVD_STORY_H
#define REARM_TEST_EVD_STORY_H

#include "script.h"

#define TAPE_MAX 512
#define TAPE_REPORT UINT64_MAX /* what an upcall without an event is recorded as */

/* An upcall that records itself.  `then` is the consumer's code inside it. */
struct tape {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t id[TAPE_MAX];
	bool more[TAPE_MAX];
	int n, read; /* recorded; asserted already */
	int inside, most_inside;
	bool hold; /* upcalls stay inside until tape_release() */
	void (*then)(struct tape *tape, uint64_t id);
	struct script *dev;
	void *arg;
};

void tape_init(struct tape *tape, struct script *dev);
struct evd_upcall tape_object(struct tape *tape);
/* Waits for n upcalls since the beginning; for n upcalls to be inside right now. */
void tape_await(struct tape *tape, int n);
void tape_await_inside(struct tape *tape, int n);
void tape_hold(struct tape *tape);
void tape_release(struct tape *tape);
int tape_count(struct tape *tape);

struct story {
	struct loop *loop;
	struct script dev;
	struct tape tape;
};

/* The one that a test's fixture begins and ends; a test that needs a second has its own. */
extern struct story st;

/* A case whose tests find it begun without options. */
extern const struct runner_case story_case;
#define STORY_CASE(...) CASE(__VA_ARGS__, .outer = &story_case)

/* opt may be NULL; a loop in it is used in place of a stepped one. */
void story_begin(struct story *story, const struct script_options *opt);
void story_end(struct story *story);
void story_begin_qlen(int qlen); /* st, with a queue of this length */

/* Completions of st with the ids `first` and up; evd_resize() of st. */
void story_complete(uint64_t first, int n);
int story_resize(unsigned int qlen);

/* A step of a script: the completion whose id is the argument. */
void story_insert(struct script *s, void *arg);

/* A thread that frees the EVD of the script that is its argument. */
void *story_free_thread(void *arg);

/* Upcalls that free their own EVD; that of the script which is the argument. */
void story_free_own(struct tape *tape, uint64_t id);
void story_free_arg(struct tape *tape, uint64_t id);

/* One turn of the loop; all turns until nothing is left to run. */
int story_turn(struct story *story);
void story_run(struct story *story);
/* Delivers what the device raised, too. */
void story_settle(struct story *story);

int story_enable(struct story *story, enum evd_policy policy);
int story_policy(struct story *story, enum evd_policy policy, enum evd_pending pending);

/* The next upcall on the tape was for `id`. */
void story_upcall(struct story *story, uint64_t id);
/* The tape has no other entry, no job is left to run, and every event was reported (I1). */
void story_expect_nothing(struct story *story);
void story_dequeues(struct story *story, uint64_t id);
void story_empty(struct story *story);
/* I1, for one EVD whose lock is free. */
void story_check_rest(struct script *dev);

/* A thread blocked in evd_wait(). */
struct waiter {
	pthread_t thread;
	struct evd *evd;
	uint32_t timeout;
	int threshold;
	struct script_event event;
	int r, nmore;
	uint64_t took_ns;
	bool done; /* atomic */
};

/* Starts it; waiter_start() returns when it sleeps. */
void waiter_launch(struct waiter *w, struct script *dev, uint32_t timeout, int threshold);
void waiter_start(struct waiter *w, struct script *dev, uint32_t timeout, int threshold);
/* Sends it a signal, again and again, until it returned: one may come when it does not sleep. */
void waiter_interrupt(struct waiter *w, int number);
/* Returns the result of evd_wait(). */
int waiter_join(struct waiter *w);
uint64_t waiter_id(const struct waiter *w);

#define MS 1000u /* of a uint32_t */

#endif
