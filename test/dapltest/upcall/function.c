/* SPDX-License-Identifier: BSD-3-Clause */
/* The upcall function: its arguments, and the thread that calls it */
#include <signal.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

/* ---- the arguments of an upcall ---- */

DT_CASE("function:arguments");

/* clause: c.14.3, c.14.4 */
TEST_LOOP(upcall__gets_its_instance_and_a_copy_of_the_event, 2)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 42);
	up_await_returned(&up, 1);
	ck_assert_ptr_eq(up.notes[0].instance, &up);
	ck_assert_int_eq(up.notes[0].event.event_number, DAT_SOFTWARE_EVENT);
	ck_assert_ptr_eq(up.notes[0].event.evd_handle, up.evd);
	ck_assert_uint_eq(up_value(&up.notes[0].event), 42);
	dt_assert_empty(up.evd);
	dt_side_close(&side);
}

static void
looks_for_its_event(struct up *up, const DAT_EVENT *event)
{
	DAT_EVENT next;

	(void)event;
	dt_assert_type(dat_evd_dequeue(up->evd, &next), DAT_QUEUE_EMPTY);
}

/* clause: c.14.4 */
TEST_LOOP(upcall__its_event__has_left_the_queue, 2)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up.act = looks_for_its_event;
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	dt_side_close(&side);
}

static DAT_UINT64 seen_late;

static void
reads_its_event_late(struct up *up, const DAT_EVENT *event)
{
	up_await_entered(up, 1);
	dt_nap_ms(5);
	seen_late = up_value(event);
}

/* clause: c.14.3 */
TEST(upcall__the_event__stays_readable_until_it_returns)
{
	struct dt_side side;
	DAT_EVENT other;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.act = reads_its_event_late;
	dt_post_se(up.evd, 11);
	up_await_entered(&up, 1);
	/* Meanwhile the entries of the queue are reused. */
	for (uintptr_t i = 0; i < 200; i++) {
		dt_post_se(up.evd, 1000 + i);
		(void)dat_evd_dequeue(up.evd, &other);
	}
	up_await_returned(&up, 1);
	ck_assert_uint_eq(seen_late, 11);
	dt_side_close(&side);
}

static _Atomic(unsigned int) read_late;

static void
reads_its_event_behind_the_gate(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	read_late |= 1u << up_value(event);
}

/* clause: c.14.3 */
TEST(upcall__the_event__is_not_that_of_another_upcall)
{
	const int n = up_standing(DAT_UPCALL_MANY);
	struct dt_side side;
	struct up up;

	read_late = 0;
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up.act = reads_its_event_behind_the_gate;
	up_let_stand(&up, DAT_UPCALL_MANY);
	up.gate = false;
	up_await_returned(&up, n);
	ck_assert_uint_eq(read_late, (1u << n) - 1);
	dt_side_close(&side);
}

/* clause: c.14.5 */
TEST(more_events__single__true_for_all_but_the_last)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 5; i++)
		dt_post_se(up.evd, i);
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_await_returned(&up, 5);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(up.notes[i].more, i < 4 ? DAT_TRUE : DAT_FALSE);
	dt_side_close(&side);
}

/* clause: c.14.5 */
TEST_LOOP(more_events__one_event__false, 2)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	ck_assert_int_eq(up.notes[0].more, DAT_FALSE);
	dt_side_close(&side);
}

static _Atomic(int) reported_more;

static void
notes_more(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	if (more)
		reported_more++;
	up_upcall(instance, event, more);
}

/* clause: c.14.5, c.14.6 */
TEST(more_events__norify__true_if_something_is_queued)
{
	struct dt_side side;
	struct up up;

	reported_more = 0;
	up_init(&up);
	up.object.upcall_func = notes_more;
	up.act = up_drain;
	dt_side_open(&side, "soft", DT_SEPARATE);
	up_open(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	up_await_noted(&up, 1);
	ck_assert_int_eq(reported_more, 1);
	dt_side_close(&side);
}

/* ---- threads ---- */

static sigset_t mask_inside;
static int cancel_inside;

static void
looks_at_its_thread(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	(void)event;
	pthread_sigmask(SIG_BLOCK, NULL, &mask_inside);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_inside);
}

DT_CASE("function:thread");

/* clause: c.14.35 */
TEST_LOOP(upcall__its_thread__takes_no_signals_and_cannot_be_cancelled, UP_ENABLING)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD };
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up.act = looks_at_its_thread;
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		ck_assert_int_eq(sigismember(&mask_inside, signals[i]), 1);
	ck_assert_int_eq(cancel_inside, PTHREAD_CANCEL_DISABLE);
	dt_side_close(&side);
}

static void
cancels_itself(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	if (up->entered == 1)
		pthread_cancel(pthread_self());
}

/* clause: c.14.7, c.14.35 */
TEST_LOOP(upcall__its_thread_is_cancelled__goes_on, UP_ENABLING)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up.act = cancels_itself;
	for (int i = 0; i < 5; i++) {
		dt_post_se(up.evd, (uintptr_t)i);
		up_await_returned(&up, i + 1);
	}
	dt_side_close(&side);
}
