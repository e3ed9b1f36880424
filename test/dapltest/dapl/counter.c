/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of adapters, endpoints and EVDs. */
#include "lib/dt.h"

#include <stdio.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define BAD_HANDLE DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE)
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG

#define UNTOUCHED 0x5555555555555555u

/* A counter and its value; a list ends with a negative counter. */
struct want {
	int which;
	DAT_UINT64 value;
};

/* All counters of the object have these values, and 0 where none is given. */
static void
assert_counters(DAT_HANDLE handle, int all, const struct want *wants)
{
	DAT_UINT64 want[DCNT_IA_ALL_COUNTERS] = { 0 }, got[DCNT_IA_ALL_COUNTERS];

	for (; wants->which >= 0; wants++)
		want[wants->which] = wants->value;
	dt_ok(dat_ib_query_counters(handle, all, got, 0));
	for (int i = 0; i < all; i++)
		ck_assert_msg(got[i] == want[i], "counter %d is %llu, not %llu", i,
		    (unsigned long long)got[i], (unsigned long long)want[i]);
}

static DAT_UINT64
counter(DAT_HANDLE handle, int which)
{
	DAT_UINT64 got[DCNT_IA_ALL_COUNTERS];

	dt_ok(dat_ib_query_counters(handle, which, got, 0));
	return got[which];
}

DT_CASE("counter:operations");

/* origin: outside.82 */
/* clause: f.2.5 */
TEST(endpoint__each_kind_of_post_and_receive_is_counted_with_its_bytes)
{
	const DAT_MEM_PRIV_FLAGS all =
	    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_lmr_free(pair.b.lmr));
	region.for_va = pair.b.buffer;
	dt_ok(dat_lmr_create(pair.b.ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, pair.b.pz, all,
	    DAT_VA_TYPE_VA, &pair.b.lmr, &pair.b.lmr_context, &pair.b.rmr_context, NULL, NULL));
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 24);
	remote = dt_remote(&pair.b, 0, 24);
	for (int i = 0; i < 3; i++)
		dt_recv(&pair.b, 512, 100, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_send(&pair.a, 0, 36, 2);
	dt_ok(dat_ep_post_rdma_write(pair.a.ep, 1, &local, dt_cookie(3), &remote, DEFAULT));
	remote.segment_length = 20;
	dt_ok(dat_ep_post_rdma_read(pair.a.ep, 1, &local, dt_cookie(4), &remote, DEFAULT));
	remote.segment_length = 24;
	dt_ok(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(5), &remote, 77, DEFAULT));
	dt_ok(dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, &local, dt_cookie(6), &remote, DEFAULT));
	dt_ok(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(7), &remote, DEFAULT));
	for (int i = 0; i < 7; i++)
		dt_next(pair.a.request, &event);
	for (int i = 0; i < 3; i++)
		dt_next(pair.b.recv, &event);
	assert_counters(pair.a.ep, DCNT_EP_ALL_COUNTERS,
	    (struct want[]){ { DCNT_EP_CONNECT, 1 }, { DCNT_EP_POST_SEND, 2 },
		{ DCNT_EP_POST_SEND_DATA, 100 }, { DCNT_EP_POST_WRITE, 1 },
		{ DCNT_EP_POST_WRITE_DATA, 24 }, { DCNT_EP_POST_READ, 1 },
		{ DCNT_EP_POST_READ_DATA, 20 }, { DCNT_EP_POST_WRITE_IMM, 1 },
		{ DCNT_EP_POST_WRITE_IMM_DATA, 24 }, { DCNT_EP_POST_CMP_SWAP, 1 },
		{ DCNT_EP_POST_FETCH_ADD, 1 }, { -1, 0 } });
	assert_counters(pair.b.ep, DCNT_EP_ALL_COUNTERS,
	    (struct want[]){ { DCNT_EP_POST_RECV, 3 }, { DCNT_EP_POST_RECV_DATA, 300 },
		{ DCNT_EP_RECV, 2 }, { DCNT_EP_RECV_DATA, 100 }, { DCNT_EP_RECV_RDMA_IMM, 1 },
		{ DCNT_EP_RECV_RDMA_IMM_DATA, 24 }, { -1, 0 } });
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	ck_assert_uint_eq(counter(pair.a.ep, DCNT_EP_DISCONNECT), 1);
	/* A post that is refused, or flushed by the provider, does not count. */
	dt_assert_ret(dat_ep_post_send(pair.a.ep, -1, &local, dt_cookie(8), DEFAULT), PARAMETER(2));
	dt_send(&pair.a, 0, 10, 9);
	ck_assert_uint_eq(counter(pair.a.ep, DCNT_EP_POST_SEND), 2);
	/* A disconnect that does nothing does not count; a graceful one does. */
	dt_expect_disconnected(&pair.b);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert_uint_eq(counter(pair.b.ep, DCNT_EP_DISCONNECT), 0);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_reset(pair.b.ep));
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert_uint_eq(counter(pair.b.ep, DCNT_EP_DISCONNECT), 1);
	dt_pair_close(&pair);
}

