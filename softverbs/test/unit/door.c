/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * door -- which processes may connect to a device: those that identify themselves, once, as what
 * they are
 */
#include "incidents.h"
#include "line.h"
#include "other.h"
#include "starve.h"
#include "story.h"

#include "softverbs/device/names.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/input.h"
#include "softverbs/wire/peer.h"
#include "softverbs/wire/wire.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static struct side a; /* the device that is called */
static unsigned int called, slot;
static int door;

static void
setup(void)
{
	side_make(&a, NULL);
	called = soft_slot_number();
	slot = line_slot_take(&door);
}

static void
teardown(void)
{
	line_slot_leave(slot, door);
	side_free(&a);
}

static int
greeted(void)
{
	int line = line_open(called);

	line_greet(line, slot);
	return line;
}

/* A request to a queue pair that is not there: an accepted caller gets a refusal. */
static bool
served(int line)
{
	const struct soft_frame request = {
		.type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = called << 14 | 0x3fff,
		.from = slot << 14,
	};
	struct soft_frame answer;

	return send(line, &request, sizeof request, MSG_NOSIGNAL) == sizeof request &&
	       recv(line, &answer, sizeof answer, MSG_WAITALL) == sizeof answer &&
	       answer.type == SOFT_FRAME_NAK && answer.opcode == SOFT_NAK_NOT_CONNECTED;
}

/* ---- one link a process, of that process ---- */

CASE("soft-door:hello", setup, teardown);

/* origin: attack.P2 */
TEST(hello_of_one_slot_on_two_connections__the_second_is_refused_the_first_goes_on)
{
	int first = greeted(), second;

	ck_assert(served(first));
	for (int i = 0; i < 20; i++) {
		second = greeted();
		line_expect_hung_up(second);
	}
	ck_assert(served(first));
	close(first);
}

/* origin: attack.P2 */
TEST(hello_twice_on_one_connection__ends_it)
{
	int line = greeted();

	ck_assert(served(line));
	line_greet(line, slot);
	line_expect_hung_up(line);
	line = greeted();
	ck_assert(served(line));
	close(line);
}

/* A message of the connection manager that makes no sense ends the link as any frame does. */
/* origin: out33.U15 */
TEST(message_of_the_connection_manager__that_makes_no_sense__ends_the_link)
{
	const struct {
		struct soft_frame frame;
		struct soft_wire_cm cm;
	} message = { .frame = { .type = SOFT_FRAME_CM, .length = sizeof message.cm },
		.cm = { .type = 99 } };
	int line = greeted();

	ck_assert(served(line));
	line_send(line, &message, sizeof message);
	line_expect_hung_up(line);
}

static void
await_links(bool some)
{
	for (int i = 0; i < (int)runner_stretch(10000) && soft_peers_linked() != some; i++)
		sleep_ms(1);
	ck_assert(soft_peers_linked() == some);
}

/* Then nothing is to be read, and no thread reads. */
TEST(last_link_has_ended__there_is_none)
{
	int line;

	ck_assert(!soft_peers_linked());
	for (int round = 0; round < 2; round++) {
		line = greeted();
		ck_assert(served(line));
		await_links(true);
		close(line);
		await_links(false);
	}
}

#define WAITING_MAX 8192 /* refusals for a peer that does not read */

/* A frame for no queue pair, which is refused; false if the line is hung up. */
static bool
say_stray(int line)
{
	const struct soft_frame request = {
		.type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = called << 14 | 0x3fff,
		.from = slot << 14,
	};
	struct pollfd pfd = { .fd = line, .events = POLLOUT };
	ssize_t n;

	do {
		ck_assert_msg(poll(&pfd, 1, (int)runner_stretch(10000)) == 1, "it reads no more");
		n = send(line, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EAGAIN);
	return n == sizeof request;
}

/* What is wrong on one link ends the other of the same process, too. */
/* Answers are read before the requests that come at the same time. */
/* origin: out33.U15 */
TEST_LOOP(process_misbehaves_on_one_link__its_other_link_ends, 3)
{
	const struct soft_frame nonsense = { .type = 99 };
	char bytes[256];
	int lines[2];

	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, &(struct side_options){ .patient = true });
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 8), 0);
	lines[0] = line_accept(door);
	lines[1] = greeted();
	ck_assert(served(lines[1]));
	soft_input_lock();
	if (_i == 2) {
		ck_assert(say_stray(lines[1]));
		sleep_ms(5); /* the thread of the device has seen it, and waits for the lock */
	}
	line_send(lines[_i % 2], &nonsense, sizeof nonsense);
	soft_input_unlock();
	for (int i = 0; i < 2; i++) {
		while (recv(lines[i], bytes, sizeof bytes, 0) > 0)
			;
		line_expect_hung_up(lines[i]);
	}
}

