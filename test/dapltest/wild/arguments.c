/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles behind the first argument: a bad one is rejected, and nothing is left behind. */
#include "wild.h"

static DAT_RETURN
ep_create_pz(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_EP_HANDLE ep;

	return dat_ep_create(s->ia, h, s->recv, s->request, s->connect, NULL, &ep);
}

static DAT_RETURN
ep_create_recv(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_EP_HANDLE ep;

	return dat_ep_create(s->ia, s->pz, h, s->request, s->connect, NULL, &ep);
}

static DAT_RETURN
ep_create_request(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_EP_HANDLE ep;

	return dat_ep_create(s->ia, s->pz, s->recv, h, s->connect, NULL, &ep);
}

static DAT_RETURN
ep_create_connect(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_EP_HANDLE ep;

	return dat_ep_create(s->ia, s->pz, s->recv, s->request, h, NULL, &ep);
}

static DAT_RETURN
evd_create_cno(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_EVD_HANDLE evd;

	return dat_evd_create(s->ia, 8, h, DAT_EVD_SOFTWARE_FLAG, &evd);
}

static DAT_RETURN
evd_modify_cno(const struct dt_side *s, DAT_HANDLE h)
{
	return dat_evd_modify_cno(s->recv, h);
}

static DAT_RETURN
psp_create_evd(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_PSP_HANDLE psp;

	return dat_psp_create(s->ia, 54321, h, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN
psp_create_any_evd(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;

	return dat_psp_create_any(s->ia, &qual, h, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN
rsp_create_ep(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_RSP_HANDLE rsp;

	return dat_rsp_create(s->ia, 54322, h, s->cr, &rsp);
}

static DAT_RETURN
rsp_create_evd(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_RSP_HANDLE rsp;

	return dat_rsp_create(s->ia, 54323, s->ep, h, &rsp);
}

static DAT_RETURN
csp_create_evd(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_IA_ADDRESS_PTR own = dt_address(s->ia);
	DAT_COMM comm = { own->sa_family, SOCK_STREAM, 0 };
	DAT_CSP_HANDLE csp;

	return dat_csp_create(s->ia, &comm, own, h, &csp);
}

static DAT_RETURN
lmr_create_pz(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_REGION_DESCRIPTION region = { .for_va = s->buffer };
	DAT_LMR_HANDLE lmr;

	return dat_lmr_create(s->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, h, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, &lmr, NULL, NULL, NULL, NULL);
}

static DAT_RETURN
lmr_create_lmr(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_REGION_DESCRIPTION region = { .for_lmr_handle = h };
	DAT_LMR_HANDLE lmr;

	return dat_lmr_create(s->ia, DAT_MEM_TYPE_LMR, region, 64, s->pz, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, &lmr, NULL, NULL, NULL, NULL);
}

static DAT_RETURN
ep_dup_connect_other(const struct dt_side *s, DAT_HANDLE h)
{
	return dat_ep_dup_connect(s->ep, h, 1000, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static DAT_RETURN
ia_open_async(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_EVD_HANDLE async = h;
	DAT_IA_HANDLE ia;

	(void)s;
	return dat_ia_open((char *)(uintptr_t) "soft", 8, &async, &ia);
}

/* The endpoint is one without receives. */
static DAT_RETURN
ep_modify(const struct dt_side *s, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	DAT_EP_HANDLE ep;
	DAT_RETURN ret;

	dt_ok(dat_ep_create(s->ia, s->pz, s->recv, s->request, s->connect, NULL, &ep));
	ret = dat_ep_modify(ep, mask, param);
	dt_ok(dat_ep_free(ep));
	return ret;
}

static DAT_RETURN
ep_modify_pz(const struct dt_side *s, DAT_HANDLE h)
{
	const DAT_EP_PARAM param = { .pz_handle = h };

	return ep_modify(s, DAT_EP_FIELD_PZ_HANDLE, &param);
}

static DAT_RETURN
ep_modify_recv(const struct dt_side *s, DAT_HANDLE h)
{
	const DAT_EP_PARAM param = { .recv_evd_handle = h };

	return ep_modify(s, DAT_EP_FIELD_RECV_EVD_HANDLE, &param);
}

static DAT_RETURN
ep_modify_request(const struct dt_side *s, DAT_HANDLE h)
{
	const DAT_EP_PARAM param = { .request_evd_handle = h };

	return ep_modify(s, DAT_EP_FIELD_REQUEST_EVD_HANDLE, &param);
}

static DAT_RETURN
srq_create_pz(const struct dt_side *s, DAT_HANDLE h)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 8, .max_recv_iov = 1 };
	DAT_SRQ_HANDLE srq;

	return dat_srq_create(s->ia, h, &attr, &srq);
}

/* NULL and DAT_EVD_ASYNC_EXISTS are answers, not mistakes, where `null_is_good`. */
static const struct {
	const char *name;
	DAT_RETURN (*call)(const struct dt_side *s, DAT_HANDLE handle);
	DAT_RETURN_SUBTYPE subtype;
	enum wild_kind kind;
	bool null_is_good;
} arguments[] = {
	{ "ep_create(pz)", ep_create_pz, DAT_INVALID_HANDLE_PZ, WILD_PZ, true },
	{ "ep_create(recv)", ep_create_recv, DAT_INVALID_HANDLE_EVD_RECV, WILD_EVD, true },
	{ "ep_create(request)", ep_create_request, DAT_INVALID_HANDLE_EVD_REQUEST, WILD_EVD, true },
	{ "ep_create(connect)", ep_create_connect, DAT_INVALID_HANDLE_EVD_CONN, WILD_NONE, true },
	{ "evd_create(cno)", evd_create_cno, DAT_INVALID_HANDLE_CNO, WILD_CNO, true },
	{ "evd_modify_cno(cno)", evd_modify_cno, DAT_INVALID_HANDLE_CNO, WILD_CNO, true },
	{ "psp_create(evd)", psp_create_evd, DAT_INVALID_HANDLE_EVD_CR, WILD_NONE, false },
	{ "psp_create_any(evd)", psp_create_any_evd, DAT_INVALID_HANDLE_EVD_CR, WILD_NONE, false },
	{ "rsp_create(ep)", rsp_create_ep, DAT_INVALID_HANDLE_EP, WILD_EP, false },
	{ "rsp_create(evd)", rsp_create_evd, DAT_INVALID_HANDLE_EVD_CR, WILD_NONE, false },
	{ "csp_create(evd)", csp_create_evd, DAT_INVALID_HANDLE_EVD_CR, WILD_NONE, false },
	{ "lmr_create(pz)", lmr_create_pz, DAT_INVALID_HANDLE_PZ, WILD_PZ, false },
	{ "lmr_create(lmr)", lmr_create_lmr, DAT_INVALID_HANDLE_LMR, WILD_LMR, false },
	{ "ep_dup_connect(ep)", ep_dup_connect_other, DAT_INVALID_HANDLE_EP, WILD_EP, false },
	{ "ep_modify(pz)", ep_modify_pz, DAT_INVALID_HANDLE_PZ, WILD_PZ, false },
	{ "ep_modify(recv)", ep_modify_recv, DAT_INVALID_HANDLE_EVD_RECV, WILD_EVD, true },
	{ "ep_modify(request)", ep_modify_request, DAT_INVALID_HANDLE_EVD_REQUEST, WILD_EVD, true },
	{ "srq_create(pz)", srq_create_pz, DAT_INVALID_HANDLE_PZ, WILD_PZ, false },
	{ "ia_open(async)", ia_open_async, DAT_INVALID_HANDLE_EVD_ASYNC, WILD_NONE, true },
};
#define ARGUMENTS ((int)(sizeof arguments / sizeof arguments[0]))

static void
refused(int i, const struct dt_side *side, DAT_HANDLE handle, const char *what)
{
	DAT_RETURN ret = arguments[i].call(side, handle);

	ck_assert_msg(ret == DAT_ERROR(DAT_INVALID_HANDLE, arguments[i].subtype),
	    "dat_%s with %s %p gives 0x%08x, not INVALID_HANDLE/0x%x", arguments[i].name, what,
	    handle, ret, arguments[i].subtype);
}

DT_CASE("wild-arguments:arguments");

/* clause: b.4.2, b.4.3, b.4.4, c.2.5, c.2.12, c.8.3, e.3.1, e.7.2, e.1.1 */
TEST_LOOP(argument__that_is_no_handle_of_its_kind__is_refused, ARGUMENTS)
{
	const struct dt_side *side;
	struct wild wild;

	wild_open(&wild);
	side = &wild.pair.b;
	for (int k = 0; k < WILD_KINDS; k++) {
		if (k != (int)arguments[_i].kind && !(k == WILD_IA && arguments[_i].null_is_good))
			refused(_i, side, wild.good[k], wild_names[k]);
		if (k == WILD_IA)
			continue;
		refused(_i, side, wild.stale[k], wild_names[k]);
		refused(_i, side, (char *)wild.good[k] + 1, "misaligned");
		refused(_i, side, (char *)wild.good[k] + 8, "inside");
	}
	for (int i = 0; i < wild.addresses; i++)
		if ((uintptr_t)wild.address[i] > 2 || !arguments[_i].null_is_good)
			refused(_i, side, wild.address[i], "address");
	wild_close(&wild);
}

/* clause: b.4.7 */
/* origin: out33.Z6 */
TEST_LOOP(argument__of_another_adapter__is_refused, ARGUMENTS)
{
	DAT_HANDLE foreign = DAT_HANDLE_NULL;
	struct wild wild;

	wild_open(&wild);
	switch (arguments[_i].kind) {
	case WILD_PZ:
		foreign = wild.pair.a.pz;
		break;
	case WILD_LMR:
		foreign = wild.pair.a.lmr;
		break;
	case WILD_EVD:
		foreign = wild.pair.a.recv;
		break;
	case WILD_CNO:
		dt_ok(dat_cno_create(
		    wild.pair.a.ia, (DAT_OS_WAIT_PROXY_AGENT){ NULL, NULL }, &foreign));
		break;
	default: /* an endpoint, or the connection EVD: those may be another adapter's */
		if (arguments[_i].subtype == DAT_INVALID_HANDLE_EVD_CR)
			foreign = wild.pair.a.cr;
		break;
	}
	if (foreign)
		refused(_i, &wild.pair.b, foreign, "another adapter's");
	wild_close(&wild);
}
