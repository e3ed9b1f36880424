/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard -- sockets in which foreign descriptors wait: none is taken, each is closed once, and not by
 * the thread that closes the socket
 */
#include "starve.h"
#include "story.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "softverbs/device/guard.h"

struct trap {
	int end;  /* ours, in which a descriptor waits */
	int pipe; /* hung up when that is closed */
};

static void
trap_make(struct trap *trap)
{
	int ends[2], passed[2];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS,
			  .cmsg_len = CMSG_LEN(sizeof(int)) } };
	char x = 'x';
	struct iovec iov = { &x, 1 };
	const struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	ck_assert_int_eq(pipe2(passed, O_CLOEXEC), 0);
	memcpy(CMSG_DATA(&control.header), &passed[1], sizeof passed[1]);
	ck_assert_int_eq(sendmsg(ends[1], &message, 0), 1);
	close(ends[1]);
	close(passed[1]);
	*trap = (struct trap){ ends[0], passed[0] };
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

/* origin: out33.M2 */
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
/* origin: out33.M2 */
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
