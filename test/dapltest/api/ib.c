/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of dat_ib_extensions.h and dat_upcall.h, by their numbers. */
#include "api.h"

#include <stdint.h>

#include <dat2/dat_ib_extensions.h>

#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG

/* The extended event of the request that is outstanding. */
static DAT_RETURN
completed(struct dt_pair *p)
{
	DAT_EVENT event;

	dt_expect(p->a.request, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &event);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
	return DAT_SUCCESS;
}

static DAT_RETURN
fetch_and_add(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&p->b, 0, 8);

	API_NEED(dat_ib_post_fetch_and_add(p->a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT));
	return completed(p);
}

static DAT_RETURN
cmp_and_swap(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&p->b, 0, 8);

	API_NEED(dat_ib_post_cmp_and_swap(p->a.ep, 0, 1, &local, dt_cookie(1), &remote, DEFAULT));
	return completed(p);
}

static DAT_RETURN
rdma_write_immed(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&p->b, 0, 8);

	dt_recv(&p->b, 64, 64, 2);
	API_NEED(dat_ib_post_rdma_write_immed(
	    p->a.ep, 1, &local, dt_cookie(1), &remote, 0x1111, DEFAULT));
	return completed(p);
}

static DAT_RETURN
query_counters(struct dt_pair *p)
{
	DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];

	return dat_ib_query_counters(p->a.ep, DCNT_EP_ALL_COUNTERS, counters, 0);
}

static DAT_RETURN
print_counters(struct dt_pair *p)
{
	return dat_ib_print_counters(p->a.ep, DCNT_EP_CONNECT, 0);
}

static DAT_RETURN
start_counters(struct dt_pair *p)
{
	return dat_ib_start_counter(p->a.ia, DCNT_IA_CM);
}

static DAT_RETURN
stop_counters(struct dt_pair *p)
{
	return dat_ib_stop_counter(p->a.ia, DCNT_IA_CM);
}

static DAT_RETURN
open_query(struct dt_pair *p)
{
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR attr;

	(void)p;
	API_NEED(dat_ib_open_query(
	    (DAT_NAME_PTR)(uintptr_t)api_adapter, &ia, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	dt_ok(dat_ib_close_query(ia));
	return DAT_SUCCESS;
}

static DAT_RETURN
close_query(struct dt_pair *p)
{
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR attr;

	(void)p;
	API_NEED(dat_ib_open_query(
	    (DAT_NAME_PTR)(uintptr_t)api_adapter, &ia, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	return dat_ib_close_query(ia);
}

/* ---- datagrams ---- */

static DAT_RETURN
make_ud_ep(struct dt_side *side, DAT_EP_HANDLE *ep)
{
	DAT_EP_PARAM param;

	API_NEED(dat_ep_query(side->ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
	param.ep_attr.max_message_size = 0;
	param.ep_attr.srq_soft_hw = 0;
	return dat_ep_create(
	    side->ia, side->pz, side->recv, side->request, side->connect, &param.ep_attr, ep);
}

static const DAT_IB_EXTENSION_EVENT_DATA *
ud_data(const DAT_EVENT *event)
{
	return (const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event->event_extension_data;
}

/* A datagram endpoint of the first side, and its event that it has the address of another. */
static DAT_RETURN
ud_meet(struct dt_pair *p, DAT_EP_HANDLE *ep, DAT_EVENT *event)
{
	DAT_EP_HANDLE other;

	API_NEED(make_ud_ep(&p->a, ep));
	API_NEED(make_ud_ep(&p->b, &other));
	API_NEED(dat_ep_connect(*ep, dt_address(p->b.ia), p->b.qual, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_expect(p->b.cr, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT, event);
	API_NEED(dat_cr_accept(event->event_data.cr_arrival_event_data.cr_handle, other, 0, NULL));
	dt_expect(p->a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, event);
	return DAT_SUCCESS;
}

static DAT_RETURN
ud_send(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 8);
	DAT_EVENT event;
	DAT_EP_HANDLE ep;

	API_NEED(ud_meet(p, &ep, &event));
	API_NEED(
	    dat_ib_post_send_ud(ep, 1, &local, &ud_data(&event)->remote_ah, dt_cookie(1), DEFAULT));
	dt_expect(p->a.request, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &event);
	return DAT_SUCCESS;
}

static DAT_RETURN
ud_cm_free(struct dt_pair *p)
{
	DAT_EVENT event;
	DAT_EP_HANDLE ep;

	API_NEED(ud_meet(p, &ep, &event));
	return dat_ib_ud_cm_free(ep, ud_data(&event)->context);
}

static DAT_RETURN
ud_ah_free(struct dt_pair *p)
{
	DAT_EVENT event;
	DAT_EP_HANDLE ep;

	API_NEED(ud_meet(p, &ep, &event));
	return dat_ib_ud_ah_free(ep, &ud_data(&event)->remote_ah);
}

/* ---- collectives: refused before their arguments are read ---- */

/* clang-format off */
#define COLLECTIVES(F) \
	F(CREATE_MEMBER) F(FREE_MEMBER) F(CREATE_GROUP) F(FREE_GROUP) F(SET_CLOCK) F(READ_CLOCK) \
	F(SCATTER) F(SCATTERV) F(GATHER) F(GATHERV) F(ALLGATHER) F(ALLGATHERV) F(ALLTOALL) \
	F(ALLTOALLV) F(REDUCE) F(ALLREDUCE) F(REDUCE_SCATTER) F(SCAN) F(BROADCAST) F(BARRIER)
/* clang-format on */

#define DEFINE_COLLECTIVE(name) \
	static DAT_RETURN collective_##name(struct dt_pair *p) \
	{ \
		return dat_extension_op( \
		    p->a.ia, (DAT_EXTENDED_OP)DAT_IB_COLLECTIVE_##name##_OP, NULL, NULL, NULL); \
	}
COLLECTIVES(DEFINE_COLLECTIVE)
#define LIST_COLLECTIVE(name) { "DAT_IB_COLLECTIVE_" #name "_OP", collective_##name },

/* ---- of Rearm ---- */

static DAT_RETURN
ia_step(struct dt_pair *p)
{
	DAT_IA_HANDLE ia = dt_open("soft-step", NULL);
	DAT_COUNT done;

	(void)p;
	API_NEED(dat_ia_step(ia, 0, &done));
	dt_close(ia);
	return DAT_SUCCESS;
}

const struct api_call api_ib_calls[] = {
	{ "DAT_IB_FETCH_AND_ADD_OP", fetch_and_add },
	{ "DAT_IB_CMP_AND_SWAP_OP", cmp_and_swap },
	{ "DAT_IB_RDMA_WRITE_IMMED_OP", rdma_write_immed },
	{ "DAT_IB_UD_SEND_OP", ud_send },
	{ "DAT_IB_UD_CM_FREE_OP", ud_cm_free },
	{ "DAT_IB_UD_AH_FREE_OP", ud_ah_free },
	{ "DAT_IB_QUERY_COUNTERS_OP", query_counters },
	{ "DAT_IB_PRINT_COUNTERS_OP", print_counters },
	{ "DAT_IB_START_COUNTERS_OP", start_counters },
	{ "DAT_IB_STOP_COUNTERS_OP", stop_counters },
	{ "DAT_IB_OPEN_QUERY_OP", open_query },
	{ "DAT_IB_CLOSE_QUERY_OP", close_query },
	COLLECTIVES(LIST_COLLECTIVE){ "ia_step", ia_step },
	{ NULL, NULL },
};
