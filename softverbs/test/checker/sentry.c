/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the sentry reports what is suspected, and what it says: its thread runs, a tick at a time,
 * by a clock of the test.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake.h"
#include "lib/runner.h"
#include "softverbs/check/outstanding.h"
#include "softverbs/check/pending.h"
#include "softverbs/check/sentry.h"
#include "softverbs/check/settings.h"
#include "softverbs/check/suspicion.h"
#include "softverbs/check/tally.h"
#include "softverbs/fault/record.h"

#define TICK (50 * SOFT_MILLISECOND)
#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(int, nanosleep, const struct timespec *request, struct timespec *remain);
WRAP(void, _exit, int status) __attribute__((noreturn));
int __real_soft_sentry_start(void);
WRAP(unsigned int, soft_reports, void);
WRAP(void, soft_report_end, uint64_t waited);
WRAP(bool, soft_suspicion_is_possible, const struct soft_check_view *view);
WRAP(struct soft_suspicion, soft_suspect, const struct soft_check_view *view,
    const struct soft_sleepers *sleepers);
WRAP(void, soft_sleepers_look, struct soft_sleepers *sleepers);
WRAP(void, soft_check_count_outstanding, void);

/* ---- the world of the sentry */

static bool scripted;
static __thread bool is_sentry; /* the thread: a test that fails ends by _exit(), too */
static sem_t go, done;
static bool stop;
static int status;
static uint64_t waited;

static bool possible;
static struct soft_suspicion suspicion;
static struct soft_check_view numbers; /* what is counted */
static struct soft_sleeper threads[3];
static size_t thread_count;
static bool busy; /* as soft_suspect() saw it */

int
__wrap_nanosleep(const struct timespec *request, struct timespec *remain)
{
	/* The runner sleeps, too. */
	if (!scripted || request->tv_sec != 0 || request->tv_nsec != TICK)
		return __real_nanosleep(request, remain);
	is_sentry = true;
	sem_post(&done);
	sem_wait(&go);
	if (stop)
		pthread_exit(NULL);
	return 0;
}

void
__wrap__exit(int number)
{
	if (!is_sentry)
		__real__exit(number);
	status = number;
	sem_post(&done);
	pthread_exit(NULL);
}

unsigned int
__wrap_soft_reports(void)
{
	return scripted ? (unsigned int)fake_reports : __real_soft_reports();
}

void
__wrap_soft_report_end(uint64_t time)
{
	waited = time;
}

bool
__wrap_soft_suspicion_is_possible(const struct soft_check_view *view)
{
	return scripted ? possible : __real_soft_suspicion_is_possible(view);
}

struct soft_suspicion
__wrap_soft_suspect(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	if (!scripted)
		return __real_soft_suspect(view, sleepers);
	busy = sleepers->busy;
	return suspicion;
}

void
__wrap_soft_sleepers_look(struct soft_sleepers *sleepers)
{
	if (!scripted) {
		__real_soft_sleepers_look(sleepers);
		return;
	}
	*sleepers = (struct soft_sleepers){ .count = thread_count, .known = true, .busy = true };
	sleepers->threads = calloc(3, sizeof *sleepers->threads);
	memcpy(sleepers->threads, threads, sizeof threads);
}

void
__wrap_soft_check_count_outstanding(void)
{
	struct soft_check_queue *queue = soft_check_queues();

	if (!scripted) {
		__real_soft_check_count_outstanding();
		return;
	}
	queue->view->sends = numbers.sends;
	queue->view->receives = numbers.receives;
	queue->view->gone = numbers.gone;
	queue->view->unread_end = numbers.unread_end;
	queue->view->asks = numbers.asks;
	queue->view->was_armed = numbers.was_armed;
}

/* ---- steps */

static struct soft_check_queue *queue;

static void
begin(void)
{
	fake_reset();
	queue = fake_queue(0);
	soft_check_settings =
	    (struct soft_check_settings){ .stranded_after = 500 * SOFT_MILLISECOND,
		    .timeout = 3 * SOFT_SECOND };
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	possible = true;
	suspicion = (struct soft_suspicion){ SOFT_STRONG, SOFT_STRANDED, 0, "", 0, 0 };
	numbers = (struct soft_check_view){ 0 };
	thread_count = 0;
	stop = false;
	status = -1;
	waited = 0;
	fake_now = 1000ull * SOFT_SECOND;
	scripted = true;
	ck_assert_int_eq(__real_soft_sentry_start(), 0);
	sem_wait(&done);
}

