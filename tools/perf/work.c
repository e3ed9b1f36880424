/* SPDX-License-Identifier: BSD-3-Clause */
#include "work.h"

#include "clock.h"
#include "fail.h"
#include "flow.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>

/* A message that is due so soon is waited for without a sleep, which would end too late. */
#define SLEEP_NS 100000u

#define WATCH_NS 100000000u

/* The client runs on the first processor that the process may use, the server on the second. */
static void
work_pin(const struct end *end)
{
	unsigned int which = end->server ? 2 : 1;
	cpu_set_t all, one;
	int cpu = 0;

	if (!end->load->pin)
		return;
	if (sched_getaffinity(0, sizeof all, &all))
		fail_errno("sched_getaffinity");
	if (CPU_COUNT(&all) < 2)
		fail("--pin needs two processors");
	for (; which; cpu++)
		which -= CPU_ISSET(cpu, &all) ? 1 : 0;
	CPU_ZERO(&one);
	CPU_SET(cpu - 1, &one);
	if (sched_setaffinity(0, sizeof one, &one))
		fail_errno("sched_setaffinity");
}

static void *
work_consume(void *arg)
{
	struct end *end = arg;

	work_pin(end);
	cpu_join(&end->cpu);
	if (!end->server && !(end->load->rate > 0))
		flow_start(end);
	end->engine->run(end->queue);
	return NULL;
}

static void
work_sleep_until(uint64_t due)
{
	const uint64_t now = clock_now(), until = due - SLEEP_NS;
	struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

	if (due < now + 2 * SLEEP_NS)
		sched_yield();
	else
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void *
work_send(void *arg)
{
	struct end *end = arg;
	uint64_t due;

	cpu_join(&end->cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	while ((due = flow_pace(end)) != UINT64_MAX)
		work_sleep_until(due);
	/* The clock of this thread is read at the end. */
	while (sem_wait(&end->sender_done))
		;
	return NULL;
}

void
work_start(struct work *work, struct end *end)
{
	work->end = end;
	end->epoch = clock_now();
	errno = pthread_create(&work->consumer, NULL, work_consume, end);
	if (errno)
		fail_errno("pthread_create");
	if (!(end->load->rate > 0) || end->server)
		return;
	errno = pthread_create(&work->sender, NULL, work_send, end);
	if (errno)
		fail_errno("pthread_create");
}

/* Whether all is done, after at most that time. */
static bool
work_is_done(struct end *end, uint64_t ns)
{
	const uint64_t until = clock_now() + ns;
	const struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

	return !sem_clockwait(&end->done, CLOCK_MONOTONIC, &at);
}

void
work_await(struct work *work, unsigned int timeout)
{
	struct end *end = work->end;
	uint64_t before = 0, since = clock_now(), handled;

	while (!work_is_done(end, WATCH_NS)) {
		engine_watch(end->engine, end->adapter);
		handled = end_handled(end);
		if (handled != before)
			since = clock_now();
		else if (clock_now() - since > timeout * UINT64_C(1000000000))
			fail("nothing has come for %u s, after %llu events; --timeout changes this",
			    timeout, (unsigned long long)handled);
		before = handled;
	}
	pthread_join(work->consumer, NULL);
	if (end->load->rate > 0 && !end->server)
		pthread_join(work->sender, NULL);
}
