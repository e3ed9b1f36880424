/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held -- connection requests for a listener that does not exist yet
 *
 * Where the end of the hold does not matter, requests are held for a minute, so that a busy machine
 * changes nothing.
 */
#include "other.h"
#include "story.h"

#include "softverbs/cm/call.h"
#include "softverbs/cm/cm.h"
#include "softverbs/device/number.h"
#include "softverbs/device/settings.h"

#define LONG "60000"
#define NO_SERVICE 8
#define BY_CONSUMER 28

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id, *listener;
static struct ibv_cq *cq; /* of the queue pair of a connection that is established */
static uint16_t port;

/* For this process, and for one that other_start() forks afterwards. */
static void
hold_for(const char *milliseconds)
{
	setenv("SOFTVERBS_LISTENER_WAIT", milliseconds, 1);
	ck_assert_int_eq(soft_settings_read(), 0);
}

static void
hold_as_usual(void)
{
	unsetenv("SOFTVERBS_LISTENER_WAIT");
	unsetenv("SOFTVERBS_LISTENERS_RETURN");
	ck_assert_int_eq(soft_settings_read(), 0);
}

static struct rdma_cm_id *
bound_to(uint16_t number)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = number, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	struct rdma_cm_id *bound;

	ck_assert_int_eq(rdma_create_id(channel, &bound, NULL, RDMA_PS_TCP), 0);
	ck_assert_msg(
	    !rdma_bind_addr(bound, (struct sockaddr *)&address), "bind: %s", strerror(errno));
	return bound;
}

/* A port that is bound, by `listener`, which does not listen. */
static void
bind_port(void)
{
	listener = bound_to(0);
	port = rdma_get_src_port(listener);
}

static struct rdma_cm_id *
connecting(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *active = cm_resolved(channel, port);

	ck_assert_int_eq(rdma_connect(active, &param), 0);
	return active;
}

static void
connect_with_qp(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	id = cm_resolved(channel, port);
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_connect(id, &param), 0);
}

static void
expect_rejected(struct rdma_cm_id *whose, int status)
{
	struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_REJECTED);

	ck_assert_ptr_eq(event->id, whose);
	ck_assert_int_eq(event->status, status);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
}

/* It has been answered once that there is no listener, however busy the machine is. */
static void
expect_answered(struct rdma_cm_id *whose)
{
	volatile uint64_t *until = &soft_id_of(whose)->held_until;

	while (!*until)
		sleep_ms(1);
}

static void
expect_held(void)
{
	sleep_ms(30);
	cm_expect_no_event(channel);
}

static struct rdma_cm_id *
next_request(void)
{
	struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_cm_id *child = event->id;

	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	return child;
}

static void
accept_next(struct rdma_cm_id **child)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	*child = next_request();
	if (!cq)
		cq = ibv_create_cq((*child)->verbs, 64, NULL, NULL, 0);
	cm_qp(*child, cq);
	ck_assert_int_eq(rdma_accept(*child, &param), 0);
}

static void
drop_with_qp(struct rdma_cm_id *connection)
{
	rdma_destroy_qp(connection);
	ck_assert_int_eq(rdma_destroy_id(connection), 0);
	if (cq)
		ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	cq = NULL;
}

static void
open_channel(void)
{
	channel = cm_channel();
}

static void
close_channel(void)
{
	cm_expect_no_event(channel);
	rdma_destroy_event_channel(channel);
}

static void
drop(struct rdma_cm_id *connection)
{
	ck_assert_int_eq(rdma_destroy_id(connection), 0);
}

/* The listener gets the request of `id`, and rejects it. */
static void
reject_and_drop(void)
{
	struct rdma_cm_id *child = next_request();

	ck_assert_int_eq(rdma_reject(child, NULL, 0), 0);
	expect_rejected(id, BY_CONSUMER);
	drop(child);
	drop(id);
	drop(listener);
}

static void setup(void);
CASE("soft-held:request", setup, hold_as_usual);

/* origin: field.1 */
TEST(listener_comes__in_the_same_process__gets_the_request)
{
	struct rdma_cm_id *child;

	open_channel();
	bind_port();
	connect_with_qp();
	expect_held();
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	accept_next(&child);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, child);
	rdma_destroy_qp(child);
	drop(child);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	drop_with_qp(id);
	drop(listener);
	close_channel();
}

