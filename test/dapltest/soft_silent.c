/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_silent -- processes that live and say nothing, and such that only take their time
 *
 * When the other has fallen silent, the device loses its patience: 300 ms for what the connection
 * manager of a process owes, 200 ms for the answer to a request.  Before that it has as much as
 * ever, so that these tests can be run on a busy machine.
 */
#include "soft_line.h"
#include "soft_other.h"
#include "soft_own.h"

#include <sys/socket.h>

#include "soft/names.h"
#include "soft/settings.h"
#include "soft/slot.h"
#include "soft/wire.h"

static char *factor_before;

static void
remember_patience(void)
{
	const char *before = getenv("SOFTVERBS_TIME_FACTOR");

	factor_before = before ? strdup(before) : NULL;
}

static void
usual_patience(void)
{
	if (factor_before)
		setenv("SOFTVERBS_TIME_FACTOR", factor_before, 1);
	else
		unsetenv("SOFTVERBS_TIME_FACTOR");
	ck_assert_int_eq(soft_settings_read(), 0);
}

static void
forget_patience(void)
{
	usual_patience();
	free(factor_before);
}

static void
patience(const char *factor)
{
	setenv("SOFTVERBS_TIME_FACTOR", factor, 1);
	ck_assert_int_eq(soft_settings_read(), 0);
}

/* The other is silent from here on. */
static void
fall_silent(void)
{
	other_stop();
	patience("0.05");
}

/* ---- connections ---- */

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

/* origin: attack.P9 */
START_TEST(connect__process_is_stopped__unreachable__and_served_when_it_goes_on)
{
	other_start(listen_and_be_stopped);
	other_hear(&port, sizeof port);
	channel = cm_channel();
	other_meet();
	fall_silent();
	begin_call();
	expect_failed(RDMA_CM_EVENT_UNREACHABLE, id, -ETIMEDOUT);
	usual_patience();
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
END_TEST

static void
listen_until_killed(void)
{
	open_listener();
	for (;;)
		pause();
}

/* origin: attack.P6 */
START_TEST(connect__given_up_by_the_caller__leaves_no_descriptor)
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
END_TEST

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
START_TEST(accept__caller_is_stopped__unreachable)
{
	struct rdma_cm_id *child;

	other_start(call_and_be_stopped);
	open_listener();
	child = expect_request();
	other_meet();
	fall_silent();
	accept_child(child);
	expect_failed(RDMA_CM_EVENT_UNREACHABLE, child, -ETIMEDOUT);
	other_go_on();
	other_finish();
	drop(child);
	no_cq();
	close_listener();
}
END_TEST

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
START_TEST(disconnect__peer_is_stopped__disconnected_all_the_same_and_once)
{
	struct rdma_cm_id *child;

	other_start(connect_and_be_stopped);
	open_listener();
	child = expect_request();
	accept_child(child);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, child);
	other_meet();
	fall_silent();
	ck_assert_int_eq(rdma_disconnect(child), 0);
	expect_failed(RDMA_CM_EVENT_DISCONNECTED, child, -ETIMEDOUT);
	other_go_on();
	other_finish();
	cm_expect_quiet(channel);
	drop(child);
	no_cq();
	close_listener();
}
END_TEST

