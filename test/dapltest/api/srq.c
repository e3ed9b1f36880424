/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#include "api.h"

static DAT_RETURN
make_srq(struct dt_pair *p, DAT_SRQ_HANDLE *srq)
{
	DAT_SRQ_ATTR attr = { 4, 1, DAT_SRQ_LW_DEFAULT };

	return dat_srq_create(p->b.ia, p->b.pz, &attr, srq);
}

static DAT_RETURN
srq_create(struct dt_pair *p)
{
	DAT_SRQ_HANDLE srq;

	return make_srq(p, &srq);
}

static DAT_RETURN
srq_free(struct dt_pair *p)
{
	DAT_SRQ_HANDLE srq;

	API_NEED(make_srq(p, &srq));
	return dat_srq_free(srq);
}

static DAT_RETURN
srq_query(struct dt_pair *p)
{
	DAT_SRQ_PARAM param;
	DAT_SRQ_HANDLE srq;

	API_NEED(make_srq(p, &srq));
	return dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param);
}

/* A message to an endpoint of the queue takes the buffer. */
static DAT_RETURN
ep_create_with_srq(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->b, 64, 64);
	DAT_SRQ_HANDLE srq;
	DAT_EVENT event;

	API_NEED(make_srq(p, &srq));
	API_NEED(dat_ep_create_with_srq(
	    p->b.ia, p->b.pz, p->b.recv, p->b.request, p->b.connect, srq, NULL, &p->b.ep));
	API_NEED(dat_srq_post_recv(srq, 1, &local, dt_cookie(2)));
	API_NEED(dat_cr_accept(api_request(p, p->b.qual), p->b.ep, 0, NULL));
	dt_expect_established(&p->a);
	dt_expect_established(&p->b);
	strcpy(p->a.buffer, "sent");
	dt_send(&p->a, 0, 5, 1);
	dt_expect_dto(p->b.recv, p->b.ep, 2, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(p->b.buffer + 64, "sent");
	return DAT_SUCCESS;
}

static DAT_RETURN
srq_post_recv(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->b, 64, 64);
	DAT_SRQ_HANDLE srq;

	API_NEED(make_srq(p, &srq));
	return dat_srq_post_recv(srq, 1, &local, dt_cookie(2));
}

static DAT_RETURN
srq_resize(struct dt_pair *p)
{
	DAT_SRQ_HANDLE srq;

	API_NEED(make_srq(p, &srq));
	return dat_srq_resize(srq, 40);
}

static DAT_RETURN
srq_set_lw(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->b, 64, 64);
	DAT_SRQ_HANDLE srq;

	API_NEED(make_srq(p, &srq));
	API_NEED(dat_srq_post_recv(srq, 1, &local, dt_cookie(2)));
	return dat_srq_set_lw(srq, 1);
}

const struct api_call api_srq_calls[] = {
	{ "srq_create", srq_create },
	{ "srq_free", srq_free },
	{ "srq_query", srq_query },
	{ "ep_create_with_srq", ep_create_with_srq },
	{ "srq_post_recv", srq_post_recv },
	{ "srq_resize", srq_resize },
	{ "srq_set_lw", srq_set_lw },
	{ NULL, NULL },
};
