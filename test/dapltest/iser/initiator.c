/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_dat.h"
#include "suites.h"
#include "lib/runner.h"

#include "examples/iser/bell.h"
#include "examples/iser/iconn.h"
#include "examples/iser/initiator.h"
#include "examples/iser/options.h"
#include "examples/iser/pdu.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 1024u
#define DEPTH 3u
#define BLOCKS 8u
#define BYTES ((BLOCKS - 1) * BLOCK + 100) /* the last block is a short one */

static struct initiator initiator;
static struct options options;
static struct backing file;
static struct bell bell;
static struct iconn ic;

static void
setup(void)
{
	const struct hello hello = { .queue_depth = DEPTH, .block_bytes = BLOCK };

	fake_reset();
	ck_assert_int_eq(bell_init(&bell), 0);
	ck_assert_int_eq(backing_open_temporary(&file), 0);
	ck_assert_int_eq(backing_reserve(&file, BYTES), 0);
	memset(&initiator, 0, sizeof initiator);
	memset(&ic, 0, sizeof ic);
	options = (struct options){ .connections = 1, .queue_depth = DEPTH, .block_bytes = BLOCK };
	initiator.options = &options;
	initiator.bell = &bell;
	initiator.bytes = BYTES;
	initiator.adapter.bell = &bell;
	initiator.adapter.attr.max_dto_per_ep = 100;
	initiator.write = (struct job){ .opcode = PDU_WRITE, .file = &file, .blocks = BLOCKS };
	initiator.read = (struct job){ .opcode = PDU_READ, .file = &file, .blocks = BLOCKS };
	ck_assert_int_eq(iconn_open(&ic, &initiator, 0), 0);
	ck_assert_uint_eq(conn_connect(&ic.conn, NULL, 1, 1, &hello), DAT_SUCCESS);
	fake_queue_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
	fake_run();
}

static void
teardown(void)
{
	ck_assert_int_eq(iconn_close(&ic), 0);
	ck_assert_int_eq(fake.lmrs + fake.evds + fake.eps, 0);
	backing_close(&file);
	bell_fini(&bell);
}

/* The command in the oldest send, whose completion is still out. */
static struct pdu
command(void)
{
	struct pdu pdu;

	ck_assert_int_eq(pdu_decode(&pdu, fake_sent(), PDU_BYTES), PDU_OK);
	return pdu;
}

static void
respond_raw(const struct pdu *request, uint8_t opcode, uint32_t tag, enum pdu_status status)
{
	const struct pdu pdu = {
		.opcode = opcode | PDU_RESPONSE,
		.tag = tag,
		.status = (uint16_t)status,
		.device_bytes = request->opcode == PDU_LOGIN ? request->device_bytes : 0,
	};
	uint8_t wire[PDU_BYTES];

	pdu_encode(&pdu, wire);
	fake_receive(wire, sizeof wire);
}

/* The send of the oldest command completes, then its response arrives. */
static void
respond(enum pdu_status status)
{
	struct pdu pdu = command();

	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	respond_raw(&pdu, pdu.opcode, pdu.tag, status);
}

static void
login(void)
{
	ck_assert_uint_eq(command().opcode, PDU_LOGIN);
	ck_assert_uint_eq(command().device_bytes, BYTES);
	ck_assert_uint_eq(command().length, BLOCK);
	respond(PDU_OK);
	ck_assert_int_eq(conn_state(&ic.conn), CONN_READY);
}

static void
order(struct job *job)
{
	ck_assert_int_eq(conn_order(&ic.conn, job), 0);
	fake_run();
}

static void
expect_failed(const char *why)
{
	ck_assert_int_eq(conn_state(&ic.conn), CONN_CLOSING);
	ck_assert_int_eq(fake.disconnect_how, DAT_CLOSE_ABRUPT_FLAG);
	ck_assert_msg(
	    strstr(ic.conn.reason, why), "\"%s\" does not tell \"%s\"", ic.conn.reason, why);
	fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	ck_assert_int_eq(conn_state(&ic.conn), CONN_CLOSED);
	ck_assert(atomic_load(&initiator.failed));
}

