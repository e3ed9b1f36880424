/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many -- upcalls of one EVD on several threads at the same time
 *
 * The lesson: under MANY an upcall may block, for a disk for example, and the next event is handled
 * meanwhile, on another thread.  The events are claimed in order, but their upcalls run and end in
 * any order: what they share needs atomics or a lock.  After TEARDOWN none of them runs, and what
 * they have written can be read without.
 *
 *	many ADAPTER
 */
#include "common.h"

#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* PARALLEL: upcalls under MANY at the same time; Rearm makes up to four for each adapter. */
enum { PARALLEL = 4, JOBS = 10 * PARALLEL };

struct job {
	int number, square;
};

static pthread_barrier_t meeting;
static atomic_int running, most; /* shared by all upcalls */
static sem_t handled;

static void
on_event(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct job *job = event->event_data.software_event_data.pointer;
	const int now = atomic_fetch_add(&running, 1) + 1;
	int before = atomic_load(&most);

	(void)instance_data;
	(void)more_events;
	while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
		;
	/*
	 * Work that blocks: a wait for other upcalls.  Under SINGLE_INSTANCE there would be no
	 * other upcall, and the wait would have no end.
	 */
	pthread_barrier_wait(&meeting);
	job->square = job->number * job->number; /* no other upcall has this job */
	atomic_fetch_sub(&running, 1);
	sem_post(&handled);
}

int
main(int argc, char **argv)
{
	const DAT_UPCALL_OBJECT upcall = { NULL, on_event };
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	struct adapter adapter;
	struct job jobs[JOBS];
	DAT_EVD_HANDLE evd;

	take_arguments(argc, argv, 1, 1, "many ADAPTER");
	adapter_open(&adapter, argv[1]);
	sem_init(&handled, 0, 0);
	if (pthread_barrier_init(&meeting, NULL, PARALLEL))
		errx(1, "no memory for a barrier");
	must("dat_evd_kcreate", dat_evd_kcreate(adapter.ia, JOBS, DAT_UPCALL_MANY, &upcall,
				    DAT_EVD_SOFTWARE_FLAG, &evd));
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){ .number = i, .square = -1 };
		event.event_data.software_event_data.pointer = &jobs[i];
		must("dat_evd_post_se", dat_evd_post_se(evd, &event));
	}
	for (int i = 0; i < JOBS; i++)
		wait_for(&handled);
	/* The last upcalls have posted the semaphore, but may not have returned yet. */
	must("dat_evd_modify_upcall",
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	pthread_barrier_destroy(&meeting);
	for (int i = 0; i < JOBS; i++)
		if (jobs[i].square != i * i)
			errx(1, "job %d was not done", i);
	must("dat_evd_free", dat_evd_free(evd));
	adapter_close(&adapter);
	printf("%d jobs done, up to %d at the same time\n", JOBS, atomic_load(&most));
	return 0;
}