static void
listen_later(void)
{
	struct rdma_cm_id *child;
	bool bound;

	open_channel();
	other_hear(&bound, sizeof bound);
	if (bound) {
		bind_port();
		other_tell(&port, sizeof port);
	} else {
		other_hear(&port, sizeof port);
	}
	other_meet();
	if (!bound)
		listener = bound_to(port);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	accept_next(&child);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, child);
	other_meet();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, child);
	drop_with_qp(child);
	drop(listener);
	close_channel();
}

/* The other process has bound the port already, or no process has. */
/* origin: field.1 */
TEST_LOOP(listener_comes__in_another_process__gets_the_request, 2)
{
	bool bound = _i;

	other_start(listen_later);
	open_channel();
	other_tell(&bound, sizeof bound);
	if (bound) {
		other_hear(&port, sizeof port);
	} else {
		bind_port();
		drop(listener);
		other_tell(&port, sizeof port);
	}
	connect_with_qp();
	expect_held();
	other_meet();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	ck_assert_int_eq(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	drop_with_qp(id);
	close_channel();
	other_finish();
}

static uint64_t
milliseconds(void)
{
	return soft_now() / 1000000;
}

static void
bind_and_never_listen(void)
{
	open_channel();
	bind_port();
	other_tell(&port, sizeof port);
	other_meet();
	drop(listener);
	close_channel();
}

/* In one process, in two. */
TEST_LOOP(listener_does_not_come__refused_after_the_time__not_before, 2)
{
	uint64_t begin, took;

	hold_for("60");
	if (_i) {
		other_start(bind_and_never_listen);
		other_hear(&port, sizeof port);
		open_channel();
	} else {
		open_channel();
		bind_port();
	}
	begin = milliseconds();
	id = connecting();
	expect_rejected(id, NO_SERVICE);
	took = milliseconds() - begin;
	ck_assert_msg(
	    took + 1 >= soft_settings_listener_wait() / 1000000, "refused after %d ms", (int)took);
	drop(id);
	if (_i) {
		other_meet();
		other_finish();
	} else {
		drop(listener);
	}
	close_channel();
}

TEST(turned_off__refused_at_once)
{
	hold_for("0");
	open_channel();
	bind_port();
	id = connecting();
	/* In one process the answer is there when the call returns. */
	ck_assert_int_eq(poll(&(struct pollfd){ channel->fd, POLLIN, 0 }, 1, 0), 1);
	expect_rejected(id, NO_SERVICE);
	drop(id);
	drop(listener);
	close_channel();
}

TEST(no_setting__held_for_a_fifth_of_a_second)
{
	hold_as_usual();
	ck_assert_uint_eq(soft_settings_listener_wait(), soft_settings_scale_time(200000000));
}

TEST(setting__not_a_number_or_too_large__is_an_error)
{
	static const char *const wrong[] = { "x", "-1", "1.5", "60001", "99999999999999999999",
		"200ms", " 1" };

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		setenv("SOFTVERBS_LISTENER_WAIT", wrong[i], 1);
		ck_assert_msg(soft_settings_read() == -EINVAL, "%s", wrong[i]);
	}
	hold_for("60000");
	hold_for("");
	ck_assert_uint_eq(soft_settings_listener_wait(), soft_settings_scale_time(200000000));
}

