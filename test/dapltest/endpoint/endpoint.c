/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

DAT_RETURN
scene_refusal(DAT_EP_STATE state)
{
	switch ((int)state) {
	case DAT_EP_STATE_UNCONNECTED:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED);
	case DAT_EP_STATE_RESERVED:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED);
	case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PASSCONNPENDING);
	case DAT_EP_STATE_UNCONFIGURED_TENTATIVE:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFTENTATIVE);
	case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_TENTCONNPENDING);
	case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING);
	case DAT_EP_STATE_COMPLETION_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_COMPLPENDING);
	case DAT_EP_STATE_CONNECTED:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED);
	case DAT_EP_STATE_DISCONNECT_PENDING:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING);
	case DAT_EP_STATE_DISCONNECTED:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED);
	default:
		ck_abort_msg("no endpoint can be brought into state %d", (int)state);
	}
	return DAT_SUCCESS;
}

static void
step(const struct dt_side *side, int ms)
{
	DAT_COUNT done;

	dt_ok(dat_ia_step(side->ia, ms, &done));
}

void
scene_step(struct scene *s)
{
	for (int i = 0; s->stepped && i < 10; i++)
		step(s->peer, 5);
}

/* The accepting endpoint waits for the connecting one, whose loop does not run. */
static void
open_accepting(struct scene *s, enum dt_evds evds)
{
	DAT_EVENT event;
	DAT_RETURN ret;

	dt_side_open(&s->pair.a, "soft-step", evds);
	dt_side_open(&s->pair.b, "soft", evds);
	dt_side_listen(&s->pair.b);
	s->me = &s->pair.b;
	s->peer = &s->pair.a;
	s->stepped = true;
	dt_connect(&s->pair.a, &s->pair.b, NULL, 0);
	do {
		step(&s->pair.a, 1);
		ret = dat_evd_dequeue(s->pair.b.cr, &event);
	} while (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY);
	dt_ok(ret);
	dt_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, s->me->ep, 0, NULL));
}

