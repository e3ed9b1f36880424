/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_dat.h"
#include "suites.h"
#include "lib/runner.h"

#include "examples/iser/bell.h"
#include "examples/iser/pdu.h"
#include "examples/iser/target.h"
#include "examples/iser/tconn.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 1024u
#define DEPTH 1u
#define TASKS (2 * DEPTH + 2)
#define RECVS (DEPTH + 2)
#define DEVICE (4 * BLOCK)
#define ADDRESS UINT64_C(0x7000000000)
#define CONTEXT 0xabcd

static struct target target;
static struct backing device;
static struct bell bell;
static struct tconn *tc;

static void
setup(void)
{
	const struct hello hello = { .queue_depth = DEPTH, .block_bytes = BLOCK };

	fake_reset();
	ck_assert_int_eq(bell_init(&bell), 0);
	ck_assert_int_eq(backing_open_temporary(&device), 0);
	memset(&target, 0, sizeof target);
	target.bell = &bell;
	target.adapter.bell = &bell;
	target.adapter.attr.max_rdma_read_per_ep_out = 4;
	target.device = &device;
	target.growable = true;
	pthread_mutex_init(&target.lock, NULL);
	tc = tconn_new(&target, 0, &hello);
	ck_assert_ptr_nonnull(tc);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS);
	ck_assert_uint_eq(conn_accept(&tc->conn, &target), DAT_SUCCESS);
	fake_queue_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
	fake_run();
	ck_assert_int_eq(conn_state(&tc->conn), CONN_LOGIN);
}

static void
teardown(void)
{
	ck_assert_int_eq(tconn_free(tc), 0);
	ck_assert_int_eq(fake.lmrs + fake.evds + fake.eps, 0);
	backing_close(&device);
	bell_fini(&bell);
	pthread_mutex_destroy(&target.lock);
}

static void
command(enum pdu_opcode opcode, uint32_t tag, uint64_t lba, uint32_t length)
{
	const struct pdu pdu = {
		.opcode = (uint8_t)opcode,
		.tag = tag,
		.lba = lba,
		.length = length,
		.remote_address = ADDRESS,
		.remote_length = length,
		.remote_context = CONTEXT,
		.device_bytes = DEVICE,
	};
	uint8_t wire[PDU_BYTES];

	pdu_encode(&pdu, wire);
	fake_receive(wire, sizeof wire);
}

/* The oldest response; its send stays posted. */
static struct pdu
response(void)
{
	struct pdu pdu;

	ck_assert_int_eq(pdu_decode(&pdu, fake_sent(), PDU_BYTES), PDU_OK);
	return pdu;
}

static void
expect_response(uint8_t opcode, uint32_t tag, enum pdu_status status)
{
	struct pdu pdu = response();

	ck_assert_uint_eq(pdu.opcode, opcode | PDU_RESPONSE);
	ck_assert_uint_eq(pdu.tag, tag);
	ck_assert_str_eq(pdu_status_text(pdu.status), pdu_status_text(status));
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
}

/* Nothing else was posted: the connection waits with all its receives. */
static void
expect_idle(void)
{
	ck_assert_int_eq(fake.works, (int)RECVS);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS);
	ck_assert_uint_eq(tc->free.count, TASKS);
	ck_assert_uint_eq(tc->outstanding, 0);
}

static void
login(void)
{
	command(PDU_LOGIN, 9, 0, BLOCK);
	ck_assert_uint_eq(response().device_bytes, DEVICE);
	expect_response(PDU_LOGIN, 9, PDU_OK);
	ck_assert_int_eq(conn_state(&tc->conn), CONN_READY);
}

START_TEST(target__login__makes_the_device_as_large_as_wanted)
{
	login();
	ck_assert_uint_eq(device.bytes, DEVICE);
	expect_idle();
}
END_TEST

START_TEST(target__login_larger_than_a_fixed_device__is_refused)
{
	target.growable = false;
	command(PDU_LOGIN, 1, 0, BLOCK);
	expect_response(PDU_LOGIN, 1, PDU_BAD_SIZE);
	ck_assert_int_eq(conn_state(&tc->conn), CONN_LOGIN);
	expect_idle();
}
END_TEST

START_TEST(target__login_with_another_block_size__is_refused)
{
	command(PDU_LOGIN, 1, 0, 2 * BLOCK);
	expect_response(PDU_LOGIN, 1, PDU_BAD_BLOCK);
	expect_idle();
}
END_TEST

START_TEST(target__second_login__is_refused)
{
	login();
	command(PDU_LOGIN, 2, 0, BLOCK);
	expect_response(PDU_LOGIN, 2, PDU_LOGGED_IN);
	ck_assert_int_eq(conn_state(&tc->conn), CONN_READY);
	expect_idle();
}
END_TEST

START_TEST(target__command_before_login__is_refused)
{
	command(PDU_WRITE, 3, 0, BLOCK);
	expect_response(PDU_WRITE, 3, PDU_NOT_LOGGED_IN);
	command(PDU_READ, 4, 0, BLOCK);
	expect_response(PDU_READ, 4, PDU_NOT_LOGGED_IN);
	expect_idle();
}
END_TEST

