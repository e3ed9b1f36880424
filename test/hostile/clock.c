/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "actor.h"
#include "dat.h"
#include "report.h"

/* The library hangs if it does not answer within so many sleeps of this thread. */
#define LOST_NAPS 10000

static _Atomic(uint64_t) stamps = 1;
static _Atomic(uint64_t) ticks = 1;

static struct {
	pthread_t thread;
	atomic_bool stop;
	sem_t answer;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE evd;
	void (*each)(uint64_t tick);
} metronome;

uint64_t
clock_stamp(void)
{
	return atomic_fetch_add(&stamps, 1);
}

uint64_t
clock_tick(void)
{
	return atomic_load_explicit(&ticks, memory_order_relaxed);
}

void
clock_nap_us(unsigned int us)
{
	const struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };

	nanosleep(&t, NULL);
}

double
clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
answer(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	sem_post(instance);
}

static void
await_answer(void)
{
	for (int naps = 0; sem_trywait(&metronome.answer) != 0; naps++) {
		if (naps == LOST_NAPS)
			report_hang("no upcall for a software event of the clock's own adapter");
		clock_nap_us(naps < 20 ? 100 : 2000);
	}
}

static void *
beat(void *unused)
{
	const struct timespec pause = { .tv_nsec = TICK_NS };
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	(void)unused;
	actor_enter("metronome", 0);
	while (!metronome.stop) {
		nanosleep(&pause, NULL);
		dat_must("dat_evd_post_se", dat_evd_post_se(metronome.evd, &event));
		await_answer();
		metronome.each(atomic_fetch_add_explicit(&ticks, 1, memory_order_relaxed) + 1);
	}
	actor_leave();
	return NULL;
}

void
clock_start(const char *ia_name, void (*each)(uint64_t tick))
{
	const DAT_UPCALL_OBJECT object = { &metronome.answer, answer };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

	metronome.each = each;
	metronome.stop = false;
	sem_init(&metronome.answer, 0, 0);
	dat_must("dat_ia_open", dat_open(ia_name, 8, &async, &metronome.ia));
	dat_must("dat_evd_kcreate", dat_evd_kcreate(metronome.ia, 4, DAT_UPCALL_SINGLE_INSTANCE,
					&object, DAT_EVD_SOFTWARE_FLAG, &metronome.evd));
	if (pthread_create(&metronome.thread, NULL, beat, NULL))
		report_broken("cannot start the thread of the clock");
}

void
clock_stop(void)
{
	metronome.stop = true;
	pthread_join(metronome.thread, NULL);
	dat_must("dat_evd_free", dat_evd_free(metronome.evd));
	dat_must("dat_ia_close", dat_ia_close(metronome.ia, DAT_CLOSE_GRACEFUL_FLAG));
	sem_destroy(&metronome.answer);
}