START_TEST(initiator__write__never_has_more_commands_out_than_the_queue_depth)
{
	uint32_t seen = 0;

	login();
	order(&initiator.write);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), DEPTH);
	while (fake_posted(DAT_DTO_SEND) > 0) {
		struct pdu pdu = command();

		ck_assert_uint_eq(pdu.opcode, PDU_WRITE);
		ck_assert_uint_eq(pdu.length, pdu.lba == BLOCKS - 1 ? 100 : BLOCK);
		ck_assert_uint_eq(pdu.remote_length, pdu.length);
		ck_assert(!(seen & 1u << pdu.lba));
		seen |= 1u << pdu.lba;
		respond(PDU_OK);
		ck_assert_int_le(fake_posted(DAT_DTO_SEND), DEPTH);
		ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), DEPTH + 1);
	}
	ck_assert_uint_eq(seen, (1u << BLOCKS) - 1);
	ck_assert_uint_eq(atomic_load(&initiator.write.done), BLOCKS);
	ck_assert_uint_eq(ic.latency[0].count, BLOCKS);
	ck_assert_uint_eq(ic.free.count, DEPTH);
}
END_TEST

START_TEST(initiator__responses_overtake_the_send_completions__tasks_wait_for_both)
{
	struct pdu pdus[DEPTH];

	login();
	order(&initiator.write);
	for (unsigned int i = 0; i < DEPTH; i++) {
		uintptr_t at = (uintptr_t)fake.work[DEPTH + 1 + i].local.virtual_address;

		ck_assert_int_eq(pdu_decode(&pdus[i], (void *)at, PDU_BYTES), PDU_OK);
	}
	for (unsigned int i = 0; i < DEPTH; i++)
		respond_raw(&pdus[i], PDU_WRITE, pdus[i].tag, PDU_OK);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), DEPTH); /* no new command: no task is free */
	ck_assert_uint_eq(ic.free.count, 0);
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), DEPTH);
	ck_assert_uint_eq(atomic_load(&initiator.write.done), DEPTH);
}
END_TEST

/* The last write's completions free tasks when the read was ordered already: they must join in. */
START_TEST(initiator__next_job_ordered_while_tasks_wait_for_completions__is_begun)
{
	struct pdu pdu;

	initiator.write.blocks = 1;
	login();
	order(&initiator.write);
	pdu = command();
	respond_raw(&pdu, PDU_WRITE, pdu.tag, PDU_OK);
	ck_assert_uint_eq(atomic_load(&initiator.write.done), 1);
	initiator.read.blocks = DEPTH;
	order(&initiator.read);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), DEPTH); /* DEPTH - 1 reads and the old write */
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	ck_assert_int_eq(fake_posted(DAT_DTO_SEND), DEPTH);
	while (fake_posted(DAT_DTO_SEND) > 0)
		respond(PDU_OK);
	ck_assert_uint_eq(atomic_load(&initiator.read.done), DEPTH);
}
END_TEST

START_TEST(initiator__read__stores_each_block_at_its_place)
{
	unsigned char stored[BYTES];

	login();
	order(&initiator.read);
	while (fake_posted(DAT_DTO_SEND) > 0) {
		struct pdu pdu = command();

		memset((void *)(uintptr_t)pdu.remote_address, 'a' + (int)pdu.lba, pdu.length);
		respond(PDU_OK);
	}
	ck_assert_int_eq(backing_read(&file, 0, stored, sizeof stored), 0);
	for (unsigned int i = 0; i < BYTES; i++)
		ck_assert_int_eq(stored[i], 'a' + (int)(i / BLOCK));
	ck_assert_uint_eq(ic.latency[1].count, BLOCKS);
}
END_TEST