static void
tick_for(uint64_t time)
{
	fake_now += time;
	sem_post(&go);
	sem_wait(&done);
}

/* The number of ticks until there is a report more; 1000: none. */
static int
ticks_until_report(void)
{
	const int before = fake_reports;
	int n = 0;

	while (fake_reports == before && n < 1000) {
		tick_for(TICK);
		n++;
	}
	return n;
}

static void
end(void)
{
	stop = true;
	if (status < 0)
		sem_post(&go);
	ck_assert_int_eq(runner_await_threads(1), 1);
	scripted = false;
}

/* ---- how long */

CASE("checker_sentry:sentry");

/* The first tick only takes notice. */
TEST(strong__is_reported__after_the_time_of_stranded_after)
{
	begin();
	ck_assert_int_eq(ticks_until_report(), 11);
	ck_assert_ptr_eq(fake_reported, queue);
	end();
}

TEST(weak__is_reported__after_five_times_as_long)
{
	begin();
	suspicion.strength = SOFT_WEAK;
	ck_assert_int_eq(ticks_until_report(), 51);
	end();
}

/* origin: out33.J3 */
TEST(sleep_for_a_time__counts__when_the_thread_has_come_back)
{
	begin();
	suspicion.strength = SOFT_WEAK;
	suspicion.napper = 7;
	suspicion.naps = 3;
	ck_assert_int_eq(ticks_until_report(), 1000);
	suspicion.naps = 4;
	ck_assert_int_eq(ticks_until_report(), 50);
	end();
}

/* origin: out33.J3 */
TEST_LOOP(sleep_for_a_time__after_the_first__counts, 2)
{
	begin();
	suspicion.strength = SOFT_WEAK;
	suspicion.napper = 7;
	suspicion.naps = 3;
	for (int i = 0; i < 100; i++)
		tick_for(TICK);
	suspicion.napper += (pid_t)_i;
	suspicion.naps += (unsigned long)!_i;
	for (int i = 0; i < 49; i++) {
		tick_for(TICK);
		suspicion.naps++;
	}
	ck_assert_int_eq(ticks_until_report(), 1);
	end();
}

/* origin: out33.J3 */
TEST(sleep_for_a_time__a_call_with_the_queue__one_more_does_not_count)
{
	begin();
	suspicion.strength = SOFT_WEAK;
	suspicion.napper = 7;
	for (int n = 0; n < 3; n++) {
		for (int i = 0; i < 200; i++)
			tick_for(TICK);
		queue->activity++;
		suspicion.naps++;
	}
	ck_assert_int_eq(fake_reports, 0);
	end();
}

TEST(strong_and_weak_in_turn__each_time_counts_for_itself)
{
	int n;

	begin();
	for (n = 0; !fake_reports; n++) {
		suspicion.strength = n % 2 ? SOFT_STRONG : SOFT_WEAK;
		tick_for(TICK);
	}
	/* Ten that were strong. */
	ck_assert_int_eq(n, 20);
	end();
}

TEST(suspicion__another_kind__begins_again)
{
	begin();
	for (int i = 0; i < 10; i++)
		tick_for(TICK);
	suspicion.kind = SOFT_EVENT_UNREAD;
	ck_assert_int_eq(ticks_until_report(), 11);
	ck_assert_int_eq(fake_kind, SOFT_EVENT_UNREAD);
	end();
}

TEST(suspicion__a_call_with_the_queue__begins_again)
{
	begin();
	for (int i = 0; i < 10; i++)
		tick_for(TICK);
	queue->activity++;
	ck_assert_int_eq(ticks_until_report(), 11);
	end();
}

/* A thread that wakes and sleeps again has mended nothing. */
TEST(suspicion__a_moment_of_innocence__goes_on)
{
	begin();
	for (int i = 0; i < 10; i++)
		tick_for(TICK);
	suspicion.strength = SOFT_INNOCENT;
	tick_for(TICK);
	suspicion.strength = SOFT_STRONG;
	ck_assert_int_eq(ticks_until_report(), 1);
	end();
}

TEST(suspicion__innocence_after_a_call__begins_again)
{
	begin();
	for (int i = 0; i < 10; i++)
		tick_for(TICK);
	suspicion.strength = SOFT_INNOCENT;
	queue->activity++;
	tick_for(TICK);
	suspicion.strength = SOFT_STRONG;
	ck_assert_int_eq(ticks_until_report(), 11);
	end();
}

