/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection zones and memory regions. */
#include "api.h"

#include <dat2/kdat.h>

#define PAGE 0x10000 /* no machine has larger ones */

static DAT_RETURN
pz_create(struct dt_pair *p)
{
	DAT_PZ_HANDLE pz;

	return dat_pz_create(p->a.ia, &pz);
}

static DAT_RETURN
pz_query(struct dt_pair *p)
{
	DAT_PZ_PARAM param;

	return dat_pz_query(p->a.pz, DAT_PZ_FIELD_ALL, &param);
}

static DAT_RETURN
pz_free(struct dt_pair *p)
{
	DAT_PZ_HANDLE pz;

	API_NEED(dat_pz_create(p->a.ia, &pz));
	return dat_pz_free(pz);
}

/* ---- local regions ---- */

static DAT_RETURN
make_lmr(struct dt_pair *p, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VA_TYPE va,
    DAT_LMR_HANDLE *lmr)
{
	return dat_lmr_create(p->a.ia, type, region, DT_BUFFER, p->a.pz, DAT_MEM_PRIV_ALL_FLAG, va,
	    lmr, NULL, NULL, NULL, NULL);
}

static DAT_RETURN
lmr_create(struct dt_pair *p)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = p->a.buffer };
	DAT_LMR_HANDLE lmr;

	return make_lmr(p, DAT_MEM_TYPE_VIRTUAL, region, DAT_VA_TYPE_VA, &lmr);
}

static DAT_RETURN
lmr_create_of_lmr(struct dt_pair *p)
{
	const DAT_REGION_DESCRIPTION region = { .for_lmr_handle = p->a.lmr };
	DAT_LMR_HANDLE lmr;

	return make_lmr(p, DAT_MEM_TYPE_LMR, region, DAT_VA_TYPE_VA, &lmr);
}

static DAT_RETURN
lmr_create_shared(struct dt_pair *p)
{
	DAT_REGION_DESCRIPTION region = { .for_shared_memory = { .virtual_address = p->a.buffer } };
	static char id[DAT_LMR_COOKIE_SIZE] = "rearm api";
	DAT_LMR_HANDLE lmr;

	region.for_shared_memory.shared_memory_id = &id;
	return make_lmr(p, DAT_MEM_TYPE_SHARED_VIRTUAL, region, DAT_VA_TYPE_VA, &lmr);
}

static DAT_RETURN
lmr_create_zero_based(struct dt_pair *p)
{
	/* Some devices want whole pages. */
	static char pages[2 * PAGE] __attribute__((aligned(PAGE)));
	const DAT_REGION_DESCRIPTION region = { .for_va = pages };
	DAT_LMR_HANDLE lmr;

	return make_lmr(p, DAT_MEM_TYPE_VIRTUAL, region, DAT_VA_TYPE_ZB, &lmr);
}

static DAT_RETURN
lmr_kcreate(struct dt_pair *p)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = p->a.buffer };
	DAT_LMR_HANDLE lmr;

	return dat_lmr_kcreate(p->a.ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, p->a.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, DAT_MEM_OPTIMIZE_DONT_CARE, &lmr, NULL, NULL,
	    NULL, NULL);
}

static DAT_RETURN
ia_memtype_hint(struct dt_pair *p)
{
	DAT_VADDR alignment;
	DAT_VLEN length;

	return dat_ia_memtype_hint(p->a.ia, DAT_MEM_TYPE_VIRTUAL, DT_BUFFER,
	    DAT_MEM_OPTIMIZE_DONT_CARE, &length, &alignment);
}

static DAT_RETURN
lmr_query(struct dt_pair *p)
{
	DAT_LMR_PARAM param;

	return dat_lmr_query(p->a.lmr, DAT_LMR_FIELD_ALL, &param);
}

static DAT_RETURN
lmr_free(struct dt_pair *p)
{
	return dat_lmr_free(p->a.lmr);
}