START_TEST(target__write__fetches_stores_and_only_then_answers)
{
	const struct fake_work *fetch;
	char stored[100];

	login();
	command(PDU_WRITE, 5, 2, 100);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), 0);
	fetch = fake_oldest(DAT_DTO_RDMA_READ);
	ck_assert_uint_eq(fetch->remote.virtual_address, ADDRESS);
	ck_assert_uint_eq(fetch->remote.rmr_context, CONTEXT);
	ck_assert_uint_eq(fetch->remote.segment_length, 100);
	ck_assert_uint_eq(fetch->local.segment_length, 100);
	memset((void *)(uintptr_t)fetch->local.virtual_address, 'w', 100);
	fake_complete(DAT_DTO_RDMA_READ, DAT_DTO_SUCCESS);
	expect_response(PDU_WRITE, 5, PDU_OK);
	ck_assert_int_eq(backing_read(&device, 2 * BLOCK, stored, sizeof stored), 0);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(stored[i], 'w');
	ck_assert_uint_eq(atomic_load(&target.bytes_written), 100);
	expect_idle();
}
END_TEST

START_TEST(target__read__pushes_the_data_before_the_response)
{
	const struct fake_work *push;

	login();
	ck_assert_int_eq(backing_write(&device, 3 * BLOCK, "rrrr", 4), 0);
	command(PDU_READ, 6, 3, 4);
	push = fake_oldest(DAT_DTO_RDMA_WRITE);
	ck_assert_mem_eq((void *)(uintptr_t)push->local.virtual_address, "rrrr", 4);
	ck_assert_uint_eq(push->remote.virtual_address, ADDRESS);
	ck_assert(push < fake_oldest(DAT_DTO_SEND)); /* the array is in posting order */
	fake_complete(DAT_DTO_RDMA_WRITE, DAT_DTO_SUCCESS);
	expect_response(PDU_READ, 6, PDU_OK);
	expect_idle();
}
END_TEST

START_TEST(target__ranges_outside_the_device__move_nothing)
{
	login();
	command(PDU_WRITE, 1, 4, 1);
	expect_response(PDU_WRITE, 1, PDU_OUT_OF_RANGE);
	command(PDU_READ, 2, UINT64_MAX, BLOCK);
	expect_response(PDU_READ, 2, PDU_OUT_OF_RANGE);
	command(PDU_READ, 3, 0, 0);
	expect_response(PDU_READ, 3, PDU_BAD_LENGTH);
	command(PDU_WRITE, 4, 0, BLOCK + 1);
	expect_response(PDU_WRITE, 4, PDU_BAD_LENGTH);
	ck_assert_uint_eq(atomic_load(&target.errors), 4);
	expect_idle();
}
END_TEST

START_TEST(target__nonsense__is_answered_and_the_connection_goes_on)
{
	uint8_t wire[PDU_BYTES] = { 0 };

	login();
	fake_receive(wire, sizeof wire);
	fake_receive(wire, 0);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), 2);
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	command((enum pdu_opcode)77, 8, 0, BLOCK);
	ck_assert_int_eq(((const uint8_t *)fake_sent())[7], PDU_BAD_OPCODE);
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	command((enum pdu_opcode)(PDU_READ | PDU_RESPONSE), 8, 0, BLOCK);
	expect_response(PDU_READ, 8, PDU_BAD_OPCODE);
	expect_idle();
	command(PDU_READ, 9, 0, 1);
	fake_complete(DAT_DTO_RDMA_WRITE, DAT_DTO_SUCCESS);
	expect_response(PDU_READ, 9, PDU_OK);
}
END_TEST

START_TEST(target__more_commands_than_agreed__get_a_status)
{
	login();
	for (uint32_t tag = 0; tag < DEPTH + 1; tag++)
		command(PDU_WRITE, tag, 0, BLOCK);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), 0);
	command(PDU_WRITE, 99, 0, BLOCK);
	expect_response(PDU_WRITE, 99, PDU_QUEUE_OVERRUN);
	ck_assert_int_eq(fake_posted(DAT_DTO_RDMA_READ), DEPTH + 1);
}
END_TEST

START_TEST(target__no_task_free__holds_the_command_and_its_receive)
{
	login();
	/* Answered at once, but the sends do not complete: the tasks stay taken. */
	for (uint32_t tag = 0; tag < TASKS; tag++)
		command(PDU_READ, tag, 99, BLOCK);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), TASKS);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS);

	command(PDU_READ, 50, 99, BLOCK);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), TASKS);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS - 1);

	expect_response(PDU_READ, 0, PDU_OUT_OF_RANGE);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), TASKS);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS);
	for (uint32_t tag = 1; tag < TASKS; tag++)
		expect_response(PDU_READ, tag, PDU_OUT_OF_RANGE);
	expect_response(PDU_READ, 50, PDU_OUT_OF_RANGE);
	expect_idle();
}
END_TEST