TEST(suspicion__what_is_not_possible_any_more__begins_again)
{
	begin();
	for (int i = 0; i < 10; i++)
		tick_for(TICK);
	possible = false;
	tick_for(TICK);
	possible = true;
	ck_assert_int_eq(ticks_until_report(), 11);
	end();
}

TEST(time__of_a_late_tick__counts_as_two)
{
	begin();
	tick_for(TICK);
	for (int i = 0; i < 4; i++)
		tick_for(100ull * SOFT_SECOND);
	ck_assert_int_eq(fake_reports, 0);
	tick_for(2 * TICK - 1);
	ck_assert_int_eq(fake_reports, 0);
	tick_for(1);
	ck_assert_int_eq(fake_reports, 1);
	end();
}

TEST(destroyed__no_report)
{
	begin();
	for (int i = 0; i < 10; i++)
		tick_for(TICK);
	queue->destroyed = true;
	ck_assert_int_eq(ticks_until_report(), 1000);
	end();
}

/* ---- the end of a program */

TEST(report__without_progress__ends_the_program_after_the_timeout)
{
	int n = 0;

	begin();
	/* The time before the report does not count. */
	ck_assert_int_eq(ticks_until_report(), 11);
	possible = false;
	for (; status < 0 && n < 1000; n++)
		tick_for(TICK);
	ck_assert_int_eq(n, 60);
	ck_assert_int_eq(status, 99);
	ck_assert_uint_eq(waited, 3 * SOFT_SECOND);
	end();
}

/* Progress, and another report: each begins the time again. */
TEST(report__and_then_something__begins_the_timeout_again)
{
	int n;

	for (int what = 0; what < 2; what++) {
		begin();
		ck_assert_int_eq(ticks_until_report(), 11);
		possible = false;
		for (n = 0; n < 59; n++)
			tick_for(TICK);
		ck_assert_int_eq(status, -1);
		if (what)
			fake_reports++;
		else
			soft_check_progress++;
		for (n = 0; status < 0 && n < 1000; n++)
			tick_for(TICK);
		/* The tick that sees it is the first. */
		ck_assert_int_eq(n, 61);
		end();
		soft_sentry_reset();
	}
}

TEST(no_report__the_program_is_not_ended)
{
	begin();
	possible = false;
	for (int n = 0; n < 200; n++)
		tick_for(TICK);
	ck_assert_int_eq(status, -1);
	end();
}

TEST(progress__is_told__once_for_each_tick_that_saw_some)
{
	unsigned int before;

	begin();
	possible = false;
	before = soft_tally->progress;
	tick_for(TICK);
	ck_assert_uint_eq(soft_tally->progress, before);
	soft_check_progress += 3;
	tick_for(TICK);
	tick_for(TICK);
	ck_assert_uint_eq(soft_tally->progress, before + 1);
	end();
}

/* ---- threads that spin */

/* While nothing makes progress, a thread that only polled since the last tick is not busy. */
TEST(spinners__are_excused__while_no_call_does_anything)
{
	static const struct {
		bool progress, polls, asleep, second, busy;
	} rows[] = {
		{ false, true, false, false, false },
		{ true, true, false, false, true },
		{ false, false, false, false, true },
		{ false, false, true, false, false },
		{ false, true, false, true, true },
	};

	begin();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		threads[0] = (struct soft_sleeper){ .thread = 5, .asleep = rows[i].asleep };
		threads[1] = (struct soft_sleeper){ .thread = 6 };
		thread_count = rows[i].second ? 2 : 1;
		tick_for(TICK);
		queue->polled.thread = 5;
		queue->activity += rows[i].polls;
		soft_check_progress += rows[i].progress;
		tick_for(TICK);
		ck_assert_msg(busy == rows[i].busy, "row %zu", i);
	}
	end();
}

/* ---- what is said: each number its own */

#define ASLEEP "thread 77 sleeps in sleeping() on its channel"

