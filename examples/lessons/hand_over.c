/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hand_over -- upcalls hand their EVD to worker threads, for work that takes long
 *
 * The lesson: an upcall that takes long stalls other EVDs of the adapter.  So it disables its EVD,
 * gives it and a copy of the event to a worker, and returns.  The worker empties the EVD, gives up
 * what belongs to it, and enables upcalls last: the next upcall may run before that call returns.
 *
 *	hand_over ADAPTER
 */
#include "common.h"

#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { QUEUES = 3, WORKERS = 2, JOBS = 2000, BURST = 20 };

/* An EVD and what belongs to it.  It needs no lock: it has one owner, an upcall or a worker. */
static struct queue {
	DAT_EVD_HANDLE evd;
	DAT_EVENT first;    /* the event of the upcall, for the worker */
	bool owned;	    /* by a worker */
	int jobs;	    /* handled so far */
	struct queue *next; /* of the queues that wait for a worker */
} queues[QUEUES];
static sem_t finished; /* queues whose jobs are all handled */

/* The queues that wait for a worker.  Each is there once at most: it is disabled. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct queue *waiting;
static bool stopping;
static atomic_int hand_overs;

static void
on_event(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct queue *queue = instance_data;

	(void)more_events;
	if (queue->owned)
		errx(1, "an upcall while a worker owns the EVD");
	must("dat_evd_modify_upcall", dat_evd_modify_upcall(queue->evd, DAT_UPCALL_DISABLE,
					  DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	queue->first = *event; /* *event is gone when this function has returned */
	queue->owned = true;
	atomic_fetch_add(&hand_overs, 1);
	pthread_mutex_lock(&lock);
	queue->next = waiting;
	waiting = queue;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void
handle(struct queue *queue, const DAT_EVENT *event)
{
	if ((intptr_t)event->event_data.software_event_data.pointer != queue->jobs)
		errx(1, "a job is not in order");
	if (++queue->jobs == JOBS)
		sem_post(&finished);
}

static void
serve(struct queue *queue)
{
	DAT_EVENT event = queue->first;
	DAT_RETURN ret;

	handle(queue, &event);
	do {
		queue->owned = true;
		while (dat_evd_dequeue(queue->evd, &event) == DAT_SUCCESS)
			handle(queue, &event);
		/* Before the enable: after it *queue belongs to the next upcall. */
		queue->owned = false;
		ret = dat_evd_modify_upcall(
		    queue->evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
		/* Refused, because an event came meanwhile: the queue is still ours. */
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
	must("dat_evd_modify_upcall", ret);
}

static void *
work(void *unused)
{
	struct queue *queue;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!waiting && !stopping)
			pthread_cond_wait(&changed, &lock);
		if (!(queue = waiting))
			break;
		waiting = queue->next;
		pthread_mutex_unlock(&lock);
		serve(queue);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

int
main(int argc, char **argv)
{
	struct adapter adapter;
	pthread_t workers[WORKERS];
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	take_arguments(argc, argv, 1, 1, "hand_over ADAPTER");
	adapter_open(&adapter, argv[1]);
	sem_init(&finished, 0, 0);
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, work, NULL))
			errx(1, "no thread for a worker");
	for (int i = 0; i < QUEUES; i++)
		must(
		    "dat_evd_kcreate", dat_evd_kcreate(adapter.ia, JOBS, DAT_UPCALL_SINGLE_INSTANCE,
					   &(DAT_UPCALL_OBJECT){ &queues[i], on_event },
					   DAT_EVD_SOFTWARE_FLAG, &queues[i].evd));
	for (intptr_t job = 0; job < JOBS; job++) {
		event.event_data.software_event_data.pointer = (DAT_PVOID)job; /* no address */
		if (job % BURST == 0)
			usleep(100);
		for (int i = 0; i < QUEUES; i++)
			must("dat_evd_post_se", dat_evd_post_se(queues[i].evd, &event));
	}
	for (int i = 0; i < QUEUES; i++)
		wait_for(&finished);
	/* Take the EVDs back from the workers, which may be about to enable one. */
	pthread_mutex_lock(&lock);
	stopping = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (int i = 0; i < QUEUES; i++)
		must("dat_evd_free", dat_evd_free(queues[i].evd));
	adapter_close(&adapter);
	printf("%d jobs of %d EVDs, in order, with %d hand-overs to %d workers\n", QUEUES * JOBS,
	    QUEUES, atomic_load(&hand_overs), WORKERS);
	return 0;
}
