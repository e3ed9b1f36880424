/* SPDX-License-Identifier: BSD-3-Clause */
#include "bound.h"

void
bound_give_evd(struct dt_side *side, const DAT_EP_ATTR *attr)
{
	side->request = dt_evd(side, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 64);
	dt_ok(dat_ep_free(side->ep));
	side->ep = dt_ep(side, attr);
}

void
bound_open(struct bound *s, bool for_ep)
{
	memset(s, 0, sizeof *s);
	dt_pair_open(&s->pair, DT_SEPARATE);
	bound_give_evd(&s->pair.b, NULL);
	if (for_ep)
		dt_ok(dat_rmr_create_for_ep(s->pair.b.pz, &s->rmr));
	else
		dt_ok(dat_rmr_create(s->pair.b.pz, &s->rmr));
	dt_connect_pair(&s->pair);
}

DAT_RETURN
bound_try(struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges,
    DAT_COMPLETION_FLAGS flags, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET range = dt_local(&s->pair.b, offset, length);

	return dat_rmr_bind(s->rmr, s->pair.b.lmr, &range, privileges, DAT_VA_TYPE_VA, s->pair.b.ep,
	    dt_cookie(cookie), flags, &s->context);
}

void
bound_patiently(struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges,
    DAT_COMPLETION_FLAGS flags, DAT_UINT64 cookie)
{
	const DAT_RETURN full = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	DAT_RETURN ret;

	while ((ret = bound_try(s, offset, length, privileges, flags, cookie)) == full)
		dt_nap_ms(1);
	dt_ok(ret);
}

void
bound_expect(struct bound *s, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status)
{
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data;
	DAT_EVENT event;

	dt_expect(s->pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	data = &event.event_data.rmr_completion_event_data;
	ck_assert_ptr_eq(data->rmr_handle, s->rmr);
	ck_assert_uint_eq(data->user_cookie.as_64, cookie);
	ck_assert_int_eq(data->status, status);
}

void
bound_bind(struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges)
{
	dt_ok(bound_try(s, offset, length, privileges, DEFAULT, 5));
	bound_expect(s, 5, DAT_DTO_SUCCESS);
}

DAT_RMR_TRIPLET
bound_through(const struct bound *s, DAT_RMR_CONTEXT context, size_t offset, size_t length)
{
	DAT_RMR_TRIPLET remote = dt_remote(&s->pair.b, offset, length);

	remote.rmr_context = context;
	return remote;
}

void
bound_write(
    struct bound *s, DAT_RMR_CONTEXT context, size_t offset, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_RMR_TRIPLET remote = bound_through(s, context, offset, 8);
	DAT_LMR_TRIPLET local = dt_local(&s->pair.a, 0, 8);
	DAT_EVENT event;

	memcpy(s->pair.a.buffer, "written!", 8);
	memset(s->pair.b.buffer + offset, 0, 8);
	dt_ok(dat_ep_post_rdma_write(s->pair.a.ep, 1, &local, dt_cookie(6), &remote, DEFAULT));
	dt_expect_dto(s->pair.a.request, s->pair.a.ep, 6, status, &event);
	if (status == DAT_DTO_SUCCESS)
		ck_assert_mem_eq(s->pair.b.buffer + offset, "written!", 8);
	else
		ck_assert_int_eq(s->pair.b.buffer[offset], 0);
}