/* However many there were before: those that were read do not count. */
TEST(refusals__more_than_may_wait__end_the_link)
{
	struct soft_frame answer;
	int line = greeted(), n = 0;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < WAITING_MAX; i++)
			ck_assert_msg(say_stray(line), "hung up in round %d after %d", round, i);
		for (int i = 0; i < WAITING_MAX; i++)
			ck_assert_int_eq(
			    recv(line, &answer, sizeof answer, MSG_WAITALL), sizeof answer);
	}
	while (say_stray(line))
		ck_assert_int_lt(n++, 10 * WAITING_MAX);
	ck_assert_int_ge(n, WAITING_MAX);
	close(line);
	line = greeted();
	ck_assert(served(line));
	close(line);
}

/* The old link's end and the new one's hello come at once. */
TEST(process_hangs_up_and_calls_again__is_let_in)
{
	int line = greeted();

	for (int i = 0; i < 200; i++) {
		ck_assert(served(line));
		close(line);
		line = greeted();
	}
	ck_assert(served(line));
	close(line);
}

static void
claim_the_slot_of_another(void)
{
	unsigned int slots[2];
	int line;

	other_hear(slots, sizeof slots);
	ck_assert_int_eq(soft_names_open(), 0);
	line = line_open(slots[0]);
	line_greet(line, slots[1]);
	line_expect_hung_up(line);
	soft_names_close();
}

CASE("soft-door:processes");

/* origin: attack.P2 */
TEST(hello_in_the_name_of_another_process__refused)
{
	unsigned int slots[2];

	other_start(claim_the_slot_of_another);
	setup();
	slots[0] = called;
	slots[1] = slot;
	other_tell(slots, sizeof slots);
	other_finish();
	teardown();
}

CASE("soft-door:hello", setup, teardown);

/* The device reads each piece before the next one comes. */
/* origin: out33.U15 */
TEST_LOOP(hello__in_two_pieces__is_one, 4)
{
	const size_t first = (const size_t[]){ 1, sizeof(struct soft_frame), 100,
		sizeof(struct soft_hello_frame) - 1 }[_i];
	struct soft_hello_frame hello;
	const int line = line_open(called);
	int unread = 1;

	soft_peer_hello(&hello, -1, 0);
	hello.hello.slot = slot;
	line_send(line, &hello, first);
	while (unread) {
		sleep_ms(1);
		ck_assert_int_eq(ioctl(line, SIOCOUTQ, &unread), 0);
	}
	line_send(line, (const char *)&hello + first, sizeof hello - first);
	ck_assert(served(line));
	close(line);
}

TEST(hello_of_a_free_slot__refused)
{
	int line = line_open(called);

	line_greet(line, slot % SOFT_SLOT_MAX + 1 == called ? slot % SOFT_SLOT_MAX + 2 :
							      slot % SOFT_SLOT_MAX + 1);
	line_expect_hung_up(line);
}

TEST(request_before_hello__hung_up)
{
	const struct soft_frame request[2] = { { .type = SOFT_FRAME_REQUEST } };
	int line = line_open(called);

	ck_assert_int_eq(send(line, request, sizeof request, MSG_NOSIGNAL), sizeof request);
	line_expect_hung_up(line);
}

/* ---- callers that say nothing ---- */

#define LINES 300

static void
hurry(void)
{
	setenv("SOFTVERBS_TIME_FACTOR", "0.05", 1);
	setup();
}

static void
take_time(void)
{
	teardown();
	unsetenv("SOFTVERBS_TIME_FACTOR");
}

static bool
hung_up(int line)
{
	struct pollfd pfd = { .fd = line };

	return poll(&pfd, 1, 0) == 1;
}