/* Its device answers at once, and its consumer takes longer than any device may. */
static void
call_and_dawdle(void)
{
	struct rdma_cm_id *second;

	patience("0.5");
	other_hear(&port, sizeof port);
	channel = cm_channel();
	begin_call();
	other_meet();
	second = id;
	begin_call();
	other_meet(); /* the first is accepted */
	sleep_ms(4500);
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

START_TEST(consumers_take_their_time__are_waited_for)
{
	struct rdma_cm_id *first, *second;

	patience("0.5");
	other_start(call_and_dawdle);
	open_listener();
	first = expect_request();
	other_meet();
	second = expect_request();
	accept_child(first);
	other_meet();
	sleep_ms(4500);
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
END_TEST

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
START_TEST(requests_accepted__no_word_after__all_unreachable_and_nothing_kept)
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
	patience("0.05");
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
END_TEST

/* A stranger that listens on a port of ours, which the device finds in the file of names.  Its door. */
static int
listen_as_stranger(void)
{
	int door;

	channel = cm_channel();
	listener = cm_listen(channel, &(uint16_t){ 0 }); /* keeps the device open */
	stranger = line_slot_take(&door);
	port = htons(1);
	ck_assert_int_eq(soft_name_take(SOFT_NAME_PORT(0, 1)), 0);
	ck_assert_int_eq(soft_name_write(SOFT_NAME_PORT(0, 1), (uint16_t)stranger), 0);
	return door;
}

static void
close_stranger(int door)
{
	line_slot_leave(stranger, door);
	ck_assert_int_eq(soft_name_write(SOFT_NAME_PORT(0, 1), 0), 0);
	soft_name_give_back(SOFT_NAME_PORT(0, 1));
	no_cq();
	close_listener();
}

START_TEST(answer_after_the_caller_has_given_up__rejected)
{
	struct soft_wire_cm request, last;
	const int door = listen_as_stranger();
	int line;

	patience("0.05");
	begin_call();
	line = line_accept(door);
	request = hear(line);
	ck_assert_uint_eq(request.type, SOFT_CM_REQ);
	expect_failed(RDMA_CM_EVENT_UNREACHABLE, id, -ETIMEDOUT);
	say(line, _i ? SOFT_CM_REP : SOFT_CM_MRA, 77, request.from);
	last = hear(line);
	ck_assert_uint_eq(last.type, SOFT_CM_REJ);
	ck_assert_uint_eq(last.to, 77);
	cm_expect_quiet(channel);
	drop(id);
	close(line);
	close_stranger(door);
}
END_TEST

/* Its door is full when the request comes, and opens later. */
START_TEST(connect__others_stand_at_the_door__gets_in_when_they_have_gone)
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
	cm_expect_quiet(channel);
	line = line_accept(door);
	request = hear(line);
	ck_assert_uint_eq(request.type, SOFT_CM_REQ);
	say(line, SOFT_CM_REJ, 77, request.from);
	expect_failed(RDMA_CM_EVENT_REJECTED, id, 0);
	drop(id);
	close(line);
	close_stranger(door);
}
END_TEST

START_TEST(queue_pair_of_an_id__has_the_timeout_of_the_path_or_the_consumers)
{
	uint8_t wish = 21;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct rdma_cm_id *child;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	id = cm_resolved(channel, port);
	ck_assert_int_eq(id->route.path_rec->packet_life_time, 17);
	ck_assert_int_eq(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &wish, 1), 0);
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
END_TEST

/* ---- requests ---- */

static void
be_stopped(void)
{
	own_connect(NULL);
	for (;;)
		pause();
}

/* origin: attack.P9 */
START_TEST(request__process_is_stopped__retries_exceeded)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ };

	own_begin(be_stopped, NULL);
	fall_silent();
	for (uint64_t i = 0; i < 8; i++) { /* more than the link takes */
		if (opcodes[_i] == IBV_WR_SEND)
			side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, SIDE_BYTES);
		else
			own_rdma(opcodes[_i], i, 0, 0, SIDE_BYTES);
	}
	cq_expect(own.cq, 0, IBV_WC_RETRY_EXC_ERR);
	for (uint64_t i = 1; i < 8; i++)
		cq_expect(own.cq, i, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(own.qp), IBV_QPS_ERR);
	other_kill();
	side_free(&own);
}
END_TEST

/* origin: attack.P9 */
START_TEST(request__one_small__process_is_stopped__retries_exceeded)
{
	own_begin(be_stopped, NULL);
	own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	fall_silent();
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, 0, 8);
	cq_expect(own.cq, 2, IBV_WC_RETRY_EXC_ERR);
	other_kill();
	side_free(&own);
}
END_TEST

static void
stay(void)
{
	own_connect(NULL);
	own_end();
}

