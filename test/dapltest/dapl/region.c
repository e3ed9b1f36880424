/* SPDX-License-Identifier: BSD-3-Clause */
/* Local regions that are not just memory at its address: of a region, shared, zero-based */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "lib/dt.h"

#define ALL DAT_MEM_PRIV_ALL_FLAG
#define MODEL DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE)

/* A region of the side that listens, and what the create returned about it. */
struct region {
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VLEN length;
	DAT_VADDR address;
};

static struct dt_pair pair;
static size_t page;

static void
setup(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	dt_pair_open(&pair, DT_SEPARATE);
	memset(pair.a.buffer, 'a', DT_BUFFER);
}

static void
teardown(void)
{
	dt_pair_close(&pair);
}

static DAT_RETURN
create(struct region *r, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
    DAT_PZ_HANDLE pz, DAT_VA_TYPE va)
{
	return dat_lmr_create(pair.b.ia, type, region, length, pz, ALL, va, &r->lmr,
	    &r->lmr_context, &r->rmr_context, &r->length, &r->address);
}

/* The side that connects writes, or reads, 64 bytes at an address of a region. */
static void
transfer(
    DAT_DTOS operation, const struct region *r, DAT_VADDR address, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_RMR_TRIPLET remote = {
		.virtual_address = address, .segment_length = 64, .rmr_context = r->rmr_context
	};
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 64);
	DAT_EVENT event;

	dt_ok(operation == DAT_DTO_RDMA_WRITE ?
		  dat_ep_post_rdma_write(
		      pair.a.ep, 1, &local, dt_cookie(7), &remote, DAT_COMPLETION_DEFAULT_FLAG) :
		  dat_ep_post_rdma_read(
		      pair.a.ep, 1, &local, dt_cookie(7), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 7, status, &event);
}

static bool
is_filled(const char *at, size_t length, char with)
{
	for (size_t i = 0; i < length; i++)
		if (at[i] != with)
			return false;
	return true;
}

/* `count` mappings of the same memory, each of `length` bytes. */
static void
map_shared(char **at, int count, size_t length)
{
	int fd = memfd_create("rearm", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)length), 0);
	for (int i = 0; i < count; i++) {
		at[i] = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ck_assert_ptr_ne(at[i], MAP_FAILED);
	}
	close(fd);
}

DT_CASE("region:region", setup, teardown);

