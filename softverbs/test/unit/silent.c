/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * silent -- connections to processes and raw peers that are alive but send nothing, or answer late
 */
#include "line.h"
#include "other.h"
#include "patience.h"
#include "story.h"

#include <sys/socket.h>

#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/cm/pack.h"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *id;
static struct ibv_cq *cq;
static uint16_t port;

static void
open_listener(void)
{
	channel = cm_channel();
	listener = cm_listen(channel, &port);
	other_tell(&port, sizeof port);
}

static void
close_listener(void)
{
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
}

static struct rdma_cm_id *
expect_request(void)
{
	struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_cm_id *child = event->id;

	rdma_ack_cm_event(event);
	return child;
}

static void
accept_child(struct rdma_cm_id *child)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	if (!cq)
		cq = ibv_create_cq(child->verbs, 64, NULL, NULL, 0);
	cm_qp(child, cq);
	ck_assert_int_eq(rdma_accept(child, &param), 0);
}

static void
drop(struct rdma_cm_id *connection)
{
	rdma_destroy_qp(connection);
	rdma_destroy_id(connection);
}

static void
no_cq(void)
{
	if (cq)
		ibv_destroy_cq(cq);
	cq = NULL;
}

static void
begin_call(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	id = cm_resolved(channel, port);
	if (!cq)
		cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_connect(id, &param), 0);
}

static void
expect_failed(enum rdma_cm_event_type type, struct rdma_cm_id *whose, int status)
{
	struct rdma_cm_event *event = cm_next(channel, type);

	ck_assert_ptr_eq(event->id, whose);
	ck_assert_int_eq(event->status, status);
	rdma_ack_cm_event(event);
}

/* Stopped with a request that its caller gives up; serves the next. */
static void
listen_and_be_stopped(void)
{
	struct rdma_cm_id *child;

	open_listener();
	other_meet();
	child = expect_request();
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, child);
	rdma_destroy_id(child);
	other_meet();
	child = expect_request();
	accept_child(child);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, child);
	other_meet();
	drop(child);
	no_cq();
	close_listener();
}

CASE("soft-silent:connections", patience_begin, patience_end);

/* origin: attack.P9 */
TEST(connect__process_is_stopped__unreachable__and_served_when_it_goes_on)
{
	other_start(listen_and_be_stopped);
	other_hear(&port, sizeof port);
	channel = cm_channel();
	other_meet();
	patience_fall_silent();
	begin_call();
	expect_failed(RDMA_CM_EVENT_UNREACHABLE, id, -ETIMEDOUT);
	patience_usual();
	other_go_on();
	other_meet();
	drop(id);
	begin_call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	drop(id);
	no_cq();
	rdma_destroy_event_channel(channel);
	other_finish();
}

static void
listen_until_killed(void)
{
	open_listener();
	for (;;)
		pause();
}

/* origin: attack.P6 */
TEST(connect__given_up_by_the_caller__leaves_no_descriptor)
{
	struct rdma_cm_id *keeper;
	int fds = 0;

	other_start(listen_until_killed);
	other_hear(&port, sizeof port);
	other_stop();
	channel = cm_channel();
	keeper = cm_resolved(channel, port);
	cq = ibv_create_cq(keeper->verbs, 64, NULL, NULL, 0);
	for (int i = 0; i < 30; i++) {
		begin_call();
		drop(id);
		if (!i)
			fds = runner_count_fds(); /* with the link to that process */
	}
	ck_assert_int_eq(runner_count_fds(), fds);
	no_cq();
	rdma_destroy_id(keeper);
	rdma_destroy_event_channel(channel);
	other_kill();
}

static void
call_and_be_stopped(void)
{
	other_hear(&port, sizeof port);
	channel = cm_channel();
	begin_call();
	other_meet();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	drop(id);
	no_cq();
	rdma_destroy_event_channel(channel);
}

/* origin: attack.P9 */
TEST(accept__caller_is_stopped__unreachable)
{
	struct rdma_cm_id *child;

	other_start(call_and_be_stopped);
	open_listener();
	child = expect_request();
	other_meet();
	patience_fall_silent();
	accept_child(child);
	expect_failed(RDMA_CM_EVENT_UNREACHABLE, child, -ETIMEDOUT);
	other_go_on();
	other_finish();
	drop(child);
	no_cq();
	close_listener();
}