START_TEST(initiator__logout__disconnects_gracefully_and_is_clean)
{
	login();
	ck_assert_int_eq(conn_order(&ic.conn, &iconn_logout), 0);
	fake_run();
	ck_assert_uint_eq(command().opcode, PDU_LOGOUT);
	respond(PDU_OK);
	ck_assert_int_eq(fake.disconnects, 1);
	ck_assert_int_eq(fake.disconnect_how, DAT_CLOSE_GRACEFUL_FLAG);
	fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	ck_assert(ic.conn.clean);
	ck_assert(!atomic_load(&initiator.failed));
}
END_TEST

START_TEST(initiator__login_refused__reports_the_targets_reason)
{
	respond(PDU_BAD_SIZE);
	expect_failed(pdu_status_text(PDU_BAD_SIZE));
}
END_TEST

START_TEST(initiator__block_refused__ends_and_reports_it)
{
	login();
	order(&initiator.write);
	respond(PDU_IO_ERROR);
	expect_failed(pdu_status_text(PDU_IO_ERROR));
}
END_TEST

START_TEST(initiator__response_with_a_wild_tag__ends_the_connection)
{
	static const uint32_t tags[] = { DEPTH + 1, UINT32_MAX, DEPTH };
	struct pdu pdu;

	login();
	order(&initiator.write);
	pdu = command();
	respond_raw(&pdu, PDU_WRITE, tags[_i], PDU_OK);
	expect_failed("task");
}
END_TEST

START_TEST(initiator__response_twice__ends_the_connection)
{
	struct pdu pdu;

	initiator.write.blocks = 1;
	login();
	order(&initiator.write);
	pdu = command();
	respond(PDU_OK);
	respond_raw(&pdu, PDU_WRITE, pdu.tag, PDU_OK);
	expect_failed("no outstanding command");
}
END_TEST

START_TEST(initiator__response_of_another_kind__ends_the_connection)
{
	struct pdu pdu;

	login();
	order(&initiator.write);
	pdu = command();
	respond_raw(&pdu, PDU_READ, pdu.tag, PDU_OK);
	expect_failed("does not answer its command");
}
END_TEST

START_TEST(initiator__request_instead_of_a_response__ends_the_connection)
{
	struct pdu pdu = { .opcode = PDU_WRITE };
	uint8_t wire[PDU_BYTES];

	login();
	pdu_encode(&pdu, wire);
	fake_receive(wire, sizeof wire);
	expect_failed("the target sent an invalid");
}
END_TEST

START_TEST(initiator__source_that_cannot_be_read__ends_and_reports_it)
{
	struct backing broken = { .fd = -1, .bytes = BYTES };

	login();
	initiator.write.file = &broken;
	order(&initiator.write);
	expect_failed("source");
}
END_TEST

Suite *
iser_initiator_suite(void)
{
	Suite *suite = suite_create("iser-initiator");
	TCase *tcase = runner_tcase(suite, "connection");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, initiator__write__never_has_more_commands_out_than_the_queue_depth);
	tcase_add_test(
	    tcase, initiator__responses_overtake_the_send_completions__tasks_wait_for_both);
	tcase_add_test(
	    tcase, initiator__next_job_ordered_while_tasks_wait_for_completions__is_begun);
	tcase_add_test(tcase, initiator__read__stores_each_block_at_its_place);
	tcase_add_test(tcase, initiator__logout__disconnects_gracefully_and_is_clean);
	tcase_add_test(tcase, initiator__login_refused__reports_the_targets_reason);
	tcase_add_test(tcase, initiator__block_refused__ends_and_reports_it);
	tcase_add_loop_test(tcase, initiator__response_with_a_wild_tag__ends_the_connection, 0, 3);
	tcase_add_test(tcase, initiator__response_twice__ends_the_connection);
	tcase_add_test(tcase, initiator__response_of_another_kind__ends_the_connection);
	tcase_add_test(tcase, initiator__request_instead_of_a_response__ends_the_connection);
	tcase_add_test(tcase, initiator__source_that_cannot_be_read__ends_and_reports_it);
	return suite;
}
