/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of dat_ib_extensions.h on connected endpoints. */
#include "lib/dt.h"

#include <dat2/dat_ib_extensions.h>

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define LENGTH DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE)
#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG

/* Two connected sides; `a` acts, the buffer of `b` may be used by atomics too. */
static void
open_pair(struct dt_pair *pair)
{
	const DAT_MEM_PRIV_FLAGS all =
	    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
	struct dt_side *b = &pair->b;
	DAT_REGION_DESCRIPTION region;

	dt_pair_open(pair, DT_SEPARATE);
	dt_ok(dat_lmr_free(b->lmr));
	region.for_va = b->buffer;
	dt_ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, b->pz, all,
	    DAT_VA_TYPE_VA, &b->lmr, &b->lmr_context, &b->rmr_context, NULL, NULL));
	dt_connect_pair(pair);
}

static uint64_t
word_at(const struct dt_side *side, size_t offset)
{
	uint64_t word;

	memcpy(&word, side->buffer + offset, sizeof word);
	return word;
}

static void
set_word(struct dt_side *side, size_t offset, uint64_t word)
{
	memcpy(side->buffer + offset, &word, sizeof word);
}

/* An extended event with both of its parts. */
static void
expect_ib(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, DAT_IB_DTOS operation,
    DAT_IB_EXT_TYPE type, DAT_DTO_COMPLETION_STATUS status, DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	const DAT_IB_EXTENSION_EVENT_DATA *ib;

	dt_expect(evd, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, event);
	dto = &event->event_data.dto_completion_event_data;
	ib = (const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event->event_extension_data;
	ck_assert_ptr_eq(dto->ep_handle, ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, cookie);
	ck_assert_int_eq(dto->status, status);
	ck_assert_int_eq((int)dto->operation, (int)operation);
	ck_assert_int_eq(ib->type, type);
	ck_assert_int_eq(
	    ib->status, status == DAT_DTO_SUCCESS ? (int)DAT_OP_SUCCESS : (int)DAT_IB_OP_ERR);
	ck_assert_uint_eq(ib->context.as_64, cookie);
}

static DAT_UINT32
immediate_of(const DAT_EVENT *event)
{
	return ((const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event->event_extension_data)
	    ->val.immed.data;
}

DT_CASE("ib:operations");

/* clause: f.2.1 */
TEST(fetch_and_add__adds_there_and_returns_the_old_value)
{
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	local = dt_local(&pair.a, 64, 8);
	remote = dt_remote(&pair.b, 128, 8);
	set_word(&pair.b, 128, 1000);
	dt_ok(dat_ib_post_fetch_and_add(
	    pair.a.ep, 0x500000000, &local, dt_cookie(7), &remote, DEFAULT));
	expect_ib(pair.a.request, pair.a.ep, 7, DAT_IB_DTO_FETCH_ADD, DAT_IB_FETCH_AND_ADD,
	    DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.transfered_length, 8);
	ck_assert_uint_eq(word_at(&pair.a, 64), 1000);
	ck_assert_uint_eq(word_at(&pair.b, 128), 1000 + 0x500000000);
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: f.2.1 */
TEST(cmp_and_swap__swaps_only_an_equal_value)
{
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	local = dt_local(&pair.a, 64, 8);
	remote = dt_remote(&pair.b, 128, 8);
	set_word(&pair.b, 128, 5);
	for (int equal = 0; equal < 2; equal++) {
		dt_ok(dat_ib_post_cmp_and_swap(
		    pair.a.ep, equal ? 5 : 6, 9, &local, dt_cookie(8), &remote, DEFAULT));
		expect_ib(pair.a.request, pair.a.ep, 8, DAT_IB_DTO_CMP_SWAP, DAT_IB_CMP_AND_SWAP,
		    DAT_DTO_SUCCESS, &event);
		ck_assert_uint_eq(word_at(&pair.a, 64), 5);
		ck_assert_uint_eq(word_at(&pair.b, 128), equal ? 9 : 5);
	}
	dt_pair_close(&pair);
}

/* clause: f.2.2 */
TEST(write_immed__writes_and_its_data_comes_with_a_receive)
{
	DAT_LMR_TRIPLET local[2];
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	local[0] = dt_local(&pair.a, 0, 3);
	local[1] = dt_local(&pair.a, 10, 4);
	remote = dt_remote(&pair.b, 256, 7);
	memcpy(pair.a.buffer, "abc.......defg", 14);
	dt_recv(&pair.b, 0, 64, 31);
	dt_ok(dat_ib_post_rdma_write_immed(
	    pair.a.ep, 2, local, dt_cookie(9), &remote, 0x12345678, DEFAULT));
	expect_ib(pair.a.request, pair.a.ep, 9, DAT_IB_DTO_RDMA_WRITE_IMMED,
	    DAT_IB_RDMA_WRITE_IMMED, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.transfered_length, 7);
	expect_ib(pair.b.recv, pair.b.ep, 31, DAT_IB_DTO_RECV_IMMED, DAT_IB_RDMA_WRITE_IMMED_DATA,
	    DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.transfered_length, 7);
	ck_assert_uint_eq(immediate_of(&event), 0x12345678);
	ck_assert_mem_eq(pair.b.buffer + 256, "abcdefg", 7);
	dt_pair_close(&pair);
}

/* clause: f.2.2 */
TEST(write_immed__into_a_shared_queue__has_its_data_and_endpoint)
{
	DAT_SRQ_ATTR attr = { 4, 1, 0 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_SRQ_HANDLE srq;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_srq_create(pair.b.ia, pair.b.pz, &attr, &srq));
	dt_ok(dat_ep_create_with_srq(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request,
	    pair.b.connect, srq, NULL, &pair.b.ep));
	dt_connect_pair(&pair);
	dt_ok(dat_srq_post_recv(srq, 0, NULL, dt_cookie(4)));
	local = dt_local(&pair.a, 0, 16);
	remote = dt_remote(&pair.b, 0, 16);
	dt_ok(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(9), &remote, 77, DEFAULT));
	expect_ib(pair.b.recv, pair.b.ep, 4, DAT_IB_DTO_RECV_IMMED, DAT_IB_RDMA_WRITE_IMMED_DATA,
	    DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(immediate_of(&event), 77);
	dt_pair_close(&pair);
}

/* clause: f.2.3 */
TEST(bad_arguments__each_has_its_code)
{
	DAT_COMPLETION_FLAGS flags = (DAT_COMPLETION_FLAGS)0x4000;
	DAT_LMR_TRIPLET local, shorter;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;

	open_pair(&pair);
	local = dt_local(&pair.a, 0, 8);
	shorter = dt_local(&pair.a, 0, 7);
	remote = dt_remote(&pair.b, 0, 8);
	dt_assert_ret(
	    dat_ib_post_fetch_and_add(pair.a.pz, 1, &local, dt_cookie(1), &remote, DEFAULT),
	    BAD_EP);
	dt_assert_ret(dat_ib_post_fetch_and_add(pair.a.ep, 1, NULL, dt_cookie(1), &remote, DEFAULT),
	    PARAMETER(4));
	dt_assert_ret(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(1), NULL, DEFAULT),
	    PARAMETER(6));
	dt_assert_ret(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(1), &remote, flags),
	    PARAMETER(7));
	dt_assert_ret(
	    dat_ib_post_fetch_and_add(pair.a.ep, 1, &shorter, dt_cookie(1), &remote, DEFAULT),
	    LENGTH);
	dt_assert_ret(
	    dat_ib_post_cmp_and_swap(pair.a.ia, 1, 2, &local, dt_cookie(1), &remote, DEFAULT),
	    BAD_EP);
	dt_assert_ret(
	    dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, NULL, dt_cookie(1), &remote, DEFAULT),
	    PARAMETER(5));
	dt_assert_ret(
	    dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, &local, dt_cookie(1), NULL, DEFAULT),
	    PARAMETER(7));
	dt_assert_ret(
	    dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, &local, dt_cookie(1), &remote, flags),
	    PARAMETER(8));
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, -1, &local, dt_cookie(1), &remote, 1, DEFAULT),
	    PARAMETER(3));
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, NULL, dt_cookie(1), &remote, 1, DEFAULT),
	    PARAMETER(4));
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(1), NULL, 1, DEFAULT),
	    PARAMETER(6));
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(1), &remote, 1, flags),
	    PARAMETER(8));
	remote.segment_length = 7;
	dt_assert_ret(
	    dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT),
	    LENGTH);
	dt_assert_ret(
	    dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, &local, dt_cookie(1), &remote, DEFAULT),
	    LENGTH);
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(1), &remote, 1, DEFAULT),
	    LENGTH);
	dt_assert_empty(pair.a.request);
	dt_pair_close(&pair);
}

