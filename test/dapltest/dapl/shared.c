/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

DAT_SRQ_HANDLE
shared_srq(const struct dt_side *side, DAT_COUNT depth)
{
	DAT_SRQ_ATTR attr = { depth, 2, DAT_SRQ_LW_DEFAULT };
	DAT_SRQ_HANDLE srq;

	dt_ok(dat_srq_create(side->ia, side->pz, &attr, &srq));
	return srq;
}

DAT_RETURN
shared_try_ep(const struct dt_side *side, DAT_EVD_HANDLE recv, DAT_SRQ_HANDLE srq,
    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
	return dat_ep_create_with_srq(
	    side->ia, side->pz, recv, side->request, side->connect, srq, attr, ep);
}

DAT_EP_HANDLE
shared_ep(const struct dt_side *side, DAT_EVD_HANDLE recv, DAT_SRQ_HANDLE srq)
{
	DAT_EP_HANDLE ep;

	dt_ok(shared_try_ep(side, recv, srq, NULL, &ep));
	return ep;
}

void
shared_open(struct shared *s, enum dt_evds evds)
{
	memset(s, 0, sizeof *s);
	dt_pair_open(&s->pair, evds);
	s->srq = shared_srq(&s->pair.b, SHARED_DEPTH);
	s->other = dt_evd(&s->pair.b, DAT_EVD_DTO_FLAG, 64);
}

int
shared_connect(struct shared *s, DAT_EVD_HANDLE recv)
{
	const int i = s->ends++;

	s->pair.a.ep = s->from[i] = dt_ep(&s->pair.a, NULL);
	s->pair.b.ep = s->to[i] = shared_ep(&s->pair.b, recv, s->srq);
	dt_connect_pair(&s->pair);
	return i;
}

DAT_RETURN
shared_try_post(struct shared *s, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET iov =
	    dt_local(&s->pair.b, (size_t)(cookie % SHARED_DEPTH) * SHARED_SLICE, SHARED_SLICE);

	return dat_srq_post_recv(s->srq, 1, &iov, dt_cookie(cookie));
}

void
shared_post(struct shared *s, DAT_UINT64 first, DAT_UINT64 last)
{
	for (DAT_UINT64 cookie = first; cookie <= last; cookie++)
		dt_ok(shared_try_post(s, cookie));
}

void
shared_send(struct shared *s, int end, char byte)
{
	DAT_EVENT event;

	s->pair.a.ep = s->from[end];
	s->pair.a.buffer[0] = byte;
	dt_send(&s->pair.a, 0, 1, 900);
	dt_expect_dto(s->pair.a.request, s->from[end], 900, DAT_DTO_SUCCESS, &event);
}

DAT_UINT64
shared_expect(struct shared *s, DAT_EVD_HANDLE evd, int end, char byte)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;

	dt_expect(evd, DAT_DTO_COMPLETION_EVENT, &event);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_ptr_eq(dto->ep_handle, s->to[end]);
	ck_assert_int_eq(dto->status, DAT_DTO_SUCCESS);
	ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE);
	ck_assert_uint_eq(dto->transfered_length, 1);
	ck_assert_int_eq(
	    s->pair.b.buffer[(size_t)(dto->user_cookie.as_64 % SHARED_DEPTH) * SHARED_SLICE], byte);
	return dto->user_cookie.as_64;
}

void
shared_assert_counts(DAT_SRQ_HANDLE srq, DAT_COUNT available, DAT_COUNT outstanding)
{
	DAT_SRQ_PARAM param;

	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_eq(param.available_dto_count, available);
	ck_assert_int_eq(param.outstanding_dto_count, outstanding);
}

void
shared_expect_async(DAT_EVD_HANDLE async, DAT_HANDLE handle, DAT_COUNT reason)
{
	DAT_EVENT event;

	dt_expect(async, DAT_ASYNC_ERROR_EP_BROKEN, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, handle);
	ck_assert_int_eq(event.event_data.asynch_error_event_data.reason, reason);
}

void
shared_close(struct shared *s)
{
	dt_pair_close(&s->pair);
}
