/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard -- sockets in which foreign descriptors wait: none is taken, each is closed once, and not
 * by the thread that closes the socket
 */
#include "line.h"
#include "starve.h"
#include "story.h"

#include <fcntl.h>

#include "softverbs/device/guard.h"

struct trap {
	int end;  /* ours, in which a descriptor waits */
	int pipe; /* hung up when that is closed */
};

static void
trap_make(struct trap *trap)
{
	int passed[2];

	ck_assert_int_eq(pipe2(passed, O_CLOEXEC), 0);
	*trap = (struct trap){ line_trap(passed[1]), passed[0] };
}

static bool
trap_is_closed(const struct trap *trap, int ms)
{
	return poll(&(struct pollfd){ .fd = trap->pipe }, 1, ms) == 1;
}

/* As on a kernel that cannot refuse descriptors. */
static void
be_suspicious(void)
{
	soft_guard_begin(-1);
}

CASE("soft-guard:guard", be_suspicious, soft_guard_stop);

/* origin: out33.M2, out33.U13 */
TEST(foreign_descriptor__is_not_taken__and_is_closed_once_elsewhere)
{
	struct trap first, second;
	char byte;
	int fd;

	trap_make(&first);
	trap_make(&second);
	errno = 0;
	ck_assert_int_eq(soft_guard_receive(first.end, &byte, 1), -1);
	ck_assert_int_eq(errno, EBADMSG);
	errno = EXDEV;
	soft_guard_close(first.end);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert(trap_is_closed(&first, 2000));
	for (int i = 0; fcntl(first.end, F_GETFD) >= 0 && i < 2000; i++)
		sleep_ms(1);
	/* What takes its place is not closed with the next one. */
	fd = dup2(second.pipe, first.end);
	ck_assert_int_eq(fd, first.end);
	soft_guard_close(second.end);
	ck_assert(trap_is_closed(&second, 2000));
	sleep_ms(5);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	close(fd);
	close(first.pipe);
	close(second.pipe);
}

/* It is closed with the next one, or at the end. */
/* origin: out33.M2, out33.U13 */
TEST_LOOP(foreign_descriptor__without_a_thread_to_close_it__is_closed_later, 2)
{
	struct trap first, second;

	for (int n = 1; n < 100; n++) {
		trap_make(&first);
		starve_countdown = n;
		starve_failing = "";
		soft_guard_close(first.end);
		starve_countdown = 0;
		if (!strcmp(starve_failing, "pthread_create"))
			break;
		ck_assert_msg(trap_is_closed(&first, 2000), "%d: %s", n, starve_failing);
		close(first.pipe);
	}
	ck_assert_str_eq(starve_failing, "pthread_create");
	ck_assert(!trap_is_closed(&first, 20));
	if (_i) {
		trap_make(&second);
		soft_guard_close(second.end);
		ck_assert(trap_is_closed(&second, 2000));
		close(second.pipe);
	} else {
		soft_guard_stop();
	}
	ck_assert(trap_is_closed(&first, 2000));
	close(first.pipe);
}

/* The oldest is interrupted for the ninth; what is left ends with the device. */
/* origin: out33.M2 */
TEST(foreign_descriptors__more_that_take_long_than_threads__the_oldest_is_interrupted)
{
	const int threads = runner_count_threads();
	int far_ends[10];

	for (int i = 0; i < 10; i++) {
		soft_guard_close(line_trap(line_lingering(&far_ends[i])));
		for (int k = 0; runner_count_threads() != threads + (i < 8 ? i + 1 : 7) && k < 2000;
		     k++)
			sleep_ms(1);
		ck_assert_int_eq(runner_count_threads(), threads + (i < 8 ? i + 1 : 7));
		sleep_ms(5); /* it is at its socket */
	}
	soft_guard_stop();
	ck_assert_int_eq(runner_count_threads(), threads);
	for (int i = 0; i < 10; i++)
		close(far_ends[i]);
}