static void
connect_and_be_stopped(void)
{
	other_hear(&port, sizeof port);
	channel = cm_channel();
	begin_call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	drop(id);
	no_cq();
	rdma_destroy_event_channel(channel);
}

/* origin: attack.P9 */
TEST(disconnect__peer_is_stopped__disconnected_all_the_same_and_once)
{
	struct rdma_cm_id *child;

	other_start(connect_and_be_stopped);
	open_listener();
	child = expect_request();
	accept_child(child);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, child);
	other_meet();
	patience_fall_silent();
	ck_assert_int_eq(rdma_disconnect(child), 0);
	expect_failed(RDMA_CM_EVENT_DISCONNECTED, child, -ETIMEDOUT);
	other_go_on();
	other_finish();
	cm_expect_no_event(channel);
	drop(child);
	no_cq();
	close_listener();
}

/* Its device answers at once, and its consumer takes longer than any device may. */
static void
call_and_dawdle(void)
{
	struct rdma_cm_id *second;

	patience_set("0.2");
	other_hear(&port, sizeof port);
	channel = cm_channel();
	begin_call();
	other_meet();
	second = id;
	begin_call();
	other_meet(); /* the first is accepted */
	sleep_ms(1800);
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);

		rdma_ack_cm_event(event);
	}
	other_meet();
	drop(second);
	drop(id);
	no_cq();
	rdma_destroy_event_channel(channel);
}

TEST(consumers_take_their_time__are_waited_for)
{
	struct rdma_cm_id *first, *second;

	patience_set("0.2"); /* 1.2 s */
	other_start(call_and_dawdle);
	open_listener();
	first = expect_request();
	other_meet();
	second = expect_request();
	accept_child(first);
	other_meet();
	sleep_ms(1800);
	accept_child(second);
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);

		rdma_ack_cm_event(event);
	}
	other_meet();
	other_finish();
	drop(first);
	drop(second);
	no_cq();
	close_listener();
}

/* ---- a stranger that speaks the language of connections, and stops in the middle ---- */

static unsigned int stranger; /* its slot */

static void
say(int line, enum soft_cm_type type, uint32_t from, uint32_t to)
{
	/* Of its queue pairs nothing happens but that they are named. */
	const struct soft_frame frame = { .type = SOFT_FRAME_CM,
		.length = sizeof(struct soft_wire_cm) };
	const struct soft_wire_cm words = {
		.type = type,
		.from = from,
		.to = to,
		.port_space = RDMA_PS_TCP,
		.port = ntohs(port),
		.qpn = type == SOFT_CM_REQ ? stranger << 14 | from : 0,
		.source = { .family = 4, .bytes = { 127, 0, 0, 1 } },
		.target = { .family = 4, .bytes = { 127, 0, 0, 1 } },
	};

	ck_assert_int_eq(send(line, &frame, sizeof frame, MSG_NOSIGNAL), sizeof frame);
	ck_assert_int_eq(send(line, &words, sizeof words, MSG_NOSIGNAL), sizeof words);
}