static void
break_connection(struct scene *s)
{
	DAT_LMR_TRIPLET iov = dt_local(s->me, 0, 8);
	DAT_EVENT event;

	dt_recv(s->peer, 0, 64, 1);
	iov.lmr_context ^= 0x1234;
	dt_ok(dat_ep_post_send(s->me->ep, 1, &iov, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect(s->me->request, DAT_DTO_COMPLETION_EVENT, &event);
	dt_expect_connection(s->me->connect, DAT_CONNECTION_EVENT_BROKEN, s->me->ep);
	dt_next(s->peer->connect, &event);
	dt_expect_dto(s->peer->recv, s->peer->ep, 1, DAT_DTO_ERR_FLUSHED, &event);
}

static void
end_connection(struct scene *s, struct dt_side *by)
{
	dt_ok(dat_ep_disconnect(by->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s->me);
	dt_expect_disconnected(s->peer);
}

void
scene_reserve(struct scene *s)
{
	/* Something that is free. */
	dt_side_listen(s->me);
	dt_ok(dat_psp_free(s->me->psp));
	s->me->psp = NULL;
	dt_ok(dat_rsp_create(s->me->ia, s->me->qual, s->me->ep, s->me->cr, &s->rsp));
}

DAT_CR_HANDLE
scene_asked(struct scene *s)
{
	const DAT_CR_ARRIVAL_EVENT_DATA *data;
	DAT_EVENT event;

	dt_expect(s->me->cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	data = &event.event_data.cr_arrival_event_data;
	ck_assert_ptr_eq(data->sp_handle.rsp_handle, s->rsp);
	ck_assert_uint_eq(data->conn_qual, s->me->qual);
	return data->cr_handle;
}

void
scene_listen(struct scene *s)
{
	dt_ok(dat_ep_free(s->me->ep));
	s->me->ep = DAT_HANDLE_NULL;
	s->me->cr = dt_evd(s->me, DAT_EVD_CR_FLAG, 16);
	dt_ok(dat_psp_create_any(
	    s->me->ia, &s->me->qual, s->me->cr, DAT_PSP_PROVIDER_FLAG, &s->me->psp));
}

DAT_CR_HANDLE
scene_offered(struct scene *s)
{
	DAT_CR_HANDLE cr = dt_request(s->me);
	DAT_CR_PARAM param;

	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	ck_assert_ptr_nonnull(param.local_ep_handle);
	s->me->ep = param.local_ep_handle;
	return cr;
}

DAT_CR_HANDLE
scene_offer(struct scene *s)
{
	dt_connect(s->peer, s->me, "hello", 5);
	return scene_offered(s);
}

DAT_RETURN
scene_give(struct scene *s, DAT_EP_PARAM_MASK mask)
{
	const DAT_EP_PARAM param = {
		.pz_handle = s->me->pz,
		.recv_evd_handle = s->me->recv,
		.request_evd_handle = s->me->request,
		.connect_evd_handle = s->me->connect,
	};

	return dat_ep_modify(s->me->ep, mask, &param);
}

static void
go_on(struct scene *s, enum scene_place place)
{
	switch (place) {
	case SCENE_CONNECTED_PASSIVE:
		s->me = &s->pair.b;
		s->peer = &s->pair.a;
		break;
	case SCENE_DISCONNECTING:
		/* No receive is posted: the send waits for one. */
		dt_send(s->me, 0, 8, 77);
		dt_ok(dat_ep_disconnect(s->me->ep, DAT_CLOSE_GRACEFUL_FLAG));
		break;
	case SCENE_ENDED_BY_ME:
		end_connection(s, s->me);
		break;
	case SCENE_ENDED_BY_PEER:
		end_connection(s, s->peer);
		break;
	case SCENE_RESET:
		end_connection(s, s->me);
		dt_ok(dat_ep_reset(s->me->ep));
		dt_ok(dat_ep_reset(s->peer->ep));
		break;
	case SCENE_BROKEN:
		break_connection(s);
		break;
	case SCENE_RESERVED:
		scene_reserve(s);
		break;
	case SCENE_ASKED:
		scene_reserve(s);
		dt_connect(s->peer, s->me, NULL, 0);
		s->cr = scene_asked(s);
		break;
	case SCENE_MADE:
	case SCENE_MADE_COMPLETE:
		scene_listen(s);
		s->cr = scene_offer(s);
		/* The request does not need it any more. */
		dt_ok(dat_psp_free(s->me->psp));
		s->me->psp = DAT_HANDLE_NULL;
		if (place == SCENE_MADE_COMPLETE)
			dt_ok(scene_give(s, SCENE_PARTS));
		break;
	default:
		break;
	}
}

void
scene_open(struct scene *s, enum scene_place place)
{
	scene_open_on(s, place, DT_SEPARATE);
}

void
scene_open_on(struct scene *s, enum scene_place place, enum dt_evds evds)
{
	static const DAT_EP_STATE states[SCENE_PLACES] = {
		[SCENE_FRESH] = DAT_EP_STATE_UNCONNECTED,
		[SCENE_RESET] = DAT_EP_STATE_UNCONNECTED,
		[SCENE_RESERVED] = DAT_EP_STATE_RESERVED,
		[SCENE_ASKED] = DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
		[SCENE_MADE] = DAT_EP_STATE_UNCONFIGURED_TENTATIVE,
		[SCENE_MADE_COMPLETE] = DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
		[SCENE_CONNECTING] = DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
		[SCENE_ACCEPTING] = DAT_EP_STATE_COMPLETION_PENDING,
		[SCENE_CONNECTED_ACTIVE] = DAT_EP_STATE_CONNECTED,
		[SCENE_CONNECTED_PASSIVE] = DAT_EP_STATE_CONNECTED,
		[SCENE_DISCONNECTING] = DAT_EP_STATE_DISCONNECT_PENDING,
		[SCENE_ENDED_BY_ME] = DAT_EP_STATE_DISCONNECTED,
		[SCENE_ENDED_BY_PEER] = DAT_EP_STATE_DISCONNECTED,
		[SCENE_REJECTED] = DAT_EP_STATE_DISCONNECTED,
		[SCENE_BROKEN] = DAT_EP_STATE_DISCONNECTED,
	};

	memset(s, 0, sizeof *s);
	s->state = states[place];
	if (place == SCENE_ACCEPTING) {
		open_accepting(s, evds);
	} else {
		dt_pair_open(&s->pair, evds);
		s->me = &s->pair.a;
		s->peer = &s->pair.b;
		if (place == SCENE_CONNECTING || place == SCENE_REJECTED) {
			dt_connect(s->me, s->peer, NULL, 0);
			s->cr = dt_request(s->peer);
		}
		if (place == SCENE_REJECTED) {
			dt_ok(dat_cr_reject(s->cr, 0, NULL));
			dt_expect_connection(
			    s->me->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s->me->ep);
		}
		if (place == SCENE_RESET || s->state == DAT_EP_STATE_CONNECTED ||
		    s->state == DAT_EP_STATE_DISCONNECT_PENDING ||
		    (s->state == DAT_EP_STATE_DISCONNECTED && place != SCENE_REJECTED))
			dt_connect_pair(&s->pair);
		go_on(s, place);
	}
	ck_assert_int_eq(dt_state(s->me->ep), s->state);
}

void
scene_open_listening(struct scene *s, enum dt_evds evds)
{
	memset(s, 0, sizeof *s);
	s->me = &s->pair.a;
	s->peer = &s->pair.b;
	dt_side_open(s->me, "soft", evds);
	dt_side_open(s->peer, "soft", evds);
	scene_listen(s);
}

void
scene_close_empty(struct scene *s)
{
	struct dt_side *me = s->me;

	if (me->psp)
		dt_ok(dat_psp_free(me->psp));
	dt_ok(dat_evd_free(me->cr));
	dt_ok(dat_evd_free(me->recv));
	if (me->request != me->recv) {
		dt_ok(dat_evd_free(me->request));
		dt_ok(dat_evd_free(me->connect));
	}
	dt_ok(dat_lmr_free(me->lmr));
	dt_ok(dat_pz_free(me->pz));
	dt_ok(dat_ia_close(me->ia, DAT_CLOSE_GRACEFUL_FLAG));
	free(me->buffer);
	dt_side_close(s->peer);
}

void
scene_close(struct scene *s)
{
	if (s->helpers.a.ia)
		dt_side_close(&s->helpers.a);
	if (s->helpers.b.ia)
		dt_side_close(&s->helpers.b);
	dt_pair_close(&s->pair);
}

void
scene_address(const struct dt_side *side, DAT_CONN_QUAL port, struct sockaddr_storage *to)
{
	DAT_IA_ADDRESS_PTR address = dt_address(side->ia);

	memset(to, 0, sizeof *to);
	memcpy(to, address,
	    address->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
					    sizeof(struct sockaddr_in6));
	/* The port has the same offset in both. */
	((struct sockaddr_in *)(void *)to)->sin_port = htons((uint16_t)port);
}

DAT_CR_HANDLE
scene_request(struct scene *s)
{
	if (!s->me->psp)
		dt_side_listen(s->me);
	dt_side_open(&s->helpers.a, "soft", DT_SEPARATE);
	dt_connect(&s->helpers.a, s->me, NULL, 0);
	return dt_request(s->me);
}

DAT_EP_HANDLE
scene_model(struct scene *s)
{
	dt_pair_open(&s->helpers, DT_SEPARATE);
	dt_connect_pair(&s->helpers);
	return s->helpers.a.ep;
}

void
scene_replace(const struct scene *s, enum rdma_cm_event_type from, enum rdma_cm_event_type to)
{
	const struct fault_replacement replacement = {
		.from = from,
		.to = to,
		.adapter = s->me == &s->pair.a ? 0 : 1,
		.status = -ETIMEDOUT,
	};

	fault_cm_replace(&replacement);
}

void
scene_drop_data(const struct scene *s, enum rdma_cm_event_type of)
{
	const struct fault_replacement replacement = {
		.from = of,
		.to = of,
		.adapter = s->me == &s->pair.a ? 0 : 1,
		.status = -ETIMEDOUT,
		.without_data = true,
	};

	fault_cm_replace(&replacement);
}
