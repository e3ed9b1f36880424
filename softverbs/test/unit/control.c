/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control -- the clients that command a process: softverbs-ctl, and programs like it
 */
#include "incidents.h"
#include "patience.h"
#include "starve.h"
#include "story.h"
#include "lib/feature.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "softverbs/control/client.h"
#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"

#define CLIENTS 16
#define PATIENCE (5ull * SOFT_SECOND)

static struct side side;

static void
setup(void)
{
	incidents_begin();
	side_make(&side, NULL);
}

static void
teardown(void)
{
	side_free(&side);
	patience_end();
}

static int
control_connect(void)
{
	const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	const socklen_t size = soft_name_control_address(&address, soft_slot_number());

	ck_assert_int_eq(connect(line, (struct sockaddr *)&address, size), 0);
	return line;
}

/* Hung up, within two seconds. */
static bool
is_closed(int line, int ms)
{
	char byte;

	return poll(&(struct pollfd){ .fd = line, .events = POLLIN }, 1, ms) == 1 &&
	       recv(line, &byte, 1, 0) <= 0;
}

static void
expect_answer(int line, const char *request, const char *begins)
{
	char answer[65536];
	ssize_t n;

	ck_assert_int_eq(send(line, request, strlen(request), 0), (ssize_t)strlen(request));
	n = recv(line, answer, sizeof answer - 1, 0);
	ck_assert_int_gt(n, 0);
	answer[n] = '\0';
	ck_assert_msg(!strncmp(answer, begins, strlen(begins)), "%s: %s", request, answer);
}

CASE("soft-control:control", setup, teardown);

/* One answer each; then the client is hung up. */
/* origin: out33.W3 */
TEST(client__asks_late_or_not_at_all__is_answered_or_forgotten)
{
	const int fds = runner_count_fds();
	int line = control_connect();

	sleep_ms(5);
	expect_answer(line, "\ndo event.sm_change", "+0\n");
	ck_assert(is_closed(line, 2000));
	close(line);
	line = control_connect();
	expect_answer(line, "x", "-11\nno request\n");
	close(line);
	line = control_connect();
	sleep_ms(5);
	close(line);
	line = control_connect();
	close(line);
	for (int i = 0; i < (int)runner_stretch(10000) && runner_count_fds() > fds; i++)
		sleep_ms(1);
	ck_assert_int_eq(runner_count_fds(), fds);
}

/* The one that has waited for longest makes room. */
/* origin: out33.W3 */
TEST(clients__more_than_there_is_room_for__the_oldest_is_hung_up)
{
	int lines[CLIENTS + 2];

	for (int i = 0; i < CLIENTS; i++)
		lines[i] = control_connect();
	ck_assert(!is_closed(lines[0], 20));
	for (int i = CLIENTS; i < CLIENTS + 2; i++)
		lines[i] = control_connect();
	ck_assert(is_closed(lines[0], 2000));
	ck_assert(is_closed(lines[1], 2000));
	ck_assert(!is_closed(lines[2], 20));
	expect_answer(lines[CLIENTS + 1], "0\ndump", "=0\n");
	expect_answer(lines[2], "0\ndump", "=0\n");
	for (int i = 0; i < CLIENTS + 2; i++)
		close(lines[i]);
}

/* origin: out33.W3 */
TEST(client__that_is_silent__has_five_seconds)
{
	const uint64_t before = soft_now();
	const int line = control_connect(), second = control_connect();
	uint64_t deadline, next;

	sleep_ms(20);
	for (int i = 0; (deadline = soft_clients_close(0)) == UINT64_MAX && i < 2000; i++)
		sleep_ms(1);
	ck_assert_uint_ge(deadline, before + PATIENCE);
	ck_assert_uint_le(deadline, soft_now() + PATIENCE);
	ck_assert_uint_eq(soft_clients_close(deadline - 1), deadline);
	ck_assert(!is_closed(line, 0));
	next = soft_clients_close(deadline);
	ck_assert_uint_gt(next, deadline);
	ck_assert(is_closed(line, 2000));
	ck_assert(!is_closed(second, 0));
	ck_assert_uint_eq(soft_clients_close(next), UINT64_MAX);
	ck_assert(is_closed(second, 2000));
	close(line);
	close(second);
}