static DAT_RETURN
lmr_sync_rdma_read(struct dt_pair *p)
{
	const DAT_LMR_TRIPLET segment = dt_local(&p->a, 0, 8);

	return dat_lmr_sync_rdma_read(p->a.ia, &segment, 1);
}

static DAT_RETURN
lmr_sync_rdma_write(struct dt_pair *p)
{
	const DAT_LMR_TRIPLET segment = dt_local(&p->a, 0, 8);

	return dat_lmr_sync_rdma_write(p->a.ia, &segment, 1);
}

/* ---- remote regions ---- */

static DAT_RETURN
rmr_create(struct dt_pair *p)
{
	DAT_RMR_HANDLE rmr;

	return dat_rmr_create(p->a.pz, &rmr);
}

static DAT_RETURN
rmr_create_for_ep(struct dt_pair *p)
{
	DAT_RMR_HANDLE rmr;

	return dat_rmr_create_for_ep(p->a.pz, &rmr);
}

static DAT_RETURN
rmr_query(struct dt_pair *p)
{
	DAT_RMR_HANDLE rmr;
	DAT_RMR_PARAM param;

	API_NEED(dat_rmr_create(p->a.pz, &rmr));
	return dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param);
}

static DAT_RETURN
rmr_free(struct dt_pair *p)
{
	DAT_RMR_HANDLE rmr;

	API_NEED(dat_rmr_create(p->a.pz, &rmr));
	return dat_rmr_free(rmr);
}

static DAT_RETURN
bind_as(struct dt_pair *p, DAT_VA_TYPE va)
{
	DAT_LMR_TRIPLET range = dt_local(&p->b, 0, 64), local = dt_local(&p->a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&p->b, 8, 8);
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;

	strcpy(p->a.buffer, "written");
	API_NEED(va == DAT_VA_TYPE_ZB ? dat_rmr_create_for_ep(p->b.pz, &rmr) :
					dat_rmr_create(p->b.pz, &rmr));
	API_NEED(dat_rmr_bind(rmr, p->b.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, va, p->b.ep,
	    dt_cookie(3), DAT_COMPLETION_DEFAULT_FLAG, &remote.rmr_context));
	dt_expect(p->b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	ck_assert_int_eq(event.event_data.rmr_completion_event_data.status, DAT_DTO_SUCCESS);
	if (va == DAT_VA_TYPE_ZB)
		remote.virtual_address = 8;
	dt_ok(dat_ep_post_rdma_write(
	    p->a.ep, 1, &local, dt_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(p->a.request, p->a.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(p->b.buffer + 8, "written");
	return DAT_SUCCESS;
}

static DAT_RETURN
rmr_bind(struct dt_pair *p)
{
	return bind_as(p, DAT_VA_TYPE_VA);
}

static DAT_RETURN
rmr_bind_zero_based(struct dt_pair *p)
{
	return bind_as(p, DAT_VA_TYPE_ZB);
}

const struct api_call api_memory_calls[] = {
	{ "pz_create", pz_create },
	{ "pz_query", pz_query },
	{ "pz_free", pz_free },
	{ "lmr_create", lmr_create },
	{ "lmr_create:over another region", lmr_create_of_lmr },
	{ "lmr_create:of shared memory", lmr_create_shared },
	{ "lmr_create:zero-based", lmr_create_zero_based },
	{ "lmr_kcreate", lmr_kcreate },
	{ "ia_memtype_hint", ia_memtype_hint },
	{ "lmr_query", lmr_query },
	{ "lmr_free", lmr_free },
	{ "lmr_sync_rdma_read", lmr_sync_rdma_read },
	{ "lmr_sync_rdma_write", lmr_sync_rdma_write },
	{ "rmr_create", rmr_create },
	{ "rmr_create_for_ep", rmr_create_for_ep },
	{ "rmr_query", rmr_query },
	{ "rmr_free", rmr_free },
	{ "rmr_bind", rmr_bind },
	{ "rmr_bind:zero-based", rmr_bind_zero_based },
	{ NULL, NULL },
};
