/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MANY: concurrency, and the order in which events are claimed.  Four upcalls at once are
 * guaranteed; the order in which their threads enter the consumer's function is not.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

#define AT_ONCE 4

/* Each upcall waits until the test releases its event. */
static _Atomic(bool) released[256];

static void
waits_for_release(struct up *up, const DAT_EVENT *event)
{
	DAT_UINT64 value = up_value(event);

	(void)up;
	for (int i = 0; !released[value] && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
	ck_assert(released[value]);
}

static void
begin(struct up *up, struct dt_side *side, DAT_UPCALL_POLICY policy, DAT_EVD_FLAGS flags)
{
	for (size_t i = 0; i < sizeof released / sizeof released[0]; i++)
		released[i] = false;
	up_begin(up, side, policy, flags);
	up->act = waits_for_release;
}

static void
release_all(void)
{
	for (size_t i = 0; i < sizeof released / sizeof released[0]; i++)
		released[i] = true;
}

static pthread_barrier_t barrier;

static void
meets_the_others(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	(void)event;
	pthread_barrier_wait(&barrier);
}

DT_CASE("many:concurrency");

/* clause: c.14.9 */
TEST_LOOP(many__four_upcalls__meet_at_a_barrier, dt_personalities())
{
	struct dt_side side;
	struct up up;

	pthread_barrier_init(&barrier, NULL, AT_ONCE);
	dt_personality(_i);
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up.act = meets_the_others;
	for (uintptr_t i = 0; i < 5 * AT_ONCE; i++)
		dt_post_se(up.evd, i);
	up_await_returned(&up, 5 * AT_ONCE); /* it would hang with three */
	up_set(&up, DAT_UPCALL_TEARDOWN);
	pthread_barrier_destroy(&barrier);
	dt_side_close(&side);
}

/* clause: c.14.9 */
TEST_LOOP(many__four_completions__meet_at_a_barrier, dt_personalities())
{
	struct dt_pair pair;
	struct up up;

	pthread_barrier_init(&barrier, NULL, AT_ONCE);
	dt_personality(_i);
	up_init(&up);
	up.act = meets_the_others;
	up_connect(&up, &pair, DAT_UPCALL_MANY, 2 * AT_ONCE);
	for (DAT_UINT64 i = 0; i < 2 * AT_ONCE; i++)
		up_send(&pair, i);
	up_await_returned(&up, 2 * AT_ONCE);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	pthread_barrier_destroy(&barrier);
	dt_pair_close(&pair);
}

/* clause: c.14.9 */
TEST(many__each_upcall__has_a_thread_of_its_own)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (int i = 0; i < AT_ONCE; i++) {
		dt_post_se(up.evd, (uintptr_t)i);
		up_await_inside(&up, i + 1);
	}
	for (int i = 0; i < AT_ONCE; i++)
		for (int j = 0; j < i; j++)
			ck_assert(!pthread_equal(up.notes[i].thread, up.notes[j].thread));
	release_all();
	up_await_returned(&up, AT_ONCE);
	dt_side_close(&side);
}

DT_CASE("many:order");

/* clause: c.14.9 */
/* origin: attack.C6 */
TEST(many__all_stand_and_one_returns__the_oldest_event_starts_next)
{
	struct dt_side side;
	int standing;
	struct up up;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 20; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, AT_ONCE);
	dt_nap_ms(5);
	standing = up.entered;
	/* The first events are inside, in any order of entry. */
	for (int i = 0; i < standing; i++)
		ck_assert_uint_lt(up_value(&up.notes[i].event), (DAT_UINT64)standing);
	/* The last upcall returns first: the order of returns is free, that of starts is not. */
	for (int next = standing; next < 20; next++) {
		released[next - 1] = true;
		up_await_entered(&up, next + 1);
		ck_assert_uint_eq(up_value(&up.notes[next].event), (DAT_UINT64)next);
	}
	release_all();
	up_await_returned(&up, 20);
	dt_side_close(&side);
}

/* clause: c.14.9 */
TEST(many__ended_in_reverse__each_event_once)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (int i = 0; i < AT_ONCE; i++) {
		dt_post_se(up.evd, (uintptr_t)i);
		up_await_inside(&up, i + 1);
	}
	for (int i = AT_ONCE - 1; i >= 0; i--) {
		released[i] = true;
		up_await_returned(&up, AT_ONCE - i);
	}
	up_assert_values(&up, 0, AT_ONCE);
	up_assert_no_more(&up, AT_ONCE);
	dt_side_close(&side);
}

static void
adds_up(struct up *up, const DAT_EVENT *event)
{
	_Atomic(int) *seen = up->arg;

	seen[up_value(event)]++;
}

DT_CASE("many:concurrency");

/* clause: c.14.9 */
TEST(many__many_events__none_lost_none_twice)
{
	enum { EVENTS = 900 };
	static _Atomic(int) seen[EVENTS];
	struct dt_side side;
	struct up up;

	up_init(&up);
	up.act = adds_up;
	up.arg = seen;
	dt_side_open(&side, "soft", DT_SEPARATE);
	up_open_length(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG, EVENTS);
	for (uintptr_t i = 0; i < EVENTS; i++)
		dt_post_se(up.evd, i);
	up_await_returned(&up, EVENTS);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	for (int i = 0; i < EVENTS; i++)
		ck_assert_int_eq(seen[i], 1);
	dt_side_close(&side);
}

DT_CASE("many:order");

