/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-iser-wild -- the target of examples/iser against an initiator that breaks the rules
 *
 * Target and initiator live in the test's process, each with an adapter of its own on the software
 * device.  What the wild initiator sends is up to the test; what it gets back is recorded.
 */
#include "lib/runner.h"

#include "examples/iser/bell.h"
#include "examples/iser/conn.h"
#include "examples/iser/options.h"
#include "examples/iser/pdu.h"
#include "examples/iser/target.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH 2u
#define BLOCK 4096u
#define BLOCKS 8u
#define RECVS 64u
#define SENDS 64u
#define PATIENCE (10 * BELL_SECOND)
#define CROWD 300 /* more requests than the target's EVD holds */

/* The initiator's side of a connection. */
struct wild {
	struct conn conn;
	pthread_mutex_t lock;
	struct pdu got[RECVS]; /* guarded by lock */
	unsigned int count;    /* guarded by lock */
};

static struct options options;
static struct bell bell;
static struct backing device;
static struct target target;
static struct adapter adapter;
static struct wild wild[2];

static void
on_received(struct conn *conn, unsigned int slot, enum pdu_status status, const struct pdu *pdu)
{
	struct wild *w = conn->owner;

	(void)slot, (void)status;
	pthread_mutex_lock(&w->lock);
	if (w->count < RECVS)
		w->got[w->count++] = *pdu;
	pthread_mutex_unlock(&w->lock);
}

static void
on_slot(struct conn *conn, unsigned int slot)
{
	(void)conn, (void)slot;
}

static void
on_order(struct conn *conn, void *order)
{
	(void)order;
	conn_close(conn);
}

static void
on_nothing(struct conn *conn)
{
	(void)conn;
}

static const struct conn_ops wild_ops = {
	.established = on_nothing,
	.received = on_received,
	.sent = on_slot,
	.moved = on_slot,
	.ordered = on_order,
	.closed = on_nothing,
};

static unsigned int
responses(struct wild *w)
{
	unsigned int n;

	pthread_mutex_lock(&w->lock);
	n = w->count;
	pthread_mutex_unlock(&w->lock);
	return n;
}

static struct pdu
response(struct wild *w, unsigned int i)
{
	struct pdu pdu;

	pthread_mutex_lock(&w->lock);
	pdu = w->got[i];
	pthread_mutex_unlock(&w->lock);
	return pdu;
}