/* The timeout of the queue pair, 4 ms in all, is an adapter's; a process may need more. */
START_TEST(request__process_is_stopped_for_a_while__succeeds)
{
	own_begin(stay, NULL);
	patience("20");
	other_stop();
	for (uint64_t i = 0; i < 8; i++)
		own_rdma(IBV_WR_RDMA_WRITE, i, 0, 0, SIDE_BYTES);
	sleep_ms(300);
	cq_expect_quiet(own.cq);
	other_go_on();
	for (uint64_t i = 0; i < 8; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

/* A timeout of 0 is none. */
START_TEST(request__without_a_timeout__waits_for_ever)
{
	const struct side_options patient = { .patient = true };

	own_begin(stay, &patient);
	fall_silent();
	own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	sleep_ms(500);
	cq_expect_quiet(own.cq);
	other_go_on();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

/* Answers the first request, and takes all. */
START_TEST(requests__answered_no_more__retries_exceeded)
{
	struct soft_frame frame, ack = { .type = SOFT_FRAME_ACK };
	static char payload[SOFT_WIRE_PAYLOAD];
	unsigned int slot;
	struct side a;
	int door, line;

	side_make(&a, NULL);
	slot = line_slot_take(&door);
	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, NULL);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 64), 0);
	line = line_accept(door);
	ck_assert_int_eq(recv(line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(recv(line, payload, frame.length, MSG_WAITALL), 64);
	ack.qpn = frame.from;
	ack.from = frame.qpn;
	ack.psn = frame.psn;
	ack.epoch = frame.epoch;
	ck_assert_int_eq(send(line, &ack, sizeof ack, MSG_NOSIGNAL), sizeof ack);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	patience("0.05");
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 2, 0, 4096, 1, 64), 0);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 3, 0, 4096, 1, 64), 0);
	cq_expect(a.cq, 2, IBV_WC_RETRY_EXC_ERR);
	cq_expect(a.cq, 3, IBV_WC_WR_FLUSH_ERR);
	close(line);
	line_slot_leave(slot, door);
	side_free(&a);
}
END_TEST

static void
expect_setting_refused(const char *factor)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *own_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = own_cq, .recv_cq = own_cq,
		.qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };

	setenv("SOFTVERBS_TIME_FACTOR", factor, 1);
	ck_assert_ptr_null(ibv_create_qp(pd, &init));
	ck_assert_int_eq(errno, EINVAL);
	ibv_destroy_cq(own_cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

START_TEST(time_factor__not_a_number_in_range__refused)
{
	static const char *const wrong[] = { "0", "0.009", "100.001", "-1", "1,5", "1e2", "x",
		".", "0.0001", "99999999999999999999" };

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		expect_setting_refused(wrong[i]);
}
END_TEST

Suite *
soft_silent_suite(void)
{
	Suite *suite = suite_create("soft-silent");
	TCase *tcase = runner_tcase(suite, "connections");

	tcase_add_checked_fixture(tcase, remember_patience, forget_patience);
	tcase_add_test(tcase,
	    connect__process_is_stopped__unreachable__and_served_when_it_goes_on);
	tcase_add_test(tcase, connect__given_up_by_the_caller__leaves_no_descriptor);
	tcase_add_test(tcase, accept__caller_is_stopped__unreachable);
	tcase_add_test(tcase, disconnect__peer_is_stopped__disconnected_all_the_same_and_once);
	tcase_add_test(tcase, consumers_take_their_time__are_waited_for);
	tcase_add_test(tcase,
	    requests_accepted__no_word_after__all_unreachable_and_nothing_kept);
	tcase_add_loop_test(tcase, answer_after_the_caller_has_given_up__rejected, 0, 2);
	tcase_add_test(tcase, connect__others_stand_at_the_door__gets_in_when_they_have_gone);
	tcase_add_test(tcase,
	    queue_pair_of_an_id__has_the_timeout_of_the_path_or_the_consumers);

	tcase = runner_tcase(suite, "requests");
	tcase_add_checked_fixture(tcase, remember_patience, forget_patience);
	tcase_add_loop_test(tcase, request__process_is_stopped__retries_exceeded, 0, 3);
	tcase_add_test(tcase, request__one_small__process_is_stopped__retries_exceeded);
	tcase_add_test(tcase, request__process_is_stopped_for_a_while__succeeds);
	tcase_add_test(tcase, request__without_a_timeout__waits_for_ever);
	tcase_add_test(tcase, requests__answered_no_more__retries_exceeded);
	tcase_add_test(tcase, time_factor__not_a_number_in_range__refused);
	return suite;
}