/* clause: c.14.9, c.14.5 */
TEST(many__more_events__never_promises_what_is_not_there)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	release_all();
	for (uintptr_t i = 0; i < 8; i++)
		dt_post_se(up.evd, i);
	up_set(&up, DAT_UPCALL_MANY);
	up_await_returned(&up, 8);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(
		    up.notes[i].more, up_value(&up.notes[i].event) < 7 ? DAT_TRUE : DAT_FALSE);
	dt_side_close(&side);
}

DT_CASE("many:concurrency");

/* clause: c.14.9 */
TEST(many__of_one_evd_all_stand__upcalls_of_another_still_come)
{
	struct dt_side side;
	struct up up, other;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up_init(&other);
	up_open(&other, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 12; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, AT_ONCE);
	dt_post_se(other.evd, 1);
	up_await_returned(&other, 1);
	release_all();
	up_await_returned(&up, 12);
	dt_side_close(&side);
}

DT_CASE("many:changes");

/* clause: c.14.8, c.14.9, c.14.18 */
TEST(many_to_single__while_they_stand__the_next_waits_for_the_last)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (int i = 0; i < AT_ONCE; i++) {
		dt_post_se(up.evd, (uintptr_t)i);
		up_await_inside(&up, i + 1);
	}
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	for (uintptr_t i = AT_ONCE; i < AT_ONCE + 3; i++)
		dt_post_se(up.evd, i);
	for (int i = 0; i < AT_ONCE - 1; i++) {
		released[i] = true;
		up_await_returned(&up, i + 1);
		up_assert_no_more(&up, AT_ONCE);
	}
	released[AT_ONCE - 1] = true;
	for (int i = AT_ONCE; i < AT_ONCE + 3; i++) {
		up_await_entered(&up, i + 1);
		up_assert_no_more(&up, i + 1);
		ck_assert_int_eq(up.inside, 1);
		ck_assert_uint_eq(up_value(&up.notes[i].event), (DAT_UINT64)i);
		released[i] = true;
	}
	up_await_returned(&up, AT_ONCE + 3);
	dt_side_close(&side);
}

/* clause: c.14.9, c.14.18 */
TEST(single_to_many__while_one_stands__others_start_beside_it)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 3; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, 1);
	up_assert_no_more(&up, 1);
	up_set(&up, DAT_UPCALL_MANY);
	up_await_inside(&up, 3);
	release_all();
	up_await_returned(&up, 3);
	dt_side_close(&side);
}

/* clause: c.14.9, c.14.18 */
TEST(many_to_norify__while_they_run__called_after_the_last_returned)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (int i = 0; i < 2; i++) {
		dt_post_se(up.evd, (uintptr_t)i);
		up_await_inside(&up, i + 1);
	}
	up_set(&up, DAT_UPCALL_NORIFY);
	dt_post_se(up.evd, 2);
	up_assert_no_more(&up, 2);
	up.act = NULL; /* for the one that is to come */
	release_all();
	up_await_returned(&up, 3);
	ck_assert_int_eq(up.nulls, 1);
	up_drain(&up, NULL);
	up_assert_values(&up, 0, 3);
	dt_side_close(&side);
}

/* clause: c.14.9, c.14.10 */
TEST(many__disabled_while_they_stand__they_end_and_no_other_starts)
{
	struct dt_side side;
	struct up up;

	begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 10; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, AT_ONCE);
	up_set(&up, DAT_UPCALL_DISABLE);
	ck_assert_int_eq(up.returned, 0); /* DISABLE does not wait */
	up_assert_no_more(&up, AT_ONCE);
	release_all();
	up_await_returned(&up, AT_ONCE);
	up_assert_no_more(&up, AT_ONCE);
	up_drain(&up, NULL);
	ck_assert_int_eq(up.noted, 10);
	dt_side_close(&side);
}

DT_CASE("many:order");

/* clause: c.14.9 */
TEST(many__stepped_by_hand__starts_in_the_order_of_the_events)
{
	struct dt_side side;
	DAT_COUNT done;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft-step", DT_SEPARATE);
	up_open(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 12; i++)
		dt_post_se(up.evd, i);
	ck_assert_int_eq(up.entered, 0);
	for (int i = 0; i < 100 && up.entered < 12; i++)
		dt_ok(dat_ia_step(side.ia, 0, &done));
	up_assert_values(&up, 0, 12);
	dt_side_close(&side);
}

/* Limits descriptors to those that are open now: threads of a pool need more. */
static struct rlimit
no_more_descriptors(void)
{
	struct rlimit before, now;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	now = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &now), 0);
	return before;
}

DT_CASE("many:concurrency");

/* clause: c.14.9, c.14.2 */
TEST(many__no_threads_to_be_had__is_a_shortage_and_changes_nothing)
{
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)5;
	struct rlimit before;
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	before = no_more_descriptors();
	dt_assert_type(
	    up_try(&up, DAT_UPCALL_MANY, DAT_UPCALL_INVOC_ANY), DAT_INSUFFICIENT_RESOURCES);
	dt_assert_type(
	    dat_evd_kcreate(side.ia, 8, DAT_UPCALL_MANY, &up.object, DAT_EVD_SOFTWARE_FLAG, &evd),
	    DAT_INSUFFICIENT_RESOURCES);
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)5);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	up_assert_policy(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_set(&up, DAT_UPCALL_MANY);
	up_assert_policy(&up, DAT_UPCALL_MANY);
	dt_side_close(&side);
}
