/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

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

DAT_RMR_CONTEXT
bound_open_and_bind(struct bound *s, bool for_ep)
{
	bound_open(s, for_ep);
	bound_bind(s, 0, 64, BOTH);
	return s->context;
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

void
bound_disconnect(struct bound *s)
{
	dt_ok(dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&s->pair.b);
	dt_expect_disconnected(&s->pair.a);
}

void
bound_reconnect(struct bound *s)
{
	dt_ok(dat_ep_reset(s->pair.a.ep));
	dt_ok(dat_ep_reset(s->pair.b.ep));
	dt_connect_pair(&s->pair);
}

void
bound_connect_second(struct bound *s)
{
	s->pair.a.ep = dt_ep(&s->pair.a, NULL);
	s->pair.b.ep = dt_ep(&s->pair.b, NULL);
	dt_connect_pair(&s->pair);
}

DAT_SEG_LENGTH
bound_length(const struct bound *s)
{
	DAT_RMR_PARAM param;

	dt_ok(dat_rmr_query(s->rmr, DAT_RMR_FIELD_ALL, &param));
	return param.lmr_triplet.segment_length;
}

void
bound_stop(struct bound *s)
{
	dt_send(&s->pair.b, 0, 8, 70);
}

void
bound_let_go(struct bound *s)
{
	DAT_EVENT event;

	dt_recv(&s->pair.a, 0, 64, 71);
	dt_expect_dto(s->pair.b.request, s->pair.b.ep, 70, DAT_DTO_SUCCESS, &event);
}

void
bound_bind_later(struct bound *s, size_t offset, size_t length)
{
	bound_stop(s);
	dt_ok(bound_try(s, offset, length, BOTH, DEFAULT, 2));
}

void
bound_flush(struct bound *s)
{
	DAT_EVENT event;

	dt_ok(dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_dto(s->pair.b.request, s->pair.b.ep, 70, DAT_DTO_ERR_FLUSHED, &event);
	bound_expect(s, 2, DAT_DTO_ERR_FLUSHED);
}

void
bound_await_arrivals(const struct bound *s, int count)
{
	const char *personality = getenv("SOFTVERBS_PERSONALITY");
	DAT_EVD_PARAM param;
	DAT_COUNT more = 0;
	DAT_EVENT event;

	if (!personality || strcmp(personality, "delayed") != 0)
		return;
	dt_ok(dat_evd_query(s->pair.b.recv, DAT_EVD_FIELD_ALL, &param));
	for (int ms = 0; more < count && ms < DT_FOREVER_MS; ms++)
		dt_assert_type(dat_evd_wait(s->pair.b.recv, 1000, param.evd_qlen, &event, &more),
		    DAT_TIMEOUT_EXPIRED);
	ck_assert_int_ge(more, count);
}

void
bound_invalidate(struct bound *s, DAT_RMR_CONTEXT context)
{
	DAT_LMR_TRIPLET local = dt_local(&s->pair.a, 0, 4);
	DAT_EVENT event;

	dt_recv(&s->pair.b, 1024, 64, 21);
	dt_ok(dat_ep_post_send_with_invalidate(
	    s->pair.a.ep, 1, &local, dt_cookie(1), DEFAULT, DAT_TRUE, context));
	dt_expect_dto(s->pair.a.request, s->pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	bound_await_arrivals(s, 1);
}

DAT_LMR_HANDLE
bound_second_lmr(struct bound *s, DAT_LMR_TRIPLET *range)
{
	DAT_REGION_DESCRIPTION region = { .for_va = s->pair.b.buffer };
	DAT_LMR_HANDLE lmr;

	*range = dt_local(&s->pair.b, 0, 64);
	dt_ok(dat_lmr_create(s->pair.b.ia, DAT_MEM_TYPE_VIRTUAL, region, 4096, s->pair.b.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &range->lmr_context, NULL, NULL, NULL));
	return lmr;
}

DAT_RETURN
bound_bind_to(struct bound *s, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range, DAT_UINT64 cookie)
{
	return dat_rmr_bind(s->rmr, lmr, range, BOTH, DAT_VA_TYPE_VA, s->pair.b.ep,
	    dt_cookie(cookie), DEFAULT, &s->context);
}