START_TEST(target__file_that_fails__is_an_io_error)
{
	int fd = device.fd;

	login();
	device.fd = -1;
	command(PDU_READ, 1, 0, BLOCK);
	expect_response(PDU_READ, 1, PDU_IO_ERROR);
	command(PDU_WRITE, 2, 0, BLOCK);
	fake_complete(DAT_DTO_RDMA_READ, DAT_DTO_SUCCESS);
	expect_response(PDU_WRITE, 2, PDU_IO_ERROR);
	expect_idle();
	device.fd = fd;
}
END_TEST

static void
flush_all(void)
{
	while (fake.works > 0)
		fake_complete(fake.work[0].kind, DAT_DTO_ERR_FLUSHED);
}

START_TEST(target__logout_and_disconnect__is_a_clean_end)
{
	login();
	command(PDU_LOGOUT, 7, 0, 0);
	expect_response(PDU_LOGOUT, 7, PDU_OK);
	fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	ck_assert_int_eq(conn_state(&tc->conn), CONN_CLOSED);
	ck_assert(tc->conn.clean);
	ck_assert(!conn_is_finished(&tc->conn)); /* the receives are still to be flushed */
	flush_all();
	ck_assert(conn_is_finished(&tc->conn));
	ck_assert_int_eq(fake.disconnects, 0);
}
END_TEST

START_TEST(target__peer_that_vanishes_in_the_middle__is_reported)
{
	login();
	command(PDU_WRITE, 1, 0, BLOCK);
	flush_all();
	fake_queue_connection(_i);
	fake_run();
	ck_assert_int_eq(conn_state(&tc->conn), CONN_CLOSED);
	ck_assert(conn_is_finished(&tc->conn));
	ck_assert(!tc->conn.clean);
	ck_assert_ptr_nonnull(strstr(tc->conn.reason, "the peer ended"));
}
END_TEST

START_TEST(target__initiators_buffer_is_no_buffer__ends_the_connection_with_the_reason)
{
	login();
	command(PDU_WRITE, 1, 0, BLOCK);
	fake_complete(DAT_DTO_RDMA_READ, DAT_DTO_ERR_REMOTE_ACCESS);
	ck_assert_int_eq(fake.disconnects, 1);
	ck_assert_int_eq(fake.disconnect_how, DAT_CLOSE_ABRUPT_FLAG);
	fake_queue_connection(DAT_CONNECTION_EVENT_BROKEN);
	fake_run();
	flush_all();
	ck_assert(conn_is_finished(&tc->conn));
	ck_assert_ptr_nonnull(strstr(tc->conn.reason, "REMOTE_ACCESS"));
}
END_TEST

START_TEST(target__response_that_cannot_be_posted__ends_the_connection)
{
	login();
	fake.fail_post = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	command(PDU_READ, 1, 99, BLOCK);
	ck_assert_int_eq(conn_state(&tc->conn), CONN_CLOSING);
	ck_assert_int_eq(fake.disconnects, 1);
	fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	flush_all();
	ck_assert(conn_is_finished(&tc->conn));
	ck_assert_ptr_nonnull(strstr(tc->conn.reason, "dat_ep_post"));
}
END_TEST

START_TEST(target__stopped__disconnects_and_ignores_what_still_arrives)
{
	login();
	ck_assert_int_eq(conn_order(&tc->conn, &tconn_abort), 0);
	fake_run();
	ck_assert_int_eq(fake.disconnects, 1);
	command(PDU_READ, 1, 0, BLOCK);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), 0);
	fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	flush_all();
	ck_assert(conn_is_finished(&tc->conn));
}
END_TEST

Suite *
iser_target_suite(void)
{
	Suite *suite = suite_create("iser-target");
	TCase *tcase = runner_tcase(suite, "connection");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, target__login__makes_the_device_as_large_as_wanted);
	tcase_add_test(tcase, target__login_larger_than_a_fixed_device__is_refused);
	tcase_add_test(tcase, target__login_with_another_block_size__is_refused);
	tcase_add_test(tcase, target__second_login__is_refused);
	tcase_add_test(tcase, target__command_before_login__is_refused);
	tcase_add_test(tcase, target__write__fetches_stores_and_only_then_answers);
	tcase_add_test(tcase, target__read__pushes_the_data_before_the_response);
	tcase_add_test(tcase, target__ranges_outside_the_device__move_nothing);
	tcase_add_test(tcase, target__nonsense__is_answered_and_the_connection_goes_on);
	tcase_add_test(tcase, target__more_commands_than_agreed__get_a_status);
	tcase_add_test(tcase, target__no_task_free__holds_the_command_and_its_receive);
	tcase_add_test(tcase, target__file_that_fails__is_an_io_error);
	tcase_add_test(tcase, target__logout_and_disconnect__is_a_clean_end);
	tcase_add_loop_test(tcase, target__peer_that_vanishes_in_the_middle__is_reported,
	    DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN + 1);
	tcase_add_test(
	    tcase, target__initiators_buffer_is_no_buffer__ends_the_connection_with_the_reason);
	tcase_add_test(tcase, target__response_that_cannot_be_posted__ends_the_connection);
	tcase_add_test(tcase, target__stopped__disconnects_and_ignores_what_still_arrives);
	return suite;
}
