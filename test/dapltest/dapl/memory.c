/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "lib/dt.h"

#include <dat2/dat_ib_extensions.h>

static char memory[8192];

static DAT_RETURN
reg(const struct dt_side *side, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
    DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv, DAT_LMR_HANDLE *lmr)
{
	return dat_lmr_create(
	    side->ia, type, region, length, pz, priv, DAT_VA_TYPE_VA, lmr, NULL, NULL, NULL, NULL);
}

DT_CASE("memory:memory");

/* clause: e.7.1, e.7.6 */
TEST(lmr__created__covers_the_buffer)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory + 3 };
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VADDR address;
	DAT_LMR_PARAM param;
	DAT_LMR_HANDLE lmr;
	struct dt_side side;
	DAT_VLEN length;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_lmr_create(side.ia, DAT_MEM_TYPE_VIRTUAL, region, 1000, side.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &lmr_context, &rmr_context, &length,
	    &address));
	ck_assert_uint_le(address, (DAT_VADDR)(uintptr_t)(memory + 3));
	ck_assert_uint_ge(address + length, (DAT_VADDR)(uintptr_t)(memory + 1003));
	dt_ok(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_ptr_eq(param.pz_handle, side.pz);
	ck_assert_uint_eq(param.lmr_context, lmr_context);
	ck_assert_uint_eq(param.rmr_context, rmr_context);
	ck_assert_uint_eq(param.length, 1000);
	dt_ok(dat_lmr_free(lmr));
	dt_side_close(&side);
}

