/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue_story -- a loop, and a queue on the software device, for the tests of librearm
 *
 * The queue pair of the story is in the error state: each receive that is posted to it completes at
 * once, as flushed.  That is all these tests need of a device.
 */
#ifndef REARM_TEST_QUEUE_STORY_H
#define REARM_TEST_QUEUE_STORY_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <rearm/rearm.h>

#include "lib/runner.h"

#define QUEUE_CQE 64

/* What the callback of a story notes, and does. */
struct notes {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t id[256];
	int n;	       /* completions */
	int calls;     /* callbacks */
	int size[256]; /* of each callback */
	int more[256];
	int inside, most_inside;
	bool hold; /* callbacks stay inside until notes_release() */
	void (*then)(struct notes *notes);
};

struct queue_story {
	struct rearm_loop *loop;
	struct rearm_queue *queue;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	struct notes notes;
};

extern struct queue_story qs;

extern const struct runner_case queue_case;	    /* a loop with a thread */
extern const struct runner_case queue_case_stepped; /* a loop without */
#define QUEUE_CASE(...) CASE(__VA_ARGS__, .outer = &queue_case)
#define STEPPED_CASE(...) CASE(__VA_ARGS__, .outer = &queue_case_stepped)

/* Completions with the ids `first` and up. */
void queue_complete(uint64_t first, int n);
void queue_make_qp(struct ibv_cq *cq);
void queue_destroy_qp(void);
/* In its place one that is connected to itself: each send is the completion of a receive. */
void queue_make_own_peer(struct ibv_cq *cq);
void queue_send(uint64_t id, unsigned int flags);
/* From now on all its receives are flushed. */
void queue_fail_qp(void);

int queue_enable(enum rearm_policy policy, int batch, enum rearm_pending pending);
/* Enables what is installed again. */
int queue_enable_same(enum rearm_policy policy, enum rearm_pending pending);

/* Waits for so many completions or callbacks since the beginning; for so many inside. */
void notes_await(int n);
void notes_await_calls(int calls);
void notes_await_inside(int n);
void notes_hold(void);
void notes_release(void);
/* How many completions came. */
int notes_count(void);
/* Nothing comes for a while. */
void notes_expect(int n, int calls);

/* Takes one completion, which has this id; none is there. */
void queue_takes(uint64_t id);
void queue_is_empty(void);

void queue_sleep_ms(int ms);
/* How many this process has open. */
int queue_descriptors(void);

#endif