/* clause: f.2.5 */
TEST(adapter__objects_and_connections_are_counted)
{
	DAT_CONN_QUAL qual;
	DAT_EVD_HANDLE evd;
	DAT_PSP_HANDLE psp;
	struct dt_pair pair;
	DAT_CR_HANDLE cr;
	DAT_PZ_HANDLE pz;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	assert_counters(pair.a.ia, DCNT_IA_ALL_COUNTERS,
	    (struct want[]){ { DCNT_IA_PZ_CREATE, 1 }, { DCNT_IA_LMR_CREATE, 1 },
		{ DCNT_IA_EVD_CREATE, counter(pair.a.ia, DCNT_IA_EVD_CREATE) },
		{ DCNT_IA_EP_CREATE, 1 }, { DCNT_IA_CM_REQ_TX, 1 }, { DCNT_IA_CM_REP_RX, 1 },
		{ DCNT_IA_CM_RTU_TX, 1 }, { DCNT_IA_CM_ACTIVE_EST, 1 }, { -1, 0 } });
	ck_assert_uint_ge(counter(pair.a.ia, DCNT_IA_EVD_CREATE), 4);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_CM_REQ_RX), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_SP_CR), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_SP_CR_ACCEPTED), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_CM_REP_TX), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_CM_RTU_RX), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_CM_PASSIVE_EST), 1);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_CM_DREQ_TX), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_CM_DREQ_RX), 1);

	/* A request that the consumer rejects. */
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_ok(dat_cr_reject(cr, 0, NULL));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, pair.a.ep);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_SP_CR_REJECTED), 1);
	ck_assert_uint_eq(counter(pair.b.ia, DCNT_IA_CM_USER_REJ_TX), 1);
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_CM_USER_REJ_RX), 1);
	ck_assert_uint_eq(counter(pair.a.ep, DCNT_EP_CONNECT), 2);

	/* Objects end, and a port of the provider's choice is counted apart. */
	dt_ok(dat_pz_create(pair.a.ia, &pz));
	dt_ok(dat_pz_free(pz));
	evd = dt_evd(&pair.a, DAT_EVD_CR_FLAG, 4);
	dt_ok(dat_psp_create_any(pair.a.ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_PZ_CREATE), 2);
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_PZ_FREE), 1);
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_PSP_CREATE), 0);
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_PSP_CREATE_ANY), 1);
	ck_assert_uint_eq(counter(pair.a.ia, DCNT_IA_PSP_FREE), 1);
	dt_pair_close(&pair);
}

/* origin: outside.81 */
/* clause: f.2.5 */
TEST(adapter__opened_again__has_counted_nothing)
{
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	for (int i = 0; i < 3; i++) {
		ia = dt_open("soft", &async);
		ck_assert_uint_eq(counter(ia, DCNT_IA_PZ_CREATE), 0);
		ck_assert_uint_eq(counter(ia, DCNT_IA_EVD_FREE), 0);
		dt_ok(dat_pz_create(ia, &pz));
		dt_ok(dat_ib_query_counters(
		    ia, DCNT_IA_ALL_COUNTERS, (DAT_UINT64[DCNT_IA_ALL_COUNTERS]){ 0 }, 1));
		dt_close(ia);
	}
}

/* clause: f.2.5 */
TEST(evd__dequeues_while_several_are_queued_are_counted)
{
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 4; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 64, i);
	}
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 4, &event, &more));
	for (int i = 0; i < 3; i++)
		dt_ok(dat_evd_dequeue(pair.b.recv, &event));
	ck_assert_uint_eq(counter(pair.b.recv, DCNT_EVD_DEQUEUE), 3);
	ck_assert_uint_eq(counter(pair.b.recv, DCNT_EVD_DEQUEUE_FOUND), 3);
	ck_assert_uint_eq(counter(pair.b.recv, DCNT_EVD_DEQUEUE_NOT_FOUND), 0);
	dt_pair_close(&pair);
}