/* clause: e.7.2, e.7.4 */
TEST(lmr__bad_arguments__each_gets_its_own_code)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_LMR_HANDLE lmr = (DAT_LMR_HANDLE)9;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(reg(&side, DAT_MEM_TYPE_VIRTUAL, region, 64, DAT_HANDLE_NULL,
			  DAT_MEM_PRIV_ALL_FLAG, &lmr),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	dt_assert_ret(
	    reg(&side, DAT_MEM_TYPE_VIRTUAL, region, 0, side.pz, DAT_MEM_PRIV_ALL_FLAG, &lmr),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	/* A kernel device has no limit but the memory. */
	if (dt_personalities() > 1)
		dt_assert_ret(reg(&side, DAT_MEM_TYPE_VIRTUAL, region, ~(DAT_VLEN)0, side.pz,
				  DAT_MEM_PRIV_ALL_FLAG, &lmr),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(
	    reg(&side, (DAT_MEM_TYPE)77, region, 64, side.pz, DAT_MEM_PRIV_ALL_FLAG, &lmr),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    reg(&side, DAT_MEM_TYPE_VIRTUAL, region, 64, side.pz, (DAT_MEM_PRIV_FLAGS)0x1000, &lmr),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	region.for_lmr_handle = side.ep;
	dt_assert_ret(
	    reg(&side, DAT_MEM_TYPE_LMR, region, 64, side.pz, DAT_MEM_PRIV_ALL_FLAG, &lmr),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
	ck_assert_ptr_eq(lmr, (DAT_LMR_HANDLE)9);
	dt_side_close(&side);
}

/*
 * What the bind of a remote region to it returns.  The endpoint is not connected: a bind that may
 * be is flushed.
 */
static void
assert_bind(const struct dt_side *side, DAT_LMR_HANDLE lmr, const void *at, DAT_RETURN want)
{
	DAT_LMR_TRIPLET range = { .virtual_address = (uintptr_t)at, .segment_length = 64 };
	DAT_RMR_CONTEXT context;
	DAT_LMR_PARAM param;
	DAT_RMR_HANDLE rmr;

	dt_ok(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &param));
	range.lmr_context = param.lmr_context;
	dt_ok(dat_rmr_create(side->pz, &rmr));
	dt_assert_ret(dat_rmr_bind(rmr, lmr, &range, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
			  side->ep, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context),
	    want);
	dt_ok(dat_rmr_free(rmr));
}

/* No remote region can be bound to memory that may not be written: kernels give no window to it. */
#define UNBINDABLE DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE)
/* The check after that one. */
#define BINDABLE DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED)

/* clause: e.7.1 */
/* origin: attack.P4 */
/* origin: kernel.1 */
/* origin: out33.D3 */
TEST(lmr__of_memory_that_may_not_be_written__can_only_be_read)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	DAT_REGION_DESCRIPTION region = { .for_va = mmap(NULL, 2 * page, PROT_READ,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
	const DAT_REGION_DESCRIPTION writable = { .for_va = memory };
	static const struct {
		DAT_MEM_PRIV_FLAGS priv;
		bool good;
	} cases[] = {
		{ DAT_MEM_PRIV_LOCAL_READ_FLAG, true },
		{ DAT_MEM_PRIV_REMOTE_READ_FLAG, true },
		{ DAT_MEM_PRIV_LOCAL_WRITE_FLAG, false },
		{ DAT_MEM_PRIV_REMOTE_WRITE_FLAG, false },
		{ DAT_MEM_PRIV_ALL_FLAG, false },
	};
	struct dt_side side;
	DAT_LMR_HANDLE lmr;

	ck_assert_ptr_ne(region.for_va, MAP_FAILED);
	dt_side_open(&side, "soft", DT_SEPARATE);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dt_assert_ret(reg(&side, DAT_MEM_TYPE_VIRTUAL, region, 2 * page, side.pz,
				  cases[i].priv, &lmr),
		    cases[i].good ? DAT_SUCCESS :
				    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
		if (!cases[i].good)
			continue;
		assert_bind(&side, lmr, region.for_va, UNBINDABLE);
		dt_ok(dat_lmr_free(lmr));
		/* The next region, in the same place of the provider, is another one. */
		dt_ok(reg(&side, DAT_MEM_TYPE_VIRTUAL, writable, 64, side.pz, DAT_MEM_PRIV_ALL_FLAG,
		    &lmr));
		assert_bind(&side, lmr, writable.for_va, BINDABLE);
		dt_ok(dat_lmr_free(lmr));
	}
	ck_assert_int_eq(munmap((char *)region.for_va + page, page), 0);
	dt_assert_ret(reg(&side, DAT_MEM_TYPE_VIRTUAL, region, 2 * page, side.pz,
			  DAT_MEM_PRIV_LOCAL_READ_FLAG, &lmr),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	munmap(region.for_va, page);
	dt_side_close(&side);
}

/* clause: e.7.3 */
TEST(lmr__of_an_lmr__covers_the_same_memory_on_its_own)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_LMR_HANDLE first, second;
	DAT_LMR_PARAM param;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(
	    reg(&side, DAT_MEM_TYPE_VIRTUAL, region, 4096, side.pz, DAT_MEM_PRIV_ALL_FLAG, &first));
	region.for_lmr_handle = first;
	dt_ok(reg(
	    &side, DAT_MEM_TYPE_LMR, region, 64, side.pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &second));
	dt_ok(dat_lmr_free(first)); /* the length is that of the first, whatever is given */
	dt_ok(dat_lmr_query(second, DAT_LMR_FIELD_ALL, &param));
	ck_assert_uint_eq(param.registered_address, (DAT_VADDR)(uintptr_t)memory);
	ck_assert_uint_eq(param.registered_size, 4096);
	dt_ok(dat_lmr_free(second));
	dt_side_close(&side);
}

/* clause: e.7.7 */
TEST(pz__in_use__cannot_be_freed)
{
	struct dt_side side;
	DAT_PZ_PARAM param;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(
	    dat_pz_free(side.pz), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	dt_ok(dat_lmr_free(side.lmr));
	dt_assert_ret(
	    dat_pz_free(side.pz), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	dt_ok(dat_pz_query(side.pz, DAT_PZ_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	dt_ok(dat_ep_free(side.ep));
	dt_ok(dat_pz_free(side.pz));
	dt_side_close(&side);
}

/* clause: e.7.8 */
TEST(sync__of_segments__has_nothing_to_do)
{
	DAT_LMR_TRIPLET segment;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	segment = dt_local(&side, 0, 64);
	dt_ok(dat_lmr_sync_rdma_read(side.ia, &segment, 1));
	dt_ok(dat_lmr_sync_rdma_write(side.ia, &segment, 1));
	dt_ok(dat_lmr_sync_rdma_read(side.ia, NULL, 0));
	dt_ok(dat_lmr_sync_rdma_write(side.ia, NULL, 0));
	dt_assert_ret(dat_lmr_sync_rdma_read(side.ia, NULL, 1),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_side_close(&side);
}

/* Replaces the side's region by one with these privileges. */
static void
replace_region(struct dt_side *side, DAT_MEM_PRIV_FLAGS priv)
{
	DAT_REGION_DESCRIPTION region = { .for_va = side->buffer };

	dt_ok(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, side->pz, priv,
	    DAT_VA_TYPE_VA, &side->lmr, &side->lmr_context, &side->rmr_context, NULL, NULL));
}

enum operation { READ, WRITE, ATOMIC, OPERATIONS };

static void
transfer(struct dt_pair *pair, enum operation operation, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_LMR_TRIPLET local = dt_local(&pair->a, 0, 64);
	DAT_RMR_TRIPLET remote = dt_remote(&pair->b, 0, 64);
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_EVENT event;

	if (operation == ATOMIC) {
		dt_ok(
		    dat_ib_post_fetch_and_add(pair->a.ep, 1, &local, dt_cookie(1), &remote, flags));
		dt_next(pair->a.request, &event);
		ck_assert_int_eq(event.event_data.dto_completion_event_data.status, status);
		return;
	}
	dt_ok(operation == WRITE ?
		  dat_ep_post_rdma_write(pair->a.ep, 1, &local, dt_cookie(1), &remote, flags) :
		  dat_ep_post_rdma_read(pair->a.ep, 1, &local, dt_cookie(1), &remote, flags));
	dt_expect_dto(pair->a.request, pair->a.ep, 1, status, &event);
}

/* Each privilege allows one operation, whatever the others are. */
/* clause: e.7.5 */
TEST_TURNS(privileges__what_they_do_not_allow__fails_at_the_other_end, DAT_MEM_PRIV_NONE_FLAG,
    DAT_MEM_PRIV_LOCAL_READ_FLAG + 1)
{
	static const int needs[] = { DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
		DAT_IB_MEM_PRIV_REMOTE_ATOMIC };
	struct dt_pair pair;
	DAT_LMR_PARAM param;
	DAT_EVENT event;
	int privileges;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int set = 0; set < 1 << OPERATIONS; set++) {
		privileges = _i;
		for (int operation = READ; operation < OPERATIONS; operation++)
			privileges |= set & 1 << operation ? needs[operation] : 0;
		dt_ok(dat_lmr_free(pair.b.lmr));
		replace_region(&pair.b, (DAT_MEM_PRIV_FLAGS)privileges);
		dt_ok(dat_lmr_query(pair.b.lmr, DAT_LMR_FIELD_ALL, &param));
		ck_assert_int_eq(param.mem_priv, privileges);
		for (int operation = READ; operation < OPERATIONS; operation++) {
			const bool allowed = privileges & needs[operation];

			dt_connect_pair(&pair);
			transfer(&pair, (enum operation)operation,
			    allowed ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_ACCESS);
			dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
			dt_next(pair.a.connect, &event);
			dt_next(pair.b.connect, &event);
			dt_ok(dat_ep_reset(pair.a.ep));
			dt_ok(dat_ep_reset(pair.b.ep));
		}
	}
	dt_pair_close(&pair);
}

/* clause: e.7.10 */
TEST(lmr__freed__serves_no_transfer_any_more)
{
	struct dt_pair pair;
	DAT_LMR_PARAM param;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	transfer(&pair, READ, DAT_DTO_SUCCESS);
	dt_ok(dat_lmr_free(pair.b.lmr));
	dt_assert_ret(dat_lmr_query(pair.b.lmr, DAT_LMR_FIELD_ALL, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
	transfer(&pair, READ, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&pair);
}