/* Waits until so few of the lines are open. */
static void
await_open(const int *lines, int most)
{
	int open = LINES;

	for (int i = 0; i < (int)runner_stretch(10000) && open > most; i++) {
		open = 0;
		for (int k = 0; k < LINES; k++)
			open += !hung_up(lines[k]);
		if (open > most)
			sleep_ms(1);
	}
	ck_assert_int_le(open, most);
}

/* Someone who is served; a machine that stands still may be too slow for the device. */
static void
expect_served(void)
{
	bool ok = false;

	for (int i = 0; i < 100 && !ok; i++) {
		int line = greeted();

		ok = served(line);
		close(line);
	}
	ck_assert(ok);
}

static void
silent_callers(int *lines, bool half)
{
	const char some[30] = { 1 };

	for (int i = 0; i < LINES; i++) {
		lines[i] = line_open(called);
		if (half)
			(void)send(lines[i], some, sizeof some, MSG_NOSIGNAL);
	}
}

CASE("soft-door:silent", hurry, take_time);

/* origin: attack.P10 */
TEST_LOOP(silent_callers__few_at_a_time__others_are_served, 2)
{
	int lines[LINES];

	silent_callers(lines, _i);
	await_open(lines, 64);
	expect_served();
	for (int i = 0; i < LINES; i++)
		close(lines[i]);
}

/* origin: attack.P10 */
TEST_LOOP(silent_callers__hung_up_in_time__nothing_is_kept_of_them, 2)
{
	int fds = runner_count_fds(), lines[LINES];

	silent_callers(lines, _i);
	await_open(lines, 0);
	ck_assert_int_eq(runner_count_fds(), fds + LINES);
	expect_served();
	for (int i = 0; i < LINES; i++)
		close(lines[i]);
}

/* It connects, says nothing until told, and ends with 0 if it was not hung up on. */
static pid_t
silent_child(int *told)
{
	struct sockaddr_un address;
	const socklen_t length = soft_name_address(&address, called);
	int ready[2], go[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(go), 0);
	child = _Fork(); /* the device's descriptors stay: the address is below one of them */
	if (child == 0) {
		const int line = socket(AF_UNIX, SOCK_STREAM, 0);

		close(go[1]);
		if (connect(line, (struct sockaddr *)&address, length))
			_exit(2);
		(void)!write(ready[1], "", 1);
		(void)!read(go[0], &c, 1);
		_exit(hung_up(line));
	}
	close(ready[1]);
	close(go[0]);
	ck_assert_int_eq((int)read(ready[0], &c, 1), 1);
	close(ready[0]);
	*told = go[1];
	return child;
}

CASE("soft-door:hello", setup, teardown);

/* origin: out33.E6 */
TEST(silent_callers__many_of_one_process__another_keeps_its_connection)
{
	int lines[LINES], told, status;
	pid_t child;

	child = silent_child(&told);
	silent_callers(lines, false);
	await_open(lines, 63);
	close(told);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	for (int i = 0; i < LINES; i++)
		close(lines[i]);
}

/* What accept4() fails with, and whether it is worth waiting for. */
static const struct {
	int error;
	bool pause;
} failures[] = {
	{ EMFILE, true },
	{ ENFILE, true },
	{ ENOMEM, true },
	{ ENOBUFS, true },
	{ EAGAIN, false },
	{ EINTR, false },
	{ ECONNABORTED, false },
	{ EPERM, false },
};
#define PAUSE_MS 100

static uint64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

CASE("soft-door:hello", setup, teardown);

/* For want of something it is tried again in a while, else at once. */
TEST_LOOP(accept__fails__is_tried_again, (sizeof failures / sizeof failures[0]))
{
	uint64_t begin, took = 0;
	int line;

	line = greeted(); /* the device runs */
	ck_assert(served(line));
	close(line);
	for (int i = 0; i < 5; i++) { /* on a busy machine all is late */
		begin = now_ms();
		starve_accept = failures[_i].error;
		line = greeted();
		ck_assert(served(line));
		close(line);
		took = now_ms() - begin;
		ck_assert_int_eq(starve_accept, 0);
		if (failures[_i].pause)
			ck_assert_uint_ge(took + 1, PAUSE_MS);
		if (failures[_i].pause || took < PAUSE_MS)
			return;
	}
	ck_abort_msg("it was tried again after %u ms", (unsigned int)took);
}

