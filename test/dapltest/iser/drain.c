/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_dat.h"
#include "lib/runner.h"

#include "iser/datamover/watch.h"

static struct watch watch;
static int taken;
static int last;

static void
take(void *context, const DAT_EVENT *event)
{
	int *number = event->event_data.software_event_data.pointer;

	ck_assert_ptr_eq(context, &watch);
	ck_assert_int_eq(fake.policy, DAT_UPCALL_DISABLE);
	ck_assert_int_eq(*number, last + 1);
	last = *number;
	taken++;
}

static int numbers[FAKE_MAX];
static int next_number;

static void
queue_one(void)
{
	numbers[next_number] = next_number + 1;
	fake_queue_software(&numbers[next_number++]);
}

static void
open_watch(void)
{
	fake_reset();
	taken = last = next_number = 0;
	ck_assert_uint_eq(
	    watch_open(&watch, &watch, 10, DAT_EVD_SOFTWARE_FLAG, take, &watch), DAT_SUCCESS);
}

CASE("iser-drain:pattern", open_watch);

TEST(drain__one_event__is_taken_and_upcalls_are_enabled_again)
{
	queue_one();
	fake_run();
	ck_assert_int_eq(taken, 1);
	ck_assert_int_eq(fake.upcalls, 1);
	ck_assert_int_eq(fake.policy, DAT_UPCALL_SINGLE_INSTANCE);
	ck_assert_uint_eq(watch.drain.error, DAT_SUCCESS);
}

TEST(drain__many_events__are_taken_in_one_upcall)
{
	for (int i = 0; i < 20; i++)
		queue_one();
	fake_run();
	ck_assert_int_eq(taken, 20);
	ck_assert_int_eq(fake.upcalls, 1);
	ck_assert_uint_eq(watch.drain.largest, 20);
}

static int slips;

static void
slip_in(void)
{
	if (slips-- > 0)
		queue_one();
}

TEST(drain__event_between_dequeue_and_enable__is_taken_in_the_same_upcall)
{
	slips = 3;
	fake.on_enable = slip_in;
	queue_one();
	fake_run();
	ck_assert_int_eq(taken, 4);
	ck_assert_int_eq(fake.upcalls, 1);
	ck_assert_int_eq(fake.refusals, 3);
	ck_assert_uint_eq(watch.drain.refusals, 3);
	ck_assert_int_eq(fake.queued, 0);
	ck_assert_int_eq(fake.policy, DAT_UPCALL_SINGLE_INSTANCE);
	ck_assert_uint_eq(watch.drain.error, DAT_SUCCESS);
}

TEST(drain__more_events_than_the_budget__lets_others_have_a_turn)
{
	for (int i = 0; i < DRAIN_BUDGET + 10; i++)
		queue_one();
	fake_run();
	ck_assert_int_eq(taken, DRAIN_BUDGET + 10);
	ck_assert_int_eq(fake.upcalls, 2);
	ck_assert_int_eq(fake.any_enables, 1);
	ck_assert_int_eq(fake.policy, DAT_UPCALL_SINGLE_INSTANCE);
}

TEST(drain__dequeue_fails__is_remembered_and_reported_when_closed)
{
	struct tally tally = { .upcalls = 0 };

	fake.fail_dequeue = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE); /* as after an overflow */
	queue_one();
	fake_run();
	ck_assert_int_eq(taken, 1);
	ck_assert_int_eq(fake.policy, DAT_UPCALL_DISABLE);
	ck_assert_uint_eq(DAT_GET_TYPE(watch.drain.error), DAT_INVALID_STATE);
	ck_assert_str_eq(watch.drain.error_call, "dat_evd_dequeue");
	ck_assert_int_eq(watch_close(&watch, &tally), 1);
}

/* As after the removal of the device, which ends no handle. */
/* origin: out37.DD11 */
TEST_LOOP(drain__upcalls_that_cannot_be_enabled_again__events_are_taken_by_hand, 2)
{
	DAT_RETURN *fails = _i ? &fake.fail_enable : &fake.fail_dequeue;
	struct tally tally = { .upcalls = 0 };

	*fails = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	queue_one();
	fake_run();
	ck_assert_int_eq(taken, 1);
	ck_assert(atomic_load(&watch.drain.stuck));
	fake.fail_dequeue = DAT_SUCCESS;
	for (int i = 0; i < 3; i++) {
		queue_one();
		fake_run();
		ck_assert_int_eq(taken, 1 + i);
		drain_by_hand(&watch.drain, watch.evd);
		ck_assert_int_eq(taken, 2 + i);
	}
	ck_assert_int_eq(fake.upcalls, 1);
	ck_assert_int_eq(watch_close(&watch, &tally), 1);
}

TEST(watch_close__adds_to_the_tally_and_a_second_time_does_nothing)
{
	struct tally tally = { .upcalls = 5, .largest = 1 };

	queue_one();
	queue_one();
	fake_run();
	ck_assert_int_eq(watch_close(&watch, &tally), 0);
	ck_assert_int_eq(fake.policy, DAT_UPCALL_TEARDOWN);
	ck_assert_int_eq(fake.evds, 0);
	ck_assert_uint_eq(tally.upcalls, 6);
	ck_assert_uint_eq(tally.events, 2);
	ck_assert_uint_eq(tally.largest, 2);
	ck_assert_uint_eq(tally.evd.upcalls, 1);
	ck_assert_int_eq(watch_close(&watch, &tally), 0);
	ck_assert_uint_eq(tally.upcalls, 6);
}