/* origin: out33.AA6 */
TEST(number_of_the_environment__wrong__is_refused)
{
	static const char *const switches[] = { "SOFTVERBS_LISTENERS_RETURN", "SOFTVERBS_RNR_TIMER",
		"SOFTVERBS_SOCKETS", "SOFTVERBS_NO_PULL", "SOFTVERBS_DEBUG" };
	static const struct {
		const char *text;
		bool whole, seconds;
		uint64_t number, nanoseconds;
	} cases[] = {
		{ "", true, true, 7, 7 },
		{ "0", true, true, 0, 0 },
		{ "12", true, true, 12, 12ull * SOFT_SECOND },
		{ "1.25", false, true, 7, 5ull * SOFT_SECOND / 4 },
		{ ".5", false, true, 7, SOFT_SECOND / 2 },
		{ "100", true, true, 100, 100ull * SOFT_SECOND },
		{ "100.1", false, false, 7, 7 },
		{ "101", true, false, 101, 7 },
		{ "18446744073709551615", true, false, UINT64_MAX, 7 },
		{ "18446744073709551616", false, false, 7, 7 },
		{ "abc", false, false, 7, 7 },
		{ "1x", false, false, 7, 7 },
		{ "-1", false, false, 7, 7 },
		{ ".", false, false, 7, 7 },
		{ "1.2.3", false, false, 7, 7 },
	};
	uint64_t number, nanoseconds;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("A_NUMBER", cases[i].text, 1);
		number = nanoseconds = 7;
		ck_assert_msg(soft_number_read_whole("A_NUMBER", &number) == cases[i].whole &&
				  number == cases[i].number,
		    "%s: %llu", cases[i].text, (unsigned long long)number);
		ck_assert_msg(
		    soft_number_read_seconds("A_NUMBER", 100, &nanoseconds) == cases[i].seconds &&
			nanoseconds == cases[i].nanoseconds,
		    "%s: %llu", cases[i].text, (unsigned long long)nanoseconds);
	}
	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
		setenv(switches[i], "yes", 1);
		ck_assert_msg(soft_settings_read() == -EINVAL, "%s", switches[i]);
		setenv(switches[i], "1", 1);
		ck_assert_int_eq(soft_settings_read(), 0);
		unsetenv(switches[i]);
	}
	ck_assert_int_eq(soft_settings_read(), 0);
}

TEST(caller_gives_up_while_it_is_held__leaves_nothing_behind)
{
	open_channel();
	bind_port();
	id = connecting();
	expect_held();
	drop(id);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	expect_held(); /* no request comes */
	id = connecting();
	reject_and_drop();
	close_channel();
}

static void
listen_and_destroy(void)
{
	struct rdma_cm_id *keeper;

	open_channel();
	keeper = bound_to(0); /* keeps the device in use */
	bind_port();
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	drop(listener);
	other_tell(&port, sizeof port);
	other_meet();
	listener = bound_to(port); /* it listens no more than before */
	other_meet();
	other_meet();
	drop(listener);
	drop(keeper);
	close_channel();
}

/* origin: field.2 */
TEST(listener_destroyed__requests_are_refused_at_once)
{
	open_channel();
	bind_port();
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	drop(listener);
	id = connecting();
	expect_rejected(id, NO_SERVICE);
	drop(id);
	listener = bound_to(port);
	id = connecting();
	expect_rejected(id, NO_SERVICE);
	drop(id);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	id = connecting();
	reject_and_drop();
	close_channel();
}

TEST(listener_destroyed__and_it_returns__gets_the_request)
{
	setenv("SOFTVERBS_LISTENERS_RETURN", "1", 1);
	hold_for("60000");
	open_channel();
	bind_port();
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	drop(listener);
	id = connecting();
	expect_held();
	listener = bound_to(port);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	reject_and_drop();
	close_channel();
}

/* origin: field.2 */
TEST(listener_destroyed_in_another_process__refused_at_once__and_held_when_it_has_ended)
{
	other_start(listen_and_destroy);
	other_hear(&port, sizeof port);
	open_channel();
	for (int turn = 0; turn < 2; turn++) {
		id = connecting();
		expect_rejected(id, NO_SERVICE);
		drop(id);
		other_meet();
		if (!turn)
			other_meet();
	}
	other_finish();
	id = connecting();
	expect_held();
	listener = bound_to(port);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	reject_and_drop();
	close_channel();
}

TEST(port__holds_so_many__one_more_is_refused_at_once)
{
	static struct rdma_cm_id *many[SOFT_CALL_HELD_MAX];
	struct rdma_cm_id *first, *other_port;
	uint16_t before;

	open_channel();
	bind_port();
	first = listener;
	for (int i = 0; i < SOFT_CALL_HELD_MAX; i++)
		many[i] = connecting();
	cm_expect_no_event(channel);
	id = connecting();
	expect_rejected(id, NO_SERVICE);
	drop(id);
	before = port;
	bind_port();
	other_port = connecting();
	expect_held();
	port = before;
	/* One gives up, and leaves its place to another. */
	drop(many[0]);
	many[0] = connecting();
	expect_held();
	for (int i = 0; i < SOFT_CALL_HELD_MAX; i++)
		drop(many[i]);
	drop(other_port);
	drop(listener);
	drop(first);
	close_channel();
}