/* A dump that no socket takes whole, and a reader that begins late. */
/* origin: out33.W3 */
TEST(answer__longer_than_a_socket_takes__arrives_whole)
{
	enum { IDS = 3000 };
	static char answer[4 << 20];
	struct rdma_event_channel *events = cm_channel();
	struct rdma_cm_id *ids[IDS];
	size_t length = 0, count = 0;
	const int line = control_connect();
	ssize_t n;

	for (int i = 0; i < IDS; i++)
		ck_assert_int_eq(rdma_create_id(events, &ids[i], NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(send(line, "\ndump", 5, 0), 5);
	sleep_ms(20);
	while ((n = recv(line, answer + length, sizeof answer - 1 - length, 0)) > 0)
		length += (size_t)n;
	ck_assert_int_eq(n, 0);
	answer[length] = '\0';
	for (const char *at = answer; (at = strstr(at, "\"connection\":")); at++)
		count++;
	ck_assert_uint_eq(count, IDS);
	ck_assert_int_eq(answer[0], '+');
	ck_assert_uint_eq(strtoul(answer + 1, NULL, 10) + strcspn(answer, "\n") + 1, length);
	close(line);
	for (int i = 0; i < IDS; i++)
		ck_assert_int_eq(rdma_destroy_id(ids[i]), 0);
	rdma_destroy_event_channel(events);
}

/* Without a descriptor none is accepted for a time; another error passes. */
/* origin: out33.W3 */
TEST_LOOP(client__cannot_be_accepted__waits_and_is_answered, 5)
{
	static const int errors[] = { EMFILE, ENFILE, ENOMEM, ENOBUFS, ECONNABORTED };
	const uint64_t before = soft_now();
	int line;

	starve_accept = errors[_i];
	line = control_connect();
	expect_answer(line, "0\ndump", "=0\n");
	ck_assert_int_eq(starve_accept, 0);
	if (_i < 4)
		ck_assert_uint_ge(soft_now(), before + 100 * SOFT_MILLISECOND);
	else
		ck_assert_uint_lt(soft_now(), before + 100 * SOFT_MILLISECOND);
	close(line);
	line = control_connect(); /* the pause is over */
	expect_answer(line, "0\ndump", "=0\n");
	close(line);
}

static void
setup_starved(void)
{
	starve_begin();
	setup();
}

static void
teardown_starved(void)
{
	teardown();
	starve_end();
}

CASE("soft-control:starved", setup_starved, teardown_starved);

/* The next one is answered, and nothing is left of either. */
/* origin: out33.U14 */
TEST(client__anything_missing_for_it__is_hung_up)
{
	const struct starve_held before = starve_held_now(-1);
	const int watched = starve_watched;
	int line, n, failed = 1;
	char answer[3];

	for (n = 0; failed; n++) {
		ck_assert_int_lt(n, 50);
		starve_others(n + 1);
		line = control_connect();
		failed =
		    send(line, "0\ndump", 6, MSG_NOSIGNAL) < 0 || recv(line, answer, 3, 0) <= 0;
		close(line);
		ck_assert_int_eq(starve_others_end(), failed);
		line = control_connect();
		expect_answer(line, "0\ndump", "=0\n");
		ck_assert(is_closed(line, 2000));
		close(line);
		/* It is hung up before its memory is free. */
		for (int i = 0; i < 2000 && starve_held_now(-1).memory != before.memory; i++)
			sleep_ms(1);
		starve_expect_held(&before, "after the client");
		ck_assert_int_eq(starve_watched, watched);
	}
	ck_assert_int_eq(n, 3); /* it and its watch */
}

CASE("soft-control:child", setup, teardown, .needs = feature_child, .reason = FEATURE_NO_CHILD);

/* The socket of the parent, and its clients, are not the child's. */
/* origin: out33.A9 */
TEST(fork__the_child_is_commanded_by_its_own_socket)
{
	const int line = control_connect();
	int status;
	pid_t pid;

	sleep_ms(20);
	pid = fork();
	if (!pid) {
		struct ibv_context *context = story_open();
		const int own = control_connect();

		alarm(10);
		expect_answer(own, "\ndo event.sm_change", "+0\n");
		ck_assert(is_closed(own, 2000));
		for (int i = 0; soft_clients_close(0) != UINT64_MAX && i < 2000; i++)
			sleep_ms(1);
		ck_assert_uint_eq(soft_clients_close(0), UINT64_MAX);
		close(own);
		_exit(ibv_close_device(context));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(!is_closed(line, 0));
	expect_answer(line, "0\ndump", "=0\n");
	close(line);
}