static const struct {
	enum soft_kind kind;
	const char *text;
	bool alone, asks, unread_end, never_armed, nothing, equal, bounded, wakes;
} texts[] = {
	{ .kind = SOFT_NEVER_ACKNOWLEDGED,
	    .text = "ibv_destroy_cq() still waits: 21 events were read, 22 acknowledged.",
	    .nothing = true },
	{ .kind = SOFT_NEVER_ACKNOWLEDGED,
	    .text = "ibv_destroy_cq() still waits: 21 events were read, 21 "
		    "acknowledged, and "
		    "an asynchronous event was not.",
	    .equal = true },
	{ .kind = SOFT_CONNECTION_ENDED,
	    .text =
		ASLEEP ", and the peer has disconnected. 13 requests are outstanding that will not "
		       "complete: nothing flushes them. The event DISCONNECTED was not read.",
	    .unread_end = true },
	{ .kind = SOFT_CONNECTION_ENDED,
	    .text =
		"no thread waits for its channel, and the peer has disconnected. 13 requests are "
		"outstanding that will not complete: nothing flushes them. The event DISCONNECTED "
		"was "
		"read, and nothing was done about it.",
	    .alone = true },
	{ .kind = SOFT_ARM_ERROR_IGNORED,
	    .text = "ibv_req_notify_cq() failed, and " ASLEEP ". No event will wake it.",
	    .asks = true },
	{ .kind = SOFT_ARM_ERROR_IGNORED,
	    .text =
		"ibv_req_notify_cq() failed, and the program asks for events of its channel, which "
		"does not block. No event will wake it.",
	    .alone = true,
	    .asks = true },
	{ .kind = SOFT_EVENT_UNREAD,
	    .text = "3 completions can be polled and their event was raised, but it is not "
		    "read; " ASLEEP "." },
	{ .kind = SOFT_UNSOLICITED,
	    .text = "3 completions can be polled, messages among them, and none is solicited. The "
		    "queue is "
		    "armed for solicited completions alone, and " ASLEEP "." },
	{ .kind = SOFT_NOT_LOOKED_AT_AGAIN,
	    .text = "3 completions could be polled already when the queue was armed. They were not "
		    "polled "
		    "after that, no event is due for them, and " ASLEEP "." },
	{ .kind = SOFT_NOT_LOOKED_AT_AGAIN,
	    .text =
		"3 completions are left that could be polled already when the queue was armed. The "
		"last poll found 31, as many as it asked for, so it did not empty the queue; no "
		"event "
		"is due for those that are left, and " ASLEEP ".",
	    .bounded = true },
	{ .kind = SOFT_SLEEPS_UNARMED,
	    .text = "3 completions can be polled, and " ASLEEP
		    ", of which no queue is armed. No event will wake it." },
	{ .kind = SOFT_SLEEPS_UNARMED,
	    .text = "3 completions can be polled, and " ASLEEP
		    ", of which no queue is armed; this one never was. No event will wake it.",
	    .never_armed = true },
	{ .kind = SOFT_SLEEPS_UNARMED,
	    .text = "3 completions can be polled, and " ASLEEP
		    "; this queue of it was never armed. No event comes for them.",
	    .wakes = true },
	{ .kind = SOFT_SLEEPS_UNARMED,
	    .text = "11 sends and 12 receives are outstanding, and " ASLEEP
		    ", of which no queue is armed. No event will wake it when they complete.",
	    .nothing = true },
	{ .kind = SOFT_SLEEPS_UNARMED,
	    .text =
		"11 sends and 12 receives are outstanding, and " ASLEEP
		", of which no queue is armed; this one never was. No event will wake it when they "
		"complete.",
	    .nothing = true,
	    .never_armed = true },
	{ .kind = SOFT_STRANDED,
	    .text =
		"3 completions can be polled, the queue was armed before and is not armed now, no "
		"event is due, and no thread polls; " ASLEEP "." },
};

TEST_LOOP(text__of_each_kind__its_own_numbers, sizeof texts / sizeof texts[0])
{
	begin();
	for (int i = 0; i < (texts[_i].nothing ? 0 : 3); i++)
		fake_complete(queue, (struct ibv_wc){ 0 }, true);
	suspicion = (struct soft_suspicion){ SOFT_STRONG, texts[_i].kind, texts[_i].alone ? 0 : 77,
		"sleeping()", 0, 0 };
	numbers = (struct soft_check_view){ .sends = 11,
		.receives = 12,
		.gone = 13,
		.unread_end = texts[_i].unread_end,
		.asks = texts[_i].asks,
		.was_armed = !texts[_i].never_armed };
	queue->events_read = 21;
	queue->events_acknowledged = texts[_i].equal ? 21 : 22;
	queue->found = 31;
	queue->wanted = texts[_i].bounded ? 31 : 32;
	queue->polled.when = 2;
	queue->armed.when = 1;
	queue->cq->unread = texts[_i].wakes;
	ck_assert_int_eq(ticks_until_report(), 11);
	ck_assert_int_eq(fake_kind, texts[_i].kind);
	ck_assert_str_eq(fake_text, texts[_i].text);
	end();
}