/* clause: e.7.42 */
TEST(of_an_lmr__in_another_zone__serves_the_endpoints_of_that_zone)
{
	DAT_REGION_DESCRIPTION of = { .for_lmr_handle = pair.b.lmr };
	struct region same, elsewhere;
	DAT_PZ_HANDLE zone;
	DAT_LMR_PARAM param;

	dt_ok(dat_pz_create(pair.b.ia, &zone));
	dt_ok(create(&same, DAT_MEM_TYPE_LMR, of, 0, pair.b.pz, DAT_VA_TYPE_VA));
	dt_ok(create(&elsewhere, DAT_MEM_TYPE_LMR, of, 0, zone, DAT_VA_TYPE_VA));
	ck_assert_uint_eq(same.address, (DAT_VADDR)(uintptr_t)pair.b.buffer);
	ck_assert_uint_eq(same.length, DT_BUFFER);
	dt_ok(dat_lmr_query(elsewhere.lmr, DAT_LMR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.pz_handle, zone);
	ck_assert_int_eq(param.mem_type, DAT_MEM_TYPE_LMR);
	ck_assert_ptr_eq(param.region_desc.for_lmr_handle, pair.b.lmr);
	dt_connect_pair(&pair);
	transfer(DAT_DTO_RDMA_WRITE, &same, same.address, DAT_DTO_SUCCESS);
	ck_assert(is_filled(pair.b.buffer, 64, 'a'));
	transfer(DAT_DTO_RDMA_WRITE, &elsewhere, elsewhere.address, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_assert_ret(dat_pz_free(zone), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	dt_ok(dat_lmr_free(elsewhere.lmr));
	dt_ok(dat_pz_free(zone));
}

/* clause: e.7.42 */
TEST(of_an_lmr__of_another_adapter__is_refused)
{
	DAT_REGION_DESCRIPTION of = { .for_lmr_handle = pair.a.lmr };
	struct region r;

	dt_assert_ret(create(&r, DAT_MEM_TYPE_LMR, of, 0, pair.b.pz, DAT_VA_TYPE_VA),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
}

/* clause: e.7.41 */
TEST(shared__mapped_twice__is_the_same_memory)
{
	char id[DAT_LMR_COOKIE_SIZE] = "the memory of this test, with forty by.";
	DAT_REGION_DESCRIPTION shared = { .for_shared_memory.shared_memory_id = &id };
	struct region r[2];
	DAT_LMR_PARAM param;
	char *at[2];

	map_shared(at, 2, 2 * page);
	for (int i = 0; i < 2; i++) {
		shared.for_shared_memory.virtual_address = at[i];
		dt_ok(create(&r[i], DAT_MEM_TYPE_SHARED_VIRTUAL, shared, 2 * page, pair.b.pz,
		    DAT_VA_TYPE_VA));
		ck_assert_uint_eq(r[i].address, (DAT_VADDR)(uintptr_t)at[i]);
		ck_assert_uint_eq(r[i].length, 2 * page);
	}
	memset(id, 'x', sizeof id); /* it belongs to the consumer */
	dt_connect_pair(&pair);
	transfer(DAT_DTO_RDMA_WRITE, &r[1], r[1].address + 100, DAT_DTO_SUCCESS);
	ck_assert(is_filled(at[0] + 100, 64, 'a'));
	at[1][100] = 'b';
	transfer(DAT_DTO_RDMA_READ, &r[0], r[0].address + 100, DAT_DTO_SUCCESS);
	ck_assert_int_eq(pair.a.buffer[0], 'b');
	dt_ok(dat_lmr_query(r[1].lmr, DAT_LMR_FIELD_ALL, &param));
	ck_assert_int_eq(param.mem_type, DAT_MEM_TYPE_SHARED_VIRTUAL);
	ck_assert_ptr_eq(param.region_desc.for_shared_memory.virtual_address, at[1]);
	ck_assert_mem_eq(*param.region_desc.for_shared_memory.shared_memory_id,
	    "the memory of this test, with forty by.", DAT_LMR_COOKIE_SIZE);
	for (int i = 0; i < 2; i++) {
		dt_ok(dat_lmr_free(r[i].lmr));
		munmap(at[i], 2 * page);
	}
}

/* clause: e.7.41, e.7.2 */
TEST(shared__without_an_identifier_or_memory__is_refused)
{
	char id[DAT_LMR_COOKIE_SIZE] = "memory";
	DAT_REGION_DESCRIPTION shared = { .for_shared_memory.virtual_address = pair.b.buffer };
	struct region r;

	dt_assert_ret(
	    create(&r, DAT_MEM_TYPE_SHARED_VIRTUAL, shared, 64, pair.b.pz, DAT_VA_TYPE_VA),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	shared.for_shared_memory.shared_memory_id = &id;
	dt_assert_ret(create(&r, DAT_MEM_TYPE_SHARED_VIRTUAL, shared, 0, pair.b.pz, DAT_VA_TYPE_VA),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	shared.for_shared_memory.virtual_address = NULL;
	dt_assert_ret(
	    create(&r, DAT_MEM_TYPE_SHARED_VIRTUAL, shared, 64, pair.b.pz, DAT_VA_TYPE_VA),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

static bool
zero_based_works(void)
{
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_IA_ATTR attr;

	dt_ok(dat_ia_query(
	    pair.b.ia, NULL, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
	ck_assert_int_eq(provider.lmr_mem_types_supported,
	    DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL);
	ck_assert_int_eq(provider.lmr_sync_req, DAT_FALSE);
	return attr.zb_supported == DAT_TRUE;
}

/* clause: e.7.40 */
TEST(zero_based__addresses_begin_at_zero__on_both_sides)
{
	DAT_REGION_DESCRIPTION region;
	DAT_RMR_TRIPLET remote = dt_remote(&pair.a, 0, 64);
	DAT_LMR_TRIPLET local;
	struct region r;
	DAT_LMR_PARAM param;
	DAT_EVENT event;
	char *at;

	map_shared(&at, 1, 2 * page);
	region.for_va = at;
	if (!zero_based_works()) {
		dt_assert_ret(
		    create(&r, DAT_MEM_TYPE_VIRTUAL, region, 2 * page, pair.b.pz, DAT_VA_TYPE_ZB),
		    MODEL);
		munmap(at, 2 * page);
		return;
	}
	dt_ok(create(&r, DAT_MEM_TYPE_VIRTUAL, region, 2 * page, pair.b.pz, DAT_VA_TYPE_ZB));
	ck_assert_uint_eq(r.address, 0);
	ck_assert_uint_eq(r.length, 2 * page);
	dt_ok(dat_lmr_query(r.lmr, DAT_LMR_FIELD_ALL, &param));
	ck_assert_int_eq(param.va_type, DAT_VA_TYPE_ZB);
	ck_assert_uint_eq(param.registered_address, 0);
	dt_connect_pair(&pair);
	transfer(DAT_DTO_RDMA_WRITE, &r, page - 32, DAT_DTO_SUCCESS); /* across the pages */
	ck_assert(is_filled(at + page - 32, 64, 'a'));
	ck_assert_int_eq(at[page - 33], 0);
	ck_assert_int_eq(at[page + 32], 0);
	memset(at, 'b', 64);
	local = (DAT_LMR_TRIPLET){ .segment_length = 64, .lmr_context = r.lmr_context };
	dt_ok(dat_ep_post_rdma_write(
	    pair.b.ep, 1, &local, dt_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.b.request, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert(is_filled(pair.a.buffer, 64, 'b'));
	transfer(DAT_DTO_RDMA_WRITE, &r, 2 * page - 63, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_ok(dat_lmr_free(r.lmr));
	munmap(at, 2 * page);
}

/* clause: e.7.40 */
TEST(zero_based__of_an_lmr_and_of_shared_memory__too)
{
	char id[DAT_LMR_COOKIE_SIZE] = "memory";
	DAT_REGION_DESCRIPTION region;
	struct region plain, r;
	char *at;

	if (!zero_based_works())
		return;
	map_shared(&at, 1, page);
	region.for_va = at;
	dt_ok(create(&plain, DAT_MEM_TYPE_VIRTUAL, region, page, pair.b.pz, DAT_VA_TYPE_VA));
	dt_connect_pair(&pair);
	for (int i = 0; i < 2; i++) {
		region.for_lmr_handle = plain.lmr;
		if (i)
			region.for_shared_memory = (DAT_SHARED_MEMORY){ at, &id };
		dt_ok(create(&r, i ? DAT_MEM_TYPE_SHARED_VIRTUAL : DAT_MEM_TYPE_LMR, region, page,
		    pair.b.pz, DAT_VA_TYPE_ZB));
		memset(at, 0, page);
		transfer(DAT_DTO_RDMA_WRITE, &r, 8, DAT_DTO_SUCCESS);
		ck_assert(is_filled(at + 8, 64, 'a'));
		dt_ok(dat_lmr_free(r.lmr));
	}
	dt_ok(dat_lmr_free(plain.lmr));
	munmap(at, page);
}

/* clause: e.7.40 */
TEST(zero_based__a_remote_region_bound_to_it__has_its_addresses)
{
	DAT_LMR_TRIPLET range = { .virtual_address = 128, .segment_length = 64 };
	DAT_REGION_DESCRIPTION region;
	struct region r;
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;
	char *at;

	if (!zero_based_works())
		return;
	map_shared(&at, 1, page);
	region.for_va = at;
	dt_ok(create(&r, DAT_MEM_TYPE_VIRTUAL, region, page, pair.b.pz, DAT_VA_TYPE_ZB));
	dt_ok(dat_rmr_create(pair.b.pz, &rmr));
	pair.b.request = dt_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 16);
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect_pair(&pair);
	range.lmr_context = r.lmr_context;
	dt_ok(dat_rmr_bind(rmr, r.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA,
	    pair.b.ep, dt_cookie(2), DAT_COMPLETION_DEFAULT_FLAG, &r.rmr_context));
	dt_expect(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	ck_assert_int_eq(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
	transfer(DAT_DTO_RDMA_WRITE, &r, 128, DAT_DTO_SUCCESS);
	ck_assert(is_filled(at + 128, 64, 'a'));
	range.virtual_address = page - 63;
	dt_assert_ret(
	    dat_rmr_bind(rmr, r.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA,
		pair.b.ep, dt_cookie(3), DAT_COMPLETION_DEFAULT_FLAG, &r.rmr_context),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_ok(dat_rmr_free(rmr));
	dt_ok(dat_lmr_free(r.lmr));
	munmap(at, page);
}

/* clause: e.7.43 */
TEST(remote_region__zero_based__addresses_begin_at_zero)
{
	DAT_LMR_TRIPLET range = { .virtual_address = (DAT_VADDR)(uintptr_t)pair.b.buffer + 128,
		.segment_length = 64,
		.lmr_context = pair.b.lmr_context };
	DAT_RMR_TRIPLET into = { .segment_length = 32 }, from = dt_remote(&pair.a, 0, 32);
	struct region r = { .lmr = pair.b.lmr };
	DAT_RMR_HANDLE rmr, plain;
	DAT_RMR_PARAM param;
	DAT_EVENT event;

	if (!zero_based_works() || dat_rmr_create_for_ep(pair.b.pz, &rmr) != DAT_SUCCESS)
		return;
	pair.b.request = dt_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 16);
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect_pair(&pair);
	dt_ok(dat_rmr_bind(rmr, r.lmr, &range,
	    DAT_MEM_PRIV_REMOTE_WRITE_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_ZB,
	    pair.b.ep, dt_cookie(2), DAT_COMPLETION_DEFAULT_FLAG, &r.rmr_context));
	dt_expect(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	ck_assert_int_eq(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
	dt_ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
	ck_assert_int_eq(param.va_type, DAT_VA_TYPE_ZB);
	ck_assert_uint_eq(param.lmr_triplet.virtual_address, range.virtual_address);
	memset(pair.b.buffer, 0, DT_BUFFER);
	transfer(DAT_DTO_RDMA_WRITE, &r, 0, DAT_DTO_SUCCESS);
	ck_assert(is_filled(pair.b.buffer + 128, 64, 'a'));
	ck_assert(is_filled(pair.b.buffer, 128, 0));
	/* A read into it takes the same addresses. */
	memset(pair.a.buffer, 'c', 32);
	into.virtual_address = 16;
	into.rmr_context = r.rmr_context;
	dt_ok(dat_ep_post_rdma_read_to_rmr(
	    pair.b.ep, &into, dt_cookie(3), &from, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.b.request, pair.b.ep, 3, DAT_DTO_SUCCESS, &event);
	ck_assert(is_filled(pair.b.buffer + 144, 32, 'c'));
	ck_assert(is_filled(pair.b.buffer + 128, 16, 'a'));
	if (dat_rmr_create(pair.b.pz, &plain) == DAT_SUCCESS) {
		dt_ok(dat_rmr_query(plain, DAT_RMR_FIELD_ALL, &param));
		if (param.rmr_scope == DAT_RMR_SCOPE_PZ)
			dt_assert_ret(
			    dat_rmr_bind(plain, r.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
				DAT_VA_TYPE_ZB, pair.b.ep, dt_cookie(4),
				DAT_COMPLETION_DEFAULT_FLAG, &into.rmr_context),
			    MODEL);
		dt_ok(dat_rmr_free(plain));
	}
	if (dt_on_soft("soft-RoCE checks the range of the memory region only"))
		transfer(DAT_DTO_RDMA_WRITE, &r, 1, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_ok(dat_rmr_free(rmr));
}

/* clause: e.7.40, e.7.2 */
TEST(type_of_address__unknown__is_refused)
{
	DAT_REGION_DESCRIPTION region = { .for_va = pair.b.buffer };
	struct region r;

	dt_assert_ret(create(&r, DAT_MEM_TYPE_VIRTUAL, region, 64, pair.b.pz, (DAT_VA_TYPE)2),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
}