static void
call(void)
{
	unsigned int callee;
	int line;

	other_hear(&callee, sizeof callee);
	side_make(&a, NULL);
	called = callee;
	slot = soft_slot_number();
	line = line_open(called);
	line_greet(line, slot);
	other_meet();
	ck_assert(served(line));
	close(line);
	side_free(&a);
}

static uint64_t
processor_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

CASE("soft-door:processes");

/* origin: attack.P10 */
TEST(no_descriptor_left__callers_wait_outside__and_are_served_when_there_is_one)
{
	struct rlimit limit, none;
	uint64_t used;
	int fd;

	other_start(call);
	side_make(&a, NULL);
	called = soft_slot_number();
	fd = dup(0);
	close(fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)fd;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	other_tell(&called, sizeof called);
	other_meet();
	used = processor_time();
	sleep_ms(200);
	ck_assert_uint_lt(processor_time() - used, 100); /* it does not try all the time */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	other_finish();
	side_free(&a);
}

/* ---- what the device needs for a link is missing ---- */

static int knocks; /* where threads of the peer are woken */

static void
setup_starved(void)
{
	struct sockaddr_un address;
	socklen_t length;

	starve_begin();
	setup();
	length = soft_name_knock_address(&address, slot);
	knocks = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(knocks, (struct sockaddr *)&address, length), 0);
}

static void
teardown_starved(void)
{
	close(knocks);
	teardown();
	starve_end();
}

/* What the last link had is free: the thread of the device is done with it. */
static void
await_end(void)
{
	const struct soft_hello_frame none = { .frame = { .type = SOFT_FRAME_ACK } };
	int line;

	await_links(false);
	line = line_open(called);
	line_send(line, &none, sizeof none);
	line_expect_hung_up(line);
}

/* It says hello, with memory to share or without: whether it is let in. */
static bool
is_let_in(int line, bool shares)
{
	struct soft_rings rings = { .area = NULL };
	struct soft_welcome_frame welcome;
	struct soft_hello_frame hello;
	const int memory = shares ? soft_rings_create(&rings) : -1;
	bool in;

	soft_peer_hello(&hello, memory, rings.token);
	hello.hello.slot = slot;
	in = send(line, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello;
	if (!shares)
		return in && served(line);
	in = in && recv(line, &welcome, sizeof welcome, MSG_WAITALL) == sizeof welcome;
	close(memory);
	soft_rings_unmap(&rings);
	return in;
}

CASE("soft-door:starved", setup_starved, teardown_starved);

/* It is hung up on, or let in later or without what is missing. */
/* origin: out33.U14 */
TEST_LOOP(caller__anything_missing_in_the_device__leaves_nothing_of_it, 2)
{
	struct starve_held before;
	int line, silent, watched, refused = 0, failed = 1;

	setenv("SOFTVERBS_TIME_FACTOR", "100", 1);
	ck_assert_int_eq(soft_settings_read(), 0);
	silent = line_open(called); /* it is left alone meanwhile, also after a pause */
	/* Once without a failure: some tables stay. */
	line = line_open(called);
	ck_assert(is_let_in(line, _i));
	close(line);
	await_end();
	before = starve_held_now(-1);
	watched = starve_watched;
	for (int n = 1; failed; n++) {
		ck_assert_int_lt(n, 50);
		starve_others(n);
		line = line_open(called);
		refused += !is_let_in(line, _i);
		failed = starve_others_end();
		close(line);
		await_end();
		starve_expect_held(&before, "after the caller");
		ck_assert_int_eq(starve_watched, watched);
	}
	/* A caller, a link, its two buffers, and both watches. */
	ck_assert_int_ge(refused, 5);
	ck_assert(!hung_up(silent));
	close(silent);
}

/* The next link, after its hello; callers that only look are passed over. */
static int
accept_hello(struct soft_hello_frame *hello)
{
	for (;;) {
		const int line = accept(door, NULL, NULL);

		ck_assert_int_ge(line, 0);
		if (recv(line, hello, sizeof *hello, MSG_WAITALL) == sizeof *hello)
			return line;
		close(line);
	}
}

/* Links that could not be watched are hung up after their hello. */
static int
accept_request(struct soft_frame *request)
{
	struct soft_welcome_frame welcome;
	struct soft_hello_frame hello;

	soft_peer_welcome(&welcome, 0);
	for (;;) {
		const int line = accept_hello(&hello);

		if ((!hello.hello.rings ||
			send(line, &welcome, sizeof welcome, MSG_NOSIGNAL) > 0) &&
		    recv(line, request, sizeof *request, MSG_WAITALL) == sizeof *request)
			return line;
		close(line);
	}
}

/* A write to the peer, in which what it asks for the nth time is missing; 0: nothing. */
static void
write_without(int n)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct soft_frame request;
	int line, r;

	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	side_new_qp(&a);
	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, &(struct side_options){ .patient = true });
	starve_failed = 0;
	starve_countdown = n;
	r = ibv_post_send(a.qp, &wr, &bad);
	starve_countdown = 0;
	ck_assert_int_eq(r, 0);
	line = accept_request(&request);
	ck_assert_int_eq(request.type, SOFT_FRAME_REQUEST);
	ck_assert_uint_eq(request.length, 8);
	line_answer(line, &request, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	close(line);
	await_end();
}