/* Bounded: it is known by the last poll alone if that came after the last arm. */
TEST(bounded__each_condition)
{
	begin();
	end();
	queue->found = queue->wanted = 4;
	queue->polled.when = 2;
	queue->armed.when = 1;
	ck_assert(soft_check_queue_is_bounded(queue));
	queue->armed.when = 2;
	ck_assert(!soft_check_queue_is_bounded(queue));
	queue->armed.when = 1;
	queue->found = 3;
	ck_assert(!soft_check_queue_is_bounded(queue));
}

/* What needs no time; and what a fault of the run is the reason of. */
/* origin: out38.A3 */
TEST(look_at__what_is_certain)
{
	begin();
	end();
	soft_sentry_look();
	ck_assert_int_eq(fake_reports, 0);
	queue->cq->overrun = true;
	soft_sentry_look();
	ck_assert_int_eq(fake_kind, SOFT_OVERRUN);
	queue->cq->overrun = false;
	fake_complete(
	    queue, (struct ibv_wc){ .status = IBV_WC_RNR_RETRY_EXC_ERR, .qp_num = 41 }, true);
	soft_record->fired = 1;
	soft_sentry_look();
	ck_assert_int_eq(fake_reports, 1);
	soft_record->fired = 0;
	soft_sentry_look();
	ck_assert_int_eq(fake_reports, 2);
	ck_assert_str_eq(fake_text,
	    "The connection of queue pair 41 failed: the peer had no receive for a message.");
	queue->destroyed = true;
	soft_sentry_look();
	queue->destroyed = false;
	queue->generation++;
	soft_sentry_look();
	ck_assert_int_eq(fake_reports, 2);
}

/* ---- calls that wait for acknowledgements of other objects */

static void
pending_ticks(int n, bool asleep)
{
	struct soft_sleeper own = { .thread = gettid(), .asleep = asleep };
	const struct soft_sleepers sleepers = { .threads = &own, .count = 1, .known = true };

	while (n--)
		soft_pending_look(&sleepers, TICK);
}

TEST(pending__a_thread_that_sleeps_so_long__is_reported_once)
{
	struct soft_judged_wait wait = {
		.call = "call()", .object = "thing", .number = 9, .read = 51, .acknowledged = 52
	};
	const unsigned int progress = soft_check_progress;

	begin();
	end();
	scripted = true;
	ck_assert(!soft_pending_any());
	soft_pending_begin(&wait);
	ck_assert(soft_pending_any());
	pending_ticks(9, true);
	pending_ticks(100, false);
	ck_assert_int_eq(fake_reports, 0);
	pending_ticks(1, true);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_NEVER_ACKNOWLEDGED);
	ck_assert_str_eq(
	    fake_text, "call() still waits: 51 events of the thing were read, 52 acknowledged.");
	pending_ticks(100, true);
	ck_assert_int_eq(fake_reports, 1);
	soft_pending_end(&wait);
	ck_assert(!soft_pending_any());
	ck_assert_uint_eq(soft_check_progress, progress + 1);
	scripted = false;
}

/* Another thread may have the event in its hands; each that it acknowledges is progress. */
/* origin: out33.R6 */
TEST(pending__another_thread_may_acknowledge__takes_five_times_as_long)
{
	struct soft_judged_wait wait = { .call = "call()", .object = "thing", .read = 3 };
	struct soft_sleeper two[] = { { .thread = gettid(), .asleep = true, .call = SYS_futex },
		{ .thread = 1, .asleep = true, .timed = true, .call = SYS_nanosleep } };
	const struct soft_sleepers sleepers = { .threads = two, .count = 2, .known = true };

	begin();
	end();
	scripted = true;
	soft_pending_begin(&wait);
	two[1].arguments[0] = 1;
	for (uint32_t acknowledged = 0; acknowledged < 3; acknowledged++) {
		soft_pending_progress(&wait, acknowledged);
		soft_pending_progress(&wait, acknowledged);
		for (int n = 0; n < 49; n++)
			soft_pending_look(&sleepers, TICK);
		ck_assert_int_eq(fake_reports, 0);
	}
	soft_pending_look(&sleepers, TICK);
	ck_assert_str_eq(
	    fake_text, "call() still waits: 3 events of the thing were read, 2 acknowledged.");
	soft_pending_end(&wait);
	scripted = false;
}