/* clause: f.2.5 */
TEST(evd__waits_and_dequeues_are_counted)
{
	struct dt_pair pair;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	evd = dt_evd(&pair.a, DAT_EVD_SOFTWARE_FLAG, 4);
	dt_post_se(evd, 1);
	dt_post_se(evd, 2);
	dt_ok(dat_evd_wait(evd, 1000000, 1, &event, &more));
	dt_ok(dat_evd_dequeue(evd, &event));
	dt_assert_type(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
	dt_assert_type(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
	dt_assert_type(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	assert_counters(evd, DCNT_EVD_ALL_COUNTERS,
	    (struct want[]){ { DCNT_EVD_WAIT, 2 },
		{ DCNT_EVD_WAIT_BLOCKED, counter(evd, DCNT_EVD_WAIT_BLOCKED) },
		{ DCNT_EVD_DEQUEUE, 3 }, { DCNT_EVD_DEQUEUE_FOUND, 1 },
		{ DCNT_EVD_DEQUEUE_NOT_FOUND, 2 }, { -1, 0 } });
	ck_assert_uint_ge(counter(evd, DCNT_EVD_WAIT_BLOCKED), 1);

	/* The device is polled, and found to have a completion or not. */
	dt_assert_type(dat_evd_dequeue(pair.b.recv, &event), DAT_QUEUE_EMPTY);
	dt_recv(&pair.b, 0, 64, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_poll_next(pair.b.recv, &event);
	ck_assert_uint_eq(
	    counter(pair.b.recv, DCNT_EVD_DEQUEUE), counter(pair.b.recv, DCNT_EVD_DEQUEUE_POLL));
	ck_assert_uint_eq(counter(pair.b.recv, DCNT_EVD_DEQUEUE_POLL_FOUND), 1);
	ck_assert_uint_eq(counter(pair.b.recv, DCNT_EVD_WAIT_NOTIFY), 0);
	dt_assert_type(dat_evd_wait(pair.b.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	/* An extra event of the device makes it arm again. */
	ck_assert_uint_ge(counter(pair.b.recv, DCNT_EVD_WAIT_NOTIFY), 1);
	dt_recv(&pair.b, 0, 64, 2);
	dt_send(&pair.a, 0, 64, 2);
	dt_ok(dat_evd_wait(pair.b.recv, 10000000, 1, &event, &more));
	ck_assert_uint_eq(counter(pair.a.connect, DCNT_EVD_CONN_CALLBACK), 1);
	dt_pair_close(&pair);
}

/* origin: outside.80 */
/* clause: f.2.6 */
TEST(one_counter__is_copied_to_its_place_and_reset_alone)
{
	DAT_UINT64 out[DCNT_EVD_ALL_COUNTERS];
	DAT_EVD_HANDLE evd, async;
	DAT_EVENT event;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	ia = dt_open("soft", &async);
	dt_ok(dat_evd_create(ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	for (int i = 0; i < 5; i++)
		dt_assert_type(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
	for (int i = 0; i < DCNT_EVD_ALL_COUNTERS; i++)
		out[i] = UNTOUCHED;
	dt_ok(dat_ib_query_counters(evd, DCNT_EVD_DEQUEUE, out, 1));
	for (int i = 0; i < DCNT_EVD_ALL_COUNTERS; i++)
		ck_assert_uint_eq(out[i], i == DCNT_EVD_DEQUEUE ? 5 : UNTOUCHED);
	dt_post_se(evd, 1);
	dt_ok(dat_evd_dequeue(evd, &event));
	assert_counters(evd, DCNT_EVD_ALL_COUNTERS,
	    (struct want[]){ { DCNT_EVD_DEQUEUE, 1 }, { DCNT_EVD_DEQUEUE_FOUND, 1 },
		{ DCNT_EVD_DEQUEUE_NOT_FOUND, 5 }, { -1, 0 } });
	dt_ok(dat_ib_query_counters(evd, DCNT_EVD_ALL_COUNTERS, out, 1));
	ck_assert_uint_eq(out[DCNT_EVD_DEQUEUE], 1);
	assert_counters(evd, DCNT_EVD_ALL_COUNTERS, (struct want[]){ { -1, 0 } });

	/* The same of an adapter. */
	dt_ok(dat_pz_create(ia, &pz));
	dt_ok(dat_ib_print_counters(ia, DCNT_IA_PZ_CREATE, 1));
	dt_ok(dat_pz_create(ia, &pz));
	ck_assert_uint_eq(counter(ia, DCNT_IA_PZ_CREATE), 1);
	dt_close(ia);
}

/* What `call` writes to the standard output, in `text`. */
#define PRINTED(text, call) \
	do { \
		FILE *into = tmpfile(); \
		const int saved = dup(STDOUT_FILENO); \
		size_t length; \
\
		ck_assert_ptr_nonnull(into); \
		fflush(stdout); \
		dup2(fileno(into), STDOUT_FILENO); \
		dt_ok(call); \
		fflush(stdout); \
		dup2(saved, STDOUT_FILENO); \
		close(saved); \
		rewind(into); \
		length = fread(text, 1, sizeof(text) - 1, into); \
		(text)[length] = '\0'; \
		fclose(into); \
	} while (0)

/* clause: f.2.6 */
TEST(print__one_line_for_each_counter)
{
	char text[8192];
	DAT_EVD_HANDLE async;
	DAT_EVENT event;
	DAT_IA_HANDLE ia;
	int lines = 0;

	ia = dt_open("soft", &async);
	dt_assert_type(dat_evd_dequeue(async, &event), DAT_QUEUE_EMPTY);
	PRINTED(text, dat_ib_print_counters(async, DCNT_EVD_ALL_COUNTERS, 0));
	ck_assert_str_eq(text, "DCNT_EVD_WAIT = 0\nDCNT_EVD_WAIT_BLOCKED = 0\n"
			       "DCNT_EVD_WAIT_NOTIFY = 0\nDCNT_EVD_DEQUEUE = 1\n"
			       "DCNT_EVD_DEQUEUE_FOUND = 0\nDCNT_EVD_DEQUEUE_NOT_FOUND = 1\n"
			       "DCNT_EVD_DEQUEUE_POLL = 0\nDCNT_EVD_DEQUEUE_POLL_FOUND = 0\n"
			       "DCNT_EVD_CONN_CALLBACK = 0\nDCNT_EVD_DTO_CALLBACK = 0\n");
	PRINTED(text, dat_ib_print_counters(ia, DCNT_IA_EVD_CREATE, 0));
	ck_assert_str_eq(text, "DCNT_IA_EVD_CREATE = 1\n");
	PRINTED(text, dat_ib_print_counters(ia, DCNT_IA_ALL_COUNTERS, 0));
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	ck_assert_int_eq(lines, DCNT_IA_ALL_COUNTERS);
	ck_assert_ptr_nonnull(strstr(text, "\nDCNT_IA_DIAG_ERR_SQ_TREE = 0\n"));
	dt_close(ia);
}

/* clause: f.2.3 */
TEST(bad_arguments__each_has_its_code)
{
	DAT_UINT64 out[DCNT_IA_ALL_COUNTERS];
	DAT_EVD_HANDLE async, freed;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	ia = dt_open("soft", &async);
	dt_ok(dat_pz_create(ia, &pz));
	dt_ok(dat_evd_create(ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &freed));
	dt_ok(dat_evd_free(freed));
	dt_assert_ret(dat_ib_query_counters(pz, 0, out, 0), BAD_HANDLE);
	dt_assert_ret(dat_ib_query_counters(freed, 0, out, 0), BAD_HANDLE);
	dt_assert_ret(dat_ib_query_counters(ia, -1, out, 0), PARAMETER(3));
	dt_assert_ret(
	    dat_ib_query_counters(async, DCNT_EVD_ALL_COUNTERS + 1, out, 0), PARAMETER(3));
	dt_assert_ret(dat_ib_query_counters(ia, 0, NULL, 0), PARAMETER(4));
	dt_assert_ret(dat_ib_print_counters(pz, 0, 0), BAD_HANDLE);
	dt_assert_ret(dat_ib_print_counters(ia, DCNT_IA_ALL_COUNTERS + 1, 0), PARAMETER(3));
	dt_close(ia);
}

/* clause: f.2.7 */
TEST(start_and_stop__what_is_not_read_from_the_device_is_not_supported)
{
	const DAT_RETURN model = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;

	ia = dt_open("soft", &async);
	dt_ok(dat_ib_start_counter(ia, DCNT_IA_CM));
	dt_ok(dat_pz_create(ia, &pz));
	dt_ok(dat_ib_stop_counter(ia, DCNT_IA_CM));
	ck_assert_uint_eq(counter(ia, DCNT_IA_PZ_CREATE), 1);
	dt_assert_ret(dat_ib_start_counter(ia, DCNT_IA_LNK), model);
	dt_assert_ret(dat_ib_stop_counter(ia, DCNT_IA_DIAG), model);
	dt_assert_ret(dat_ib_start_counter(ia, DCNT_IA_DIAG + 1), PARAMETER(3));
	dt_assert_ret(dat_ib_start_counter(pz, DCNT_IA_CM),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	dt_close(ia);
}