static struct soft_wire_cm
hear(int line)
{
	struct soft_wire_cm words;
	struct soft_frame frame;

	ck_assert_int_eq(recv(line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(frame.type, SOFT_FRAME_CM);
	ck_assert_int_eq(recv(line, &words, sizeof words, MSG_WAITALL), sizeof words);
	return words;
}

/* origin: attack.P9 */
TEST(requests_accepted__no_answer_after__all_unreachable_and_nothing_kept)
{
	struct rdma_cm_id *children[20];
	struct rdma_cm_event *event;
	int door, line, fds;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	stranger = line_slot_take(&door);
	line = line_open(soft_slot_number());
	line_greet(line, stranger);
	for (uint32_t i = 0; i < 20; i++)
		say(line, SOFT_CM_REQ, i + 1, 0);
	for (int i = 0; i < 20; i++)
		children[i] = expect_request();
	fds = runner_count_fds();
	patience_set("0.05");
	for (int i = 0; i < 20; i++)
		accept_child(children[i]);
	for (int i = 0; i < 20; i++) {
		event = cm_next(channel, RDMA_CM_EVENT_UNREACHABLE);
		ck_assert_int_eq(event->status, -ETIMEDOUT);
		rdma_ack_cm_event(event);
	}
	for (int i = 0; i < 20; i++)
		drop(children[i]);
	ck_assert_int_eq(runner_count_fds(), fds);
	close(line);
	line_slot_leave(stranger, door);
	no_cq();
	close_listener();
}

/*
 * A stranger that listens on a port of ours, which the device finds in the file of names.  Its
 * door.
 */
static int
listen_as_stranger(void)
{
	int door;

	channel = cm_channel();
	listener = cm_listen(channel, &(uint16_t){ 0 }); /* keeps the device open */
	stranger = line_slot_take(&door);
	port = htons(1);
	ck_assert_int_eq(soft_name_lock(SOFT_NAME_PORT(0, 1)), 0);
	ck_assert_int_eq(soft_name_write(SOFT_NAME_PORT(0, 1), (uint16_t)stranger), 0);
	return door;
}

static void
close_stranger(int door)
{
	line_slot_leave(stranger, door);
	ck_assert_int_eq(soft_name_write(SOFT_NAME_PORT(0, 1), 0), 0);
	soft_name_unlock(SOFT_NAME_PORT(0, 1));
	no_cq();
	close_listener();
}

TEST_LOOP(answer_after_the_caller_has_given_up__rejected, 2)
{
	struct soft_wire_cm request, last;
	const int door = listen_as_stranger();
	int line;

	patience_set("0.05");
	begin_call();
	line = line_accept(door);
	request = hear(line);
	ck_assert_uint_eq(request.type, SOFT_CM_REQ);
	expect_failed(RDMA_CM_EVENT_UNREACHABLE, id, -ETIMEDOUT);
	say(line, _i ? SOFT_CM_REP : SOFT_CM_MRA, 77, request.from);
	last = hear(line);
	ck_assert_uint_eq(last.type, SOFT_CM_REJ);
	ck_assert_uint_eq(last.to, 77);
	cm_expect_no_event(channel);
	drop(id);
	close(line);
	close_stranger(door);
}

/* Its door is full when the request comes, and opens later. */
TEST(connect__others_stand_at_the_door__gets_in_when_they_have_gone)
{
	struct soft_wire_cm request;
	const int door = listen_as_stranger();
	int line, others = 0;

	ck_assert_int_eq(listen(door, 1), 0);
	for (int fd; (fd = soft_slot_connect(stranger)) != -EAGAIN; others++) {
		ck_assert_int_ge(fd, 0);
		close(fd);
	}
	ck_assert_int_gt(others, 0);
	begin_call();
	sleep_ms(30);
	cm_expect_no_event(channel);
	line = line_accept(door);
	request = hear(line);
	ck_assert_uint_eq(request.type, SOFT_CM_REQ);
	say(line, SOFT_CM_REJ, 77, request.from);
	expect_failed(RDMA_CM_EVENT_REJECTED, id, 0);
	drop(id);
	close(line);
	close_stranger(door);
}

TEST(queue_pair_of_an_id__has_the_timeout_of_the_path_or_the_consumers)
{
	uint8_t wish = 21;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct rdma_cm_id *child;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	id = cm_resolved(channel, port);
	ck_assert_int_eq(id->route.path_rec->packet_life_time, 17);
	ck_assert_int_eq(
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &wish, 1), 0);
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_connect(id, &(struct rdma_conn_param){ .retry_count = 5 }), 0);
	child = expect_request();
	accept_child(child);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, child);
	ck_assert_int_eq(ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &init), 0);
	ck_assert_int_eq(attr.timeout, 21);
	ck_assert_int_eq(attr.retry_cnt, 5);
	ck_assert_int_eq(ibv_query_qp(child->qp, &attr, IBV_QP_TIMEOUT, &init), 0);
	ck_assert_int_eq(attr.timeout, 18);
	wish = 32;
	ck_assert_int_eq(
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &wish, 1), -1);
	ck_assert_int_eq(errno, EINVAL);
	drop(id);
	drop(child);
	no_cq();
	close_listener();
}