/* Sleeps until the condition holds; the test fails when it never does. */
#define await(condition) \
	do { \
		uint64_t deadline_ = bell_now() + PATIENCE; \
		while (!(condition)) { \
			ck_assert_msg(bell_now() < deadline_, "never: %s", #condition); \
			bell_wait(&bell, bell_now() + BELL_SECOND / 1000); \
		} \
	} while (0)

static void
setup(void)
{
	setenv("DAT_OVERRIDE", DAT_CONF, 1);
	options = (struct options){ .ia = "rearm-soft" };
	ck_assert_int_eq(bell_init(&bell), 0);
	ck_assert_int_eq(backing_open_temporary(&device), 0);
	ck_assert_int_eq(target_open(&target, &options, &bell, &device, true, 0), 0);
	ck_assert_int_eq(adapter_open(&adapter, "rearm-soft", &bell), 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(adapter_close(&adapter), 0);
	ck_assert_int_eq(target_close(&target), 0);
	backing_close(&device);
	bell_fini(&bell);
}

static void
wild_connect(struct wild *w, const struct hello *hello)
{
	const struct conn_shape shape = {
		.recvs = RECVS,
		.sends = SENDS,
		.requests = SENDS,
		.block_bytes = BLOCK,
		.data_privileges = DAT_MEM_PRIV_ALL_FLAG,
	};
	const char *call;

	memset(w, 0, sizeof *w);
	pthread_mutex_init(&w->lock, NULL);
	ck_assert_uint_eq(
	    conn_create(&w->conn, &adapter, &wild_ops, w, 0, &shape, &call), DAT_SUCCESS);
	ck_assert_uint_eq(conn_connect(&w->conn, adapter.attr.ia_address_ptr, target.port,
			      (DAT_TIMEOUT)5000000, hello),
	    DAT_SUCCESS);
	await(conn_state(&w->conn) != CONN_CONNECTING);
}

static void
wild_free(struct wild *w)
{
	ck_assert_int_eq(conn_free(&w->conn), 0);
	pthread_mutex_destroy(&w->lock);
}

/* Ends it in order, and waits for every posted receive. */
static void
wild_close(struct wild *w)
{
	ck_assert_int_eq(conn_order(&w->conn, w), 0);
	await(conn_is_finished(&w->conn));
	wild_free(w);
}

static struct pdu
command(struct wild *w, enum pdu_opcode opcode, uint32_t tag, uint64_t lba)
{
	DAT_LMR_TRIPLET buffer = region_segment(&w->conn.data, tag % SENDS * BLOCK, BLOCK);

	return (struct pdu){
		.opcode = (uint8_t)opcode,
		.tag = tag,
		.lba = lba,
		.length = BLOCK,
		.remote_address = buffer.virtual_address,
		.remote_length = BLOCK,
		.remote_context = w->conn.data.rmr_context,
		.device_bytes = BLOCKS * BLOCK,
	};
}

static void
wild_send(struct wild *w, const struct pdu *pdu)
{
	ck_assert(conn_send(&w->conn, pdu->tag % SENDS, pdu));
}

static void
expect_status(struct wild *w, unsigned int i, uint32_t tag, enum pdu_status status)
{
	struct pdu pdu;

	await(responses(w) > i);
	pdu = response(w, i);
	ck_assert_uint_eq(pdu.tag, tag);
	ck_assert_str_eq(pdu_status_text(pdu.status), pdu_status_text(status));
}

static const struct hello good_hello = { .queue_depth = DEPTH, .block_bytes = BLOCK };

static void
wild_login(struct wild *w)
{
	struct pdu pdu;

	wild_connect(w, &good_hello);
	ck_assert_int_eq(conn_state(&w->conn), CONN_LOGIN);
	pdu = command(w, PDU_LOGIN, 0, 0);
	wild_send(w, &pdu);
	expect_status(w, 0, 0, PDU_OK);
}

START_TEST(target__hello_it_cannot_fulfil__refuses_with_the_reason)
{
	static const struct {
		struct hello hello;
		enum pdu_status status;
	} bad[] = {
		{ { .queue_depth = 0, .block_bytes = BLOCK }, PDU_BAD_QUEUE },
		{ { .queue_depth = PDU_MAX_QUEUE_DEPTH, .block_bytes = PDU_MAX_BLOCK_BYTES },
		    PDU_BAD_QUEUE },
		{ { .queue_depth = 1, .block_bytes = 0 }, PDU_BAD_BLOCK },
		{ { .queue_depth = 1, .block_bytes = UINT32_MAX }, PDU_BAD_BLOCK },
	};
	struct wild *w = &wild[0];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		wild_connect(w, &bad[i].hello);
		await(conn_state(&w->conn) == CONN_CLOSED);
		ck_assert_ptr_nonnull(strstr(w->conn.reason, pdu_status_text(bad[i].status)));
		wild_free(w);
	}
	ck_assert_uint_eq(target.refused, sizeof bad / sizeof bad[0]);
}
END_TEST

START_TEST(target__commands_without_login__are_refused_one_by_one)
{
	struct wild *w = &wild[0];
	struct pdu pdu;

	wild_connect(w, &good_hello);
	pdu = command(w, PDU_WRITE, 1, 0);
	wild_send(w, &pdu);
	expect_status(w, 0, 1, PDU_NOT_LOGGED_IN);
	pdu = command(w, PDU_READ, 2, 0);
	wild_send(w, &pdu);
	expect_status(w, 1, 2, PDU_NOT_LOGGED_IN);
	wild_close(w);
}
END_TEST

START_TEST(target__ranges_out_of_the_device__are_refused_and_the_connection_goes_on)
{
	struct wild *w = &wild[0];
	struct pdu pdu;

	wild_login(w);
	pdu = command(w, PDU_READ, 1, BLOCKS);
	wild_send(w, &pdu);
	expect_status(w, 1, 1, PDU_OUT_OF_RANGE);
	pdu = command(w, PDU_WRITE, 2, UINT64_MAX / BLOCK);
	wild_send(w, &pdu);
	expect_status(w, 2, 2, PDU_OUT_OF_RANGE);
	pdu = command(w, PDU_WRITE, 3, 0);
	pdu.length = BLOCK + 1;
	wild_send(w, &pdu);
	expect_status(w, 3, 3, PDU_BAD_LENGTH);
	memset(conn_buffer(&w->conn, 4), 'x', BLOCK);
	pdu = command(w, PDU_WRITE, 4, BLOCKS - 1);
	wild_send(w, &pdu);
	expect_status(w, 4, 4, PDU_OK);
	wild_close(w);
}
END_TEST

/* A key that is none: the RDMA fails, and with it the queue pair, on the target's side too. */
START_TEST(target__buffer_that_is_none__loses_this_connection_and_no_other)
{
	char stored[BLOCK];
	struct pdu pdu;

	wild_login(&wild[0]);
	wild_login(&wild[1]);
	pdu = command(&wild[0], _i ? PDU_READ : PDU_WRITE, 1, 0);
	pdu.remote_context ^= 0x5a5a5a5a;
	wild_send(&wild[0], &pdu);
	await(conn_is_finished(&wild[0].conn));
	ck_assert(!wild[0].conn.clean);
	await((target_reap(&target), target.lost == 1));
	wild_free(&wild[0]);

	memset(conn_buffer(&wild[1].conn, 2), 'y', BLOCK);
	pdu = command(&wild[1], PDU_WRITE, 2, 3);
	wild_send(&wild[1], &pdu);
	expect_status(&wild[1], 1, 2, PDU_OK);
	ck_assert_int_eq(backing_read(&device, 3 * BLOCK, stored, BLOCK), 0);
	for (unsigned int i = 0; i < BLOCK; i++)
		ck_assert_int_eq(stored[i], 'y');
	wild_close(&wild[1]);
}
END_TEST

/* More commands at once than receives: the device makes the sender wait, the target refuses. */
START_TEST(target__flooded__answers_every_command)
{
	struct wild *w = &wild[0];
	unsigned int done = 0, refused = 0;
	struct pdu pdu;

	wild_login(w);
	for (uint32_t tag = 1; tag < SENDS; tag++) {
		pdu = command(w, PDU_WRITE, tag, tag % BLOCKS);
		wild_send(w, &pdu);
	}
	await(responses(w) == SENDS);
	for (unsigned int i = 1; i < SENDS; i++) {
		pdu = response(w, i);
		ck_assert(pdu.status == PDU_OK || pdu.status == PDU_QUEUE_OVERRUN);
		done += pdu.status == PDU_OK;
		refused += pdu.status == PDU_QUEUE_OVERRUN;
	}
	ck_assert_uint_ge(done, DEPTH);
	ck_assert_uint_eq(done + refused, SENDS - 1);
	wild_close(w);
}
END_TEST

/* Connects each endpoint with a hello that is refused, and takes all the refusals. */
static void
crowd_in(DAT_EP_HANDLE *eps, DAT_EVD_HANDLE connect_evd)
{
	const struct hello bad = { .queue_depth = 0, .block_bytes = BLOCK };
	unsigned char wire[HELLO_BYTES];
	DAT_EVENT event;
	DAT_COUNT more;

	hello_encode(&bad, wire);
	/* The first request keeps the target's thread here, so that the others gather. */
	pthread_mutex_lock(&target.lock);
	for (int i = 0; i < CROWD; i++)
		ck_assert_uint_eq(dat_ep_connect(eps[i], adapter.attr.ia_address_ptr, target.port,
				      DAT_TIMEOUT_INFINITE, HELLO_BYTES, wire, DAT_QOS_BEST_EFFORT,
				      DAT_CONNECT_DEFAULT_FLAG),
		    DAT_SUCCESS);
	bell_wait(&bell, bell_now() + BELL_SECOND / 20);
	pthread_mutex_unlock(&target.lock);
	for (int i = 0; i < CROWD; i++) {
		ck_assert_uint_eq(
		    dat_evd_wait(connect_evd, (DAT_TIMEOUT)10000000, 1, &event, &more),
		    DAT_SUCCESS);
		ck_assert(event.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED ||
			  event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
		ck_assert_uint_eq(
		    dat_ep_reset(event.event_data.connect_event_data.ep_handle), DAT_SUCCESS);
	}
}

/* origin: attack.P8 */
START_TEST(target__more_requests_than_it_can_queue__refuses_them_and_serves_on)
{
	struct dat_rearm_evd_counters counters = { .overflows = 0 };
	const uint64_t deadline = bell_now() + PATIENCE;
	DAT_EP_HANDLE eps[CROWD];
	DAT_EVD_HANDLE evd;

	ck_assert_uint_eq(dat_evd_create(adapter.ia, 2 * CROWD, DAT_HANDLE_NULL,
			      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &evd),
	    DAT_SUCCESS);
	for (int i = 0; i < CROWD; i++)
		ck_assert_uint_eq(
		    dat_ep_create(adapter.ia, adapter.pz, evd, evd, evd, NULL, &eps[i]),
		    DAT_SUCCESS);
	while (counters.overflows == 0) {
		ck_assert_msg(bell_now() < deadline, "the listener's EVD never overflows");
		crowd_in(eps, evd);
		ck_assert_uint_eq(
		    dat_evd_query_upcall_counters(target.listener.evd, &counters), DAT_SUCCESS);
	}
	await(dat_evd_query_upcall_counters(target.adapter.async.evd, &counters) == DAT_SUCCESS &&
	      counters.upcalls > 0);
	watch_stop(&target.adapter.async); /* waits for that upcall */
	ck_assert(!atomic_load(&target.adapter.catastrophe));
	wild_login(&wild[0]);
	wild_close(&wild[0]);
	for (int i = 0; i < CROWD; i++)
		ck_assert_uint_eq(dat_ep_free(eps[i]), DAT_SUCCESS);
	ck_assert_uint_eq(dat_evd_free(evd), DAT_SUCCESS);
}
END_TEST

START_TEST(target__stopped_under_load__ends_every_connection)
{
	struct pdu pdu;

	wild_login(&wild[0]);
	wild_login(&wild[1]);
	for (uint32_t tag = 1; tag < DEPTH + 1; tag++)
		for (int i = 0; i < 2; i++) {
			pdu = command(&wild[i], PDU_READ, tag, tag);
			wild_send(&wild[i], &pdu);
		}
	ck_assert_int_eq(target_close(&target), 0);
	for (int i = 0; i < 2; i++) {
		await(conn_is_finished(&wild[i].conn));
		wild_free(&wild[i]);
	}
	/* For the teardown's sake. */
	ck_assert_int_eq(target_open(&target, &options, &bell, &device, true, 0), 0);
}
END_TEST

static Suite *
iser_wild_suite(void)
{
	Suite *suite = suite_create("iser-wild");
	TCase *tc = runner_tcase(suite, "target");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, target__hello_it_cannot_fulfil__refuses_with_the_reason);
	tcase_add_test(tc, target__commands_without_login__are_refused_one_by_one);
	tcase_add_test(
	    tc, target__ranges_out_of_the_device__are_refused_and_the_connection_goes_on);
	tcase_add_loop_test(
	    tc, target__buffer_that_is_none__loses_this_connection_and_no_other, 0, 2);
	tcase_add_test(tc, target__flooded__answers_every_command);
	tcase_add_test(tc, target__more_requests_than_it_can_queue__refuses_them_and_serves_on);
	tcase_add_test(tc, target__stopped_under_load__ends_every_connection);
	return suite;
}

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = { iser_wild_suite, NULL };

	return runner_main(argc, argv, suites);
}
