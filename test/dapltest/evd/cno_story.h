/* SPDX-License-Identifier: BSD-3-Clause */
/* cno_story -- a stepped loop, one CNO, and a few scripted EVDs attached to it */
#ifndef REARM_TEST_EVD_CNO_STORY_H
#define REARM_TEST_EVD_CNO_STORY_H

#include "cno/cno.h"
#include "story.h"

#define CNO_STORY_EVDS 3

struct cno_story {
	struct loop *loop;
	struct cno cno;
	int destroyed;
	int n;
	struct script dev[CNO_STORY_EVDS];
	bool attached[CNO_STORY_EVDS];

	/* the agent's record */
	pthread_mutex_t lock;
	int calls;
	void *last;
	void (*then)(struct cno_story *cs, void *evd);
};

void cno_story_begin(struct cno_story *cs, int n_evds);
void cno_story_end(struct cno_story *cs);
void cno_story_attach(struct cno_story *cs, int i);
void cno_story_detach(struct cno_story *cs, int i);
void cno_story_detach_all(struct cno_story *cs);
/* Delivers what the devices raised and runs the loop until nothing is left to do. */
void cno_story_settle(struct cno_story *cs);
/* The CNO is triggered and hands out `dev`; is not triggered. */
void cno_story_waits(struct cno_story *cs, struct script *dev);
void cno_story_untriggered(struct cno_story *cs);
/* Exactly n events are dequeued. */
void cno_story_drains(struct script *dev, int n);

struct cno_agent cno_story_agent(struct cno_story *cs);
void cno_story_install(struct cno_story *cs);

/* A completion comes, and all that follows from it. */
void cno_story_arrive(struct cno_story *cs, int i, uint64_t id);
/* A completion of the first device comes, and its EVD's run queues the agent's call. */
void cno_story_queue_call(struct cno_story *cs);
/* The same, and a waiter takes the trigger before the loop gets to the agent's call. */
void cno_story_queue_call_and_take(struct cno_story *cs);

/* For a test without a cno_story: opens a CNO that has no agent; the test frees it. */
void cno_story_open_plain(struct cno *cno, struct loop *loop);

/*
 * For an EVD with room for two completions: a CNO is notified of the first, and again of those that
 * the device held back, once `make_room` has returned 0.  Takes the four completions.
 */
void cno_story_refill(struct story *story, int (*make_room)(void));

struct cno_waiter {
	pthread_t thread;
	struct cno *cno;
	uint32_t timeout;
	void *handle;
	int r;
	uint64_t took_ns;
	bool done; /* atomic */
};

/* Returns when the thread sleeps. */
void cno_waiter_start(struct cno_waiter *w, struct cno_story *cs, uint32_t timeout);
void cno_waiter_interrupt(struct cno_waiter *w, int number);
int cno_waiter_join(struct cno_waiter *w);

#endif
