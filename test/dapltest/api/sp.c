/* SPDX-License-Identifier: BSD-3-Clause */
/* Service points and connection requests. */
#include "api.h"

#include <netinet/in.h>

/* A qualifier that is free: of a service point that is freed at once. */
static DAT_CONN_QUAL
free_qual(struct dt_pair *p)
{
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;

	dt_ok(dat_psp_create_any(p->b.ia, &qual, p->b.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
	return qual;
}

static DAT_RETURN
psp_create(struct dt_pair *p)
{
	DAT_PSP_HANDLE psp;

	return dat_psp_create(p->b.ia, free_qual(p), p->b.cr, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN
psp_create_provider(struct dt_pair *p)
{
	DAT_PSP_HANDLE psp;

	return dat_psp_create(p->b.ia, free_qual(p), p->b.cr, DAT_PSP_PROVIDER_FLAG, &psp);
}

static DAT_RETURN
psp_create_any(struct dt_pair *p)
{
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;

	return dat_psp_create_any(p->b.ia, &qual, p->b.cr, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN
psp_query(struct dt_pair *p)
{
	DAT_PSP_PARAM param;

	return dat_psp_query(p->b.psp, DAT_PSP_FIELD_ALL, &param);
}

static DAT_RETURN
psp_free(struct dt_pair *p)
{
	return dat_psp_free(p->b.psp);
}

/* ---- reserved ---- */

static DAT_RETURN
make_rsp(struct dt_pair *p, DAT_RSP_HANDLE *rsp)
{
	return dat_rsp_create(p->b.ia, free_qual(p), api_ep(&p->b), p->b.cr, rsp);
}

static DAT_RETURN
rsp_create(struct dt_pair *p)
{
	DAT_RSP_HANDLE rsp;

	return make_rsp(p, &rsp);
}

static DAT_RETURN
rsp_query(struct dt_pair *p)
{
	DAT_RSP_PARAM param;
	DAT_RSP_HANDLE rsp;

	API_NEED(make_rsp(p, &rsp));
	return dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param);
}

static DAT_RETURN
rsp_free(struct dt_pair *p)
{
	DAT_RSP_HANDLE rsp;

	API_NEED(make_rsp(p, &rsp));
	return dat_rsp_free(rsp);
}

/* ---- common ---- */

static DAT_RETURN
make_csp(struct dt_pair *p, int type, DAT_CSP_HANDLE *csp)
{
	DAT_IA_ADDRESS_PTR of_b = dt_address(p->b.ia);
	struct sockaddr_in6 address = { 0 };
	DAT_COMM comm = { .domain = of_b->sa_family, .type = type, .protocol = 0 };

	/* With port 0 the provider chooses one. */
	memcpy(&address, of_b,
	    of_b->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	((struct sockaddr_in *)&address)->sin_port = 0;
	return dat_csp_create(p->b.ia, &comm, (DAT_IA_ADDRESS_PTR)&address, p->b.cr, csp);
}

static DAT_RETURN
csp_create(struct dt_pair *p)
{
	DAT_CSP_HANDLE csp;

	return make_csp(p, SOCK_STREAM, &csp);
}

static DAT_RETURN
csp_create_datagram(struct dt_pair *p)
{
	DAT_CSP_HANDLE csp;

	return make_csp(p, SOCK_DGRAM, &csp);
}

static DAT_RETURN
csp_query(struct dt_pair *p)
{
	DAT_CSP_PARAM param;
	DAT_CSP_HANDLE csp;

	API_NEED(make_csp(p, SOCK_STREAM, &csp));
	return dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param);
}

static DAT_RETURN
csp_free(struct dt_pair *p)
{
	DAT_CSP_HANDLE csp;

	API_NEED(make_csp(p, SOCK_STREAM, &csp));
	return dat_csp_free(csp);
}

/* ---- requests ---- */

static DAT_RETURN
cr_query(struct dt_pair *p)
{
	DAT_CR_PARAM param;

	return dat_cr_query(api_request(p, p->b.qual), DAT_CR_FIELD_ALL, &param);
}

static DAT_RETURN
cr_accept(struct dt_pair *p)
{
	p->b.ep = api_ep(&p->b);
	API_NEED(dat_cr_accept(api_request(p, p->b.qual), p->b.ep, 0, NULL));
	dt_expect_established(&p->a);
	dt_expect_established(&p->b);
	return DAT_SUCCESS;
}

static DAT_RETURN
cr_reject(struct dt_pair *p)
{
	API_NEED(dat_cr_reject(api_request(p, p->b.qual), 0, NULL));
	dt_expect_connection(p->a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, p->a.ep);
	return DAT_SUCCESS;
}

static DAT_RETURN
cr_handoff(struct dt_pair *p)
{
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;
	DAT_EVENT event;

	dt_ok(dat_psp_create_any(p->b.ia, &qual, p->b.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	API_NEED(dat_cr_handoff(api_request(p, p->b.qual), qual));
	dt_expect(p->b.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	ck_assert_ptr_eq(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, psp);
	return DAT_SUCCESS;
}

const struct api_call api_sp_calls[] = {
	{ "psp_create", psp_create },
	{ "psp_create:with endpoints of the provider", psp_create_provider },
	{ "psp_create_any", psp_create_any },
	{ "psp_query", psp_query },
	{ "psp_free", psp_free },
	{ "rsp_create", rsp_create },
	{ "rsp_query", rsp_query },
	{ "rsp_free", rsp_free },
	{ "csp_create", csp_create },
	{ "csp_create:of datagrams", csp_create_datagram },
	{ "csp_query", csp_query },
	{ "csp_free", csp_free },
	{ "cr_query", cr_query },
	{ "cr_accept", cr_accept },
	{ "cr_reject", cr_reject },
	{ "cr_handoff", cr_handoff },
	{ NULL, NULL },
};