/* It is sent later, when nothing is missing any more. */
/* origin: out33.U14 */
TEST_LOOP(request__anything_missing_for_its_link__is_sent_all_the_same, 2)
{
	struct starve_held before;
	int watched, n = 0;

	setenv("SOFTVERBS_SOCKETS", _i ? "0" : "1", 1);
	setenv("SOFTVERBS_TIME_FACTOR", "0.05", 1); /* later */
	ck_assert_int_eq(soft_settings_read(), 0);
	write_without(0);
	before = starve_held_now(-1);
	watched = starve_watched;
	do {
		write_without(++n);
		starve_expect_held(&before, "after the request");
		ck_assert_int_eq(starve_watched, watched);
	} while (starve_failed && n < 50);
	ck_assert_int_ge(n, 5);
	ck_assert_int_lt(n, 50);
}

/* What waits for the answer to the hello - a request, a message - ends with the link. */
/* origin: out33.U14 */
TEST(link__ends_before_its_hello_is_answered__leaves_nothing)
{
	const struct soft_wire_cm cm = { .type = 0 };
	struct soft_hello_frame hello;
	struct starve_held before;
	struct soft_link *link;
	int line;

	for (int round = 0; round < 3; round++) {
		side_to_init(&a, NULL);
		side_to_rtr(&a, slot << 14 | 5);
		side_to_rts(&a, &(struct side_options){ .patient = true });
		ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 8), 0);
		line = accept_hello(&hello);
		link = soft_peer_outgoing(slot);
		ck_assert_int_eq(soft_link_send_cm(link, &cm), 0);
		soft_link_put(link);
		ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
		close(line);
		await_end();
		if (round == 1)
			before = starve_held_now(-1);
		side_new_qp(&a);
	}
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	starve_expect_held(&before, "after the link");
	side_new_qp(&a);
}

/* Over a link that is cut: no memory to hold it, or it is none that is possible when it heals. */
/* origin: out33.U16 */
TEST_LOOP(answer__that_cannot_be_held_or_used__ends_the_link, 2)
{
	struct soft_frame request;
	int line, unread = 1;
	char data[8];

	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, &(struct side_options){ .patient = true });
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 8), 0);
	line = accept_request(&request);
	ck_assert_int_eq(recv(line, data, sizeof data, MSG_WAITALL), sizeof data);
	incident("link.cut:way=in");
	request.psn = (request.psn + (_i ? 100u : 0)) & SOFT_PSN_MASK;
	starve_others(_i ? 0 : 1);
	line_answer(line, &request, SOFT_FRAME_ACK, 0);
	while (_i && unread) {
		sleep_ms(1);
		ck_assert_int_eq(ioctl(line, SIOCOUTQ, &unread), 0);
	}
	if (_i) {
		soft_input_lock(); /* it is held now */
		soft_input_unlock();
		incident("link.heal");
	}
	line_expect_hung_up(line);
	ck_assert_int_eq(starve_others_end(), 1);
}
