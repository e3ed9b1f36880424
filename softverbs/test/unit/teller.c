/* SPDX-License-Identifier: BSD-3-Clause */
/* teller -- lines about sends that wait for a receive, from a thread that may wait itself */
#include "starve.h"
#include "story.h"

#include "softverbs/device/teller.h"
#include "softverbs/soft_arm.h"

#define STALLS 64

static unsigned int told[128];
static atomic_uint count, release;

/* Waits at each until it may go on. */
static void
tell(unsigned int qp_num)
{
	told[count] = qp_num;
	count++;
	while (!release)
		sleep_ms(1);
}

static void
await(unsigned int want)
{
	for (int i = 0; i < 10000 && (count < want || runner_count_threads() > 1); i++)
		sleep_ms(1);
	ck_assert_uint_eq(count, want);
}

CASE("soft-teller:teller");

/* Those that come while the reader reads no more wait, as many as there is room for. */
/* origin: out33.R1 */
TEST(stalls__more_than_are_kept__the_first_are_told_and_the_later_ones_again)
{
	soft_tell_stalls_to(tell);
	soft_tell_stall(1);
	for (int i = 0; i < 10000 && !count; i++)
		sleep_ms(1);
	for (unsigned int i = 0; i < STALLS + 4; i++)
		soft_tell_stall(100 + i);
	ck_assert_uint_eq(count, 1);
	release = 1;
	await(1 + STALLS);
	ck_assert_uint_eq(told[0], 1);
	for (unsigned int i = 1; i <= STALLS; i++) {
		ck_assert_uint_ge(told[i], 100);
		ck_assert_uint_lt(told[i], 100 + STALLS);
	}
	soft_tell_stall(7);
	await(2 + STALLS);
	ck_assert_uint_eq(told[1 + STALLS], 7);
}

/* Without a thread it is lost, and no other; in a forked child none is there from before. */
/* origin: out33.R1 */
TEST(stall__without_a_thread_or_before_a_fork__is_lost)
{
	release = 1;
	soft_tell_stalls_to(tell);
	starve_countdown = 1;
	soft_tell_stall(1);
	ck_assert_str_eq(starve_failing, "pthread_create");
	soft_tell_stall(2);
	await(1);
	ck_assert_uint_eq(told[0], 2);
	soft_teller_reset();
	soft_tell_stall(3);
	await(2);
	ck_assert_uint_eq(told[1], 3);
}

TEST(stall__is_a_line_on_standard_error)
{
	char want[256], text[256] = "";
	const int saved = dup(2);
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], 2);
	soft_tell_stall(0xab);
	ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
	dup2(saved, 2);
	sprintf(want,
	    "softverbs[%d]: a send of queue pair 0xab has waited for 2 s: the other end has posted "
	    "no receive\n",
	    (int)getpid());
	ck_assert_str_eq(text, want);
	await(0);
	close(saved);
	close(ends[0]);
	close(ends[1]);
}