/* clause: f.2.1 */
TEST(atomic__the_region_does_not_allow_it__fails_and_breaks_the_connection)
{
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE); /* all privileges, but not that of atomics */
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 8);
	remote = dt_remote(&pair.b, 0, 8);
	dt_ok(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(3), &remote, DEFAULT));
	expect_ib(pair.a.request, pair.a.ep, 3, DAT_IB_DTO_FETCH_ADD, DAT_IB_FETCH_AND_ADD,
	    DAT_DTO_ERR_REMOTE_ACCESS, &event);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	/* On a disconnected endpoint it is flushed, as any request. */
	dt_ok(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(4), &remote, DEFAULT));
	expect_ib(pair.a.request, pair.a.ep, 4, DAT_IB_DTO_FETCH_ADD, DAT_IB_FETCH_AND_ADD,
	    DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

/* clause: f.1.2 */
TEST(open_query__by_name__returns_attributes_and_an_adapter)
{
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR attr;
	DAT_PZ_HANDLE pz;

	for (int i = 0; i < 3; i++) {
		memset(&attr, 0, sizeof attr);
		dt_ok(dat_ib_open_query(
		    "soft", &ia, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
		ck_assert_int_gt(attr.max_eps, 0);
		ck_assert_int_eq(attr.extension_supported, DAT_EXTENSION_IB);
		ck_assert_str_eq(provider.provider_name, "soft");
		dt_ok(dat_ia_query(ia, &async, 0, NULL, 0, NULL));
		dt_assert_empty(async);
		dt_ok(dat_pz_create(ia, &pz));
		dt_ok(dat_ib_close_query(ia));
		dt_assert_ret(
		    dat_pz_free(pz), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	}
	dt_assert_type(dat_ib_open_query("none", &ia, 0, NULL, 0, NULL), DAT_PROVIDER_NOT_FOUND);
	dt_assert_ret(
	    dat_ib_open_query("soft", &ia, DAT_IA_FIELD_ALL, NULL, 0, NULL), PARAMETER(4));
	dt_assert_ret(dat_ib_open_query("soft", NULL, 0, NULL, 0, NULL), PARAMETER(4));
}

/* clause: e.1.10, f.2.1 */
TEST_LOOP(operation__flushed_here_and_the_endpoint_freed_or_reset__leaves_no_event, 2)
{
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;

	open_pair(&pair);
	local = dt_local(&pair.a, 64, 8);
	remote = dt_remote(&pair.b, 128, 8);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_ok(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(7), &remote, DEFAULT));
	if (_i)
		dt_ok(dat_ep_reset(pair.a.ep));
	else
		dt_ok(dat_ep_free(pair.a.ep));
	dt_assert_stays_empty(pair.a.request);
	dt_pair_close(&pair);
}