static void
bind_until_killed(void)
{
	open_channel();
	bind_port();
	other_tell(&port, sizeof port);
	for (;;)
		pause();
}

/* The request is on its way to that process again and again, or is not when it is stopped first. */
TEST_LOOP(process_that_bound_the_port_is_killed__still_held__and_another_takes_the_port, 2)
{
	other_start(bind_until_killed);
	other_hear(&port, sizeof port);
	open_channel();
	id = connecting();
	expect_answered(id);
	expect_held();
	if (_i) {
		other_stop();
		sleep_ms(20); /* the next request is not answered */
	}
	other_kill();
	expect_held();
	listener = bound_to(port);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	reject_and_drop();
	close_channel();
}

static void
take_the_request_until_killed(void)
{
	open_channel();
	other_hear(&port, sizeof port);
	other_meet();
	listener = bound_to(port);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
	next_request();
	other_meet();
	for (;;)
		pause();
}

/* The time for which it was held, a minute, is over with the request: it is not repeated. */
TEST(listener_comes_and_is_killed_with_the_request__unreachable_at_once)
{
	uint64_t killed;

	other_start(take_the_request_until_killed);
	open_channel();
	bind_port();
	drop(listener);
	other_tell(&port, sizeof port);
	id = connecting();
	expect_answered(id);
	other_meet();
	other_meet();
	killed = milliseconds();
	other_kill();
	cm_expect(channel, RDMA_CM_EVENT_UNREACHABLE, id);
	ck_assert_uint_lt(milliseconds() - killed, (uint64_t)runner_stretch(4000));
	drop(id);
	close_channel();
}

/*
 * How many requests the listener got, once the caller has its answer: the refusal for want of a
 * listener and a request exclude each other.
 */
static int
refuse_all(void)
{
	struct pollfd ready = { channel->fd, POLLIN, 0 };
	int count = 0;

	while (poll(&ready, 1, 0) == 1) {
		struct rdma_cm_id *child = next_request();

		ck_assert_int_eq(rdma_reject(child, NULL, 0), 0);
		drop(child);
		count++;
	}
	return count;
}

#define RACES 100
#define RACE_MS 12

static void
listen_at_the_end(void)
{
	for (int i = 0; i < RACES; i++) {
		struct pollfd ready[] = { { .events = POLLIN }, { .events = POLLIN } };
		int count = 0;

		open_channel();
		bind_port();
		other_tell(&port, sizeof port);
		other_meet();
		usleep((useconds_t)(RACE_MS * 1000 - 1500 + i * 30));
		ck_assert_int_eq(rdma_listen(listener, 0), 0);
		ready[0].fd = channel->fd;
		ready[1].fd = other_descriptor();
		do {
			poll(ready, 2, -1);
			count += refuse_all();
		} while (!ready[1].revents);
		other_meet();
		other_tell(&count, sizeof count);
		drop(listener);
		close_channel();
	}
}

/* Both outcomes are good, each with all that belongs to it. */
TEST(listener_comes_when_the_time_ends__exactly_one_answer)
{
	struct rdma_cm_event *event;
	int count, status, found = 0;

	hold_for("12");
	other_start(listen_at_the_end);
	open_channel();
	for (int i = 0; i < RACES; i++) {
		other_hear(&port, sizeof port);
		other_meet();
		id = connecting();
		event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
		status = event->status;
		rdma_ack_cm_event(event);
		other_meet();
		other_hear(&count, sizeof count);
		ck_assert_msg(status == NO_SERVICE ? count == 0 : count == 1,
		    "turn %d: status %d, %d requests", i, status, count);
		cm_expect_no_event(channel);
		found += count;
		drop(id);
	}
	close_channel();
	other_finish();
	printf("%d of %d requests found their listener\n", found, RACES);
}

static void
setup(void)
{
	hold_for(LONG);
}
