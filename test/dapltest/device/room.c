/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call that fails has taken: the room in every EVD, counted exactly, the entries of a shared
 * receive queue, the notification of an EVD, the state and the parts of each endpoint are what they
 * were; and the call works afterwards.  Each allocation of each call fails in turn, and each call
 * to the device.
 */
#include <errno.h>
#include <stdio.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_log.h>

#include "fault/fault.h"
#include "device.h"

/*
 * Larger than a completion queue is at least, so that the depth of a queue that is made as short as
 * it may be is the room in it.
 */
#define RECVS 100
#define REQUESTS 90
#define SHARED 80
#define LEAST 64 /* the depth without any room */
#define MEMBER_REQUESTS 10
#define QLEN 8
#define SPARE 1 /* the request that a bind may need besides, on an EVD for binds */

/* The EVDs whose room is counted. */
enum counted { RECV, REQUEST, PLAIN, MERGED, COUNTED };

static struct dt_side owner; /* of the EVD that gets the reports */
static struct dt_side side;
static DAT_EVD_HANDLE reports, evds[COUNTED], connect_other;
static struct ibv_cq *cqs[COUNTED];
static DAT_SRQ_HANDLE srq;
/* of its own, a member, and a member whose receives wait for ESTABLISHED */
static DAT_EP_HANDLE eps[3];
static DAT_CNO_HANDLE cno;
static DAT_CONN_QUAL port; /* without a listener */
static DAT_HANDLE made;

/* ---- what is there ---- */

struct footprint {
	DAT_COUNT room[COUNTED], reports, depth, available, outstanding;
	DAT_EVD_STATE states[COUNTED];
	DAT_CNO_HANDLE cno;
	DAT_EP_PARAM eps[3];
};

static DAT_COUNT
room_in(enum counted i)
{
	/* it may be too short for them since memory ran out */
	dt_ok(dat_evd_resize(evds[i], 1000));
	dt_ok(dat_evd_resize(evds[i], QLEN));
	return cqs[i]->cqe;
}

/* How many events it takes, once it is no longer than it must be. */
static DAT_COUNT
room_for_reports(void)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_COUNT n = 0;

	dt_ok(dat_evd_resize(reports, QLEN + 1));
	dt_ok(dat_evd_resize(reports, QLEN));
	while (dat_evd_post_se(reports, &event) == DAT_SUCCESS)
		n++;
	for (DAT_COUNT i = 0; i < n; i++)
		dt_ok(dat_evd_dequeue(reports, &event));
	dt_assert_empty(reports);
	return n;
}

static void
look(struct footprint *f)
{
	DAT_SRQ_PARAM q;
	DAT_EVD_PARAM e;

	memset(f, 0, sizeof *f);
	for (int i = 0; i < COUNTED; i++) {
		f->room[i] = room_in((enum counted)i);
		dt_ok(dat_evd_query(evds[i], DAT_EVD_FIELD_ALL, &e));
		f->states[i] = e.evd_state;
		ck_assert_int_eq(e.evd_qlen, QLEN);
	}
	f->cno = e.cno_handle;
	f->reports = room_for_reports();
	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &q));
	f->depth = q.max_recv_dtos;
	f->available = q.available_dto_count;
	f->outstanding = q.outstanding_dto_count;
	for (int i = 0; i < 3; i++)
		dt_ok(dat_ep_query(eps[i], DAT_EP_FIELD_ALL, &f->eps[i]));
}

static void
assert_same_endpoint(const DAT_EP_PARAM *a, const DAT_EP_PARAM *b, const char *after)
{
	const DAT_EP_ATTR *x = &a->ep_attr, *y = &b->ep_attr;

	ck_assert_msg(a->ep_state == b->ep_state, "%s: state %d, not %d", after, (int)b->ep_state,
	    (int)a->ep_state);
	ck_assert_msg(a->pz_handle == b->pz_handle && a->recv_evd_handle == b->recv_evd_handle &&
			  a->request_evd_handle == b->request_evd_handle &&
			  a->connect_evd_handle == b->connect_evd_handle &&
			  a->srq_handle == b->srq_handle,
	    "%s: another part", after);
	ck_assert_msg(
	    x->max_recv_dtos == y->max_recv_dtos && x->max_request_dtos == y->max_request_dtos &&
		x->max_recv_iov == y->max_recv_iov && x->max_request_iov == y->max_request_iov &&
		x->recv_completion_flags == y->recv_completion_flags &&
		x->request_completion_flags == y->request_completion_flags,
	    "%s: other attributes", after);
}

static void
assert_as(const struct footprint *was, const char *after)
{
	struct footprint is;

	look(&is);
	for (int i = 0; i < COUNTED; i++) {
		ck_assert_msg(is.room[i] == was->room[i], "%s: room for %d in EVD %d, not %d",
		    after, (int)is.room[i], i, (int)was->room[i]);
		ck_assert_msg(is.states[i] == was->states[i], "%s: EVD %d is in state %#x, not %#x",
		    after, i, (unsigned int)is.states[i], (unsigned int)was->states[i]);
	}
	ck_assert_msg(is.reports == was->reports, "%s: room for %d reports, not %d", after,
	    (int)is.reports, (int)was->reports);
	ck_assert_msg(is.cno == was->cno, "%s: another CNO", after);
	ck_assert_msg(is.depth == was->depth && is.available == was->available &&
			  is.outstanding == was->outstanding,
	    "%s: the shared queue has other entries", after);
	for (int i = 0; i < 3; i++)
		assert_same_endpoint(&was->eps[i], &is.eps[i], after);
}

/* ---- the scene ---- */

static DAT_EP_ATTR
attributes(DAT_COUNT recvs, DAT_COUNT requests)
{
	return (DAT_EP_ATTR){ .service_type = DAT_SERVICE_TYPE_RC,
		.max_recv_dtos = recvs,
		.max_request_dtos = requests,
		.max_recv_iov = 1,
		.max_request_iov = 1 };
}

static void
end_by_rejection(DAT_EP_HANDLE ep, DAT_EVD_HANDLE events)
{
	dt_ok(dat_ep_connect(ep, dt_address(side.ia), port, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_expect_connection(events, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, ep);
}

static DAT_EVD_HANDLE
make_counted(enum counted i, DAT_EVD_FLAGS flags)
{
	evds[i] = dt_evd(&side, flags, QLEN);
	cqs[i] = fault_cq_last();
	return evds[i];
}

static void
find_port(void)
{
	DAT_PSP_HANDLE psp;

	side.cr = dt_evd(&side, DAT_EVD_CR_FLAG, QLEN);
	dt_ok(dat_psp_create_any(side.ia, &port, side.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
}

static void
scene_open(void)
{
	const DAT_EVD_FLAGS both = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG;
	DAT_EP_ATTR own = attributes(RECVS, REQUESTS), member = attributes(0, MEMBER_REQUESTS);
	DAT_SRQ_ATTR shared = { SHARED, 1, DAT_SRQ_LW_DEFAULT };

	dt_side_open(&owner, "faulty", DT_SEPARATE);
	reports = dt_evd(&owner, DAT_EVD_ASYNC_FLAG | DAT_EVD_SOFTWARE_FLAG, QLEN);
	side.async = reports;
	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "faulty", QLEN, &side.async, &side.ia));
	dt_ok(dat_pz_create(side.ia, &side.pz));
	side.recv = make_counted(RECV, DAT_EVD_DTO_FLAG);
	side.request = make_counted(REQUEST, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
	make_counted(PLAIN, DAT_EVD_DTO_FLAG);
	make_counted(MERGED, both);
	side.connect = dt_evd(&side, DAT_EVD_CONNECTION_FLAG, QLEN);
	connect_other = dt_evd(&side, DAT_EVD_CONNECTION_FLAG, QLEN);
	find_port();
	eps[0] = dt_ep(&side, &own);
	dt_ok(dat_srq_create(side.ia, side.pz, &shared, &srq));
	dt_ok(dat_ep_create_with_srq(
	    side.ia, side.pz, evds[PLAIN], side.request, side.connect, srq, &member, &eps[1]));
	dt_ok(dat_ep_create_with_srq(
	    side.ia, side.pz, evds[MERGED], side.request, evds[MERGED], srq, &member, &eps[2]));
	end_by_rejection(eps[0], side.connect);
	end_by_rejection(eps[1], side.connect);
	end_by_rejection(eps[2], evds[MERGED]);
	dt_ok(dat_cno_create(side.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
}

/* Nothing holds a reference to anything. */
static void
scene_close(void)
{
	for (int i = 0; i < 3; i++)
		dt_ok(dat_ep_free(eps[i]));
	for (int i = 0; i < COUNTED; i++) {
		ck_assert_int_eq(room_in((enum counted)i), LEAST);
		dt_ok(dat_evd_free(evds[i]));
	}
	dt_ok(dat_srq_free(srq));
	ck_assert_int_eq(room_for_reports(), QLEN);
	dt_ok(dat_pz_free(side.pz));
	dt_ok(dat_evd_free(side.connect));
	dt_ok(dat_evd_free(connect_other));
	dt_ok(dat_evd_free(side.cr));
	dt_ok(dat_cno_free(cno));
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_GRACEFUL_FLAG));
	dt_ok(dat_evd_free(reports));
	dt_side_close(&owner);
}

/* ---- the calls ---- */

#define MAKE(name, call) \
	static DAT_RETURN name(void) \
	{ \
		return call; \
	}
#define UNDO(name, call) \
	static void name(void) \
	{ \
		dt_ok(call); \
	}

static DAT_RETURN
make_ep(void)
{
	DAT_EP_ATTR attr = attributes(30, 20);

	/* Wakes more sinks than those that are there. */
	attr.recv_completion_flags = attr.request_completion_flags =
	    DAT_COMPLETION_EVD_THRESHOLD_FLAG;
	return dat_ep_create(side.ia, side.pz, side.recv, side.request, side.connect, &attr, &made);
}

static DAT_RETURN
make_merged_ep(void)
{
	DAT_EP_ATTR attr = attributes(30, 20);

	return dat_ep_create(
	    side.ia, side.pz, evds[MERGED], evds[MERGED], evds[MERGED], &attr, &made);
}

static DAT_RETURN
make_datagram_ep(void)
{
	DAT_EP_ATTR attr = attributes(30, 20);

	attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
	return dat_ep_create(side.ia, side.pz, side.recv, side.request, side.connect, &attr, &made);
}

static DAT_RETURN
make_member(void)
{
	DAT_EP_ATTR attr = attributes(0, 20);

	/* An EVD that has none of the members yet. */
	return dat_ep_create_with_srq(
	    side.ia, side.pz, side.recv, side.request, side.connect, srq, &attr, &made);
}

static DAT_RETURN
make_merged_member(void)
{
	DAT_EP_ATTR attr = attributes(0, 20);

	return dat_ep_create_with_srq(
	    side.ia, side.pz, evds[MERGED], side.request, evds[MERGED], srq, &attr, &made);
}

UNDO(undo_ep, dat_ep_free(made))
MAKE(reset_own, dat_ep_reset(eps[0]))

static void
undo_reset_own(void)
{
	end_by_rejection(eps[0], side.connect);
}

MAKE(reset_member, dat_ep_reset(eps[1]))

static void
undo_reset_member(void)
{
	end_by_rejection(eps[1], side.connect);
}

MAKE(reset_merged_member, dat_ep_reset(eps[2]))

static void
undo_reset_merged_member(void)
{
	end_by_rejection(eps[2], evds[MERGED]);
}

static DAT_RETURN
modify_to(DAT_COUNT recvs, DAT_COUNT requests, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE events)
{
	DAT_EP_PARAM param = { .ep_attr = attributes(recvs, requests),
		.recv_evd_handle = recv,
		.connect_evd_handle = events };

	return dat_ep_modify(made,
	    DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
		DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
	    &param);
}

/* An endpoint more, which is there before and after. */
UNDO(prepare_ep, make_ep())
MAKE(modify_ep, modify_to(50, 40, evds[MERGED], evds[MERGED]))
UNDO(undo_modify_ep, modify_to(30, 20, side.recv, side.connect))
UNDO(prepare_member, make_member())
MAKE(modify_member, modify_to(0, 40, evds[MERGED], evds[MERGED]))
UNDO(undo_modify_member, modify_to(0, 20, side.recv, side.connect))

static DAT_RETURN
make_srq(void)
{
	DAT_SRQ_ATTR attr = { 30, 1, 2 };

	return dat_srq_create(side.ia, side.pz, &attr, &made);
}

UNDO(undo_srq, dat_srq_free(made))
MAKE(lengthen_srq, dat_srq_resize(srq, SHARED + 33))
UNDO(undo_lengthen_srq, dat_srq_resize(srq, SHARED))
MAKE(shorten_srq, dat_srq_resize(srq, SHARED - 10))
MAKE(set_watermark, dat_srq_set_lw(srq, 0))
MAKE(make_evd, dat_evd_create(side.ia, 4, cno, DAT_EVD_DEFAULT_FLAG, &made))
UNDO(undo_evd, dat_evd_free(made))
MAKE(lengthen_evd, dat_evd_resize(evds[PLAIN], 500))
UNDO(undo_lengthen_evd, dat_evd_resize(evds[PLAIN], QLEN))
MAKE(give_cno, dat_evd_modify_cno(evds[MERGED], cno))
UNDO(undo_give_cno, dat_evd_modify_cno(evds[MERGED], DAT_HANDLE_NULL))
MAKE(make_cno, dat_cno_create(side.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &made))
UNDO(undo_cno, dat_cno_free(made))
MAKE(make_pz, dat_pz_create(side.ia, &made))
UNDO(undo_pz, dat_pz_free(made))

static DAT_RETURN
make_lmr(void)
{
	static char memory[64];
	DAT_REGION_DESCRIPTION region = { .for_va = memory };

	return dat_lmr_create(side.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, side.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made, NULL, NULL, NULL, NULL);
}

UNDO(undo_lmr, dat_lmr_free(made))
MAKE(make_rmr, dat_rmr_create(side.pz, &made))
UNDO(undo_rmr, dat_rmr_free(made))

static DAT_RETURN
make_psp(void)
{
	DAT_CONN_QUAL any;

	return dat_psp_create_any(side.ia, &any, side.cr, DAT_PSP_PROVIDER_FLAG, &made);
}

UNDO(undo_psp, dat_psp_free(made))

static DAT_RETURN
make_ia(void)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

	return dat_ia_open((DAT_NAME_PTR)(uintptr_t) "faulty", QLEN, &async, &made);
}

static void
undo_ia(void)
{
	dt_close(made);
}

static DAT_EP_HANDLE reservable;

static void
prepare_reservable(void)
{
	dt_ok(make_ep());
	reservable = made;
}

MAKE(make_rsp, dat_rsp_create(side.ia, port, reservable, side.cr, &made))

static void
undo_rsp(void)
{
	ck_assert_int_eq(dt_state(reservable), DAT_EP_STATE_RESERVED);
	dt_ok(dat_rsp_free(made));
	ck_assert_int_eq(dt_state(reservable), DAT_EP_STATE_UNCONNECTED);
}

UNDO(finish_reservable, dat_ep_free(reservable))
static DAT_RETURN
connect_it(void)
{
	return dat_ep_connect(made, dt_address(side.ia), port, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/* What fails after the call is an event. */
static void
undo_connect(void)
{
	DAT_EVENT event;

	dt_next(side.connect, &event);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, made);
	ck_assert_int_eq(dt_state(made), DAT_EP_STATE_DISCONNECTED);
	dt_ok(dat_ep_reset(made));
}

static const struct attempt {
	const char *name;
	void (*prepare)(void); /* NULL: nothing */
	DAT_RETURN (*make)(void);
	void (*undo)(void); /* NULL: nothing */
	void (*finish)(void);
	/*
	 * Allocations without which it is refused, and which it can do without.  -1: it has to wait
	 * for other threads, which give back more or less before it needs it; it may need some
	 * more.
	 */
	int needed, spared;
} attempts[] = {
	{ "dat_ep_create", NULL, make_ep, undo_ep, NULL, 5, 2 },
	{ "dat_ep_create on one EVD", NULL, make_merged_ep, undo_ep, NULL, 6, 1 },
	{ "dat_ep_create of a datagram endpoint", NULL, make_datagram_ep, undo_ep, NULL, 5, 2 },
	{ "dat_ep_create_with_srq", NULL, make_member, undo_ep, NULL, 5, 2 },
	{ "dat_ep_create_with_srq on one EVD", NULL, make_merged_member, undo_ep, NULL, 6, 1 },
	{ "dat_ep_reset", NULL, reset_own, undo_reset_own, NULL, 1, -1 },
	{ "dat_ep_reset of a member", NULL, reset_member, undo_reset_member, NULL, 1, -1 },
	{ "dat_ep_reset of a member on one EVD", NULL, reset_merged_member,
	    undo_reset_merged_member, NULL, 1, -1 },
	{ "dat_ep_modify", prepare_ep, modify_ep, undo_modify_ep, undo_ep, 4, -1 },
	{ "dat_ep_modify of a member", prepare_member, modify_member, undo_modify_member, undo_ep,
	    4, -1 },
	{ "dat_ep_connect", prepare_ep, connect_it, undo_connect, undo_ep, 1, 2 },
	{ "dat_srq_create", NULL, make_srq, undo_srq, NULL, 4, 0 },
	{ "dat_srq_resize to more", NULL, lengthen_srq, undo_lengthen_srq, NULL, 3, 1 },
	{ "dat_srq_resize to fewer", NULL, shorten_srq, undo_lengthen_srq, NULL, 0, 2 },
	{ "dat_srq_set_lw", NULL, set_watermark, NULL, NULL, 0, 0 },
	{ "dat_evd_create", NULL, make_evd, undo_evd, NULL, 4, 0 },
	{ "dat_evd_resize", NULL, lengthen_evd, undo_lengthen_evd, NULL, 2, 0 },
	{ "dat_evd_modify_cno", NULL, give_cno, undo_give_cno, NULL, 0, 0 },
	{ "dat_cno_create", NULL, make_cno, undo_cno, NULL, 0, 0 },
	{ "dat_pz_create", NULL, make_pz, undo_pz, NULL, 1, 0 },
	{ "dat_lmr_create", NULL, make_lmr, undo_lmr, NULL, 1, 0 },
	{ "dat_rmr_create", NULL, make_rmr, undo_rmr, NULL, 1, 0 },
	{ "dat_psp_create_any", NULL, make_psp, undo_psp, NULL, 2, 0 },
	{ "dat_ia_open", NULL, make_ia, undo_ia, NULL, 12, -1 },
	{ "dat_rsp_create", prepare_reservable, make_rsp, undo_rsp, finish_reservable, 2, 0 },
};
#define ATTEMPTS (int)(sizeof attempts / sizeof attempts[0])

/* What a call is made without: calls to the device, and the two at the end. */
static const char *const withheld[] = {
	"ibv_alloc_mw",
	"ibv_alloc_pd",
	"ibv_create_comp_channel",
	"ibv_create_cq",
	"ibv_create_qp",
	"ibv_create_srq",
	"ibv_modify_qp",
	"ibv_modify_srq",
	"ibv_reg_mr",
	"ibv_resize_cq",
	"rdma_bind_addr",
	"rdma_create_id",
	"rdma_listen",
	"a handle",
	"an adapter that is not closing",
};
#define WAYS (int)(sizeof withheld / sizeof withheld[0])
#define NO_HANDLE (WAYS - 2)
#define CLOSING (WAYS - 1)
#define ALLOCATIONS_MAX 60
#define MANY 70 /* more than are allocated at once */

/* ---- the tests ---- */

/* What is to be found after a call that has returned `ret`, and was undone if it went well. */
static void
check(const struct attempt *a, DAT_RETURN ret, const struct footprint *was, const char *after)
{
	struct footprint want = *was;

	/*
	 * An endpoint whose reset failed has no queue pair, and takes no buffers of a shared queue.
	 */
	if (ret != DAT_SUCCESS && a->make == reset_member)
		want.room[PLAIN] = LEAST;
	if (ret != DAT_SUCCESS && a->make == reset_merged_member)
		want.room[MERGED] = LEAST;
	assert_as(&want, after);
}

/* The call, made again without a failure. */
static void
make_and_undo(const struct attempt *a, const struct footprint *was, const char *after)
{
	dt_ok(a->make());
	if (a->undo)
		a->undo();
	assert_as(was, after);
}

static void
prepare(const struct attempt *a, struct footprint *was)
{
	scene_open();
	if (a->prepare)
		a->prepare();
	look(was);
}

static void
finish(const struct attempt *a)
{
	if (a->finish)
		a->finish();
	scene_close();
}

DEVICE_CASE("room:room", .needs = dt_is_soft, .reason = "needs a device that fails");

/* origin: out33.D1 */
TEST(room__of_a_scene__is_what_its_parts_need)
{
	struct footprint f;

	scene_open();
	look(&f);
	ck_assert_int_eq(f.room[RECV], RECVS);
	ck_assert_int_eq(f.room[REQUEST], REQUESTS + 2 * MEMBER_REQUESTS + 3 * SPARE);
	ck_assert_int_eq(f.room[PLAIN], SHARED);
	ck_assert_int_eq(f.room[MERGED], SHARED);
	ck_assert_int_eq(f.reports, QLEN + 2 + 2); /* of the queue, and of its members */
	scene_close();
}

/* origin: out33.D1 */
TEST_LOOP(room__an_allocation_fails__is_what_it_was, ATTEMPTS)
{
	const struct attempt *a = &attempts[_i];
	int refused = 0, spared = 0, missed = 0;
	struct footprint was;
	char after[120];
	DAT_RETURN ret;

	prepare(a, &was);
	for (int n = 1; !missed; n++) {
		ck_assert_int_lt(n, ALLOCATIONS_MAX);
		snprintf(after, sizeof after, "%s without allocation %d", a->name, n);
		fault_memory_fail_at(n);
		ret = a->make();
		missed = fault_memory_missed();
		if (ret == DAT_SUCCESS) { /* it can do without */
			spared += !missed;
			if (a->undo)
				a->undo();
		} else {
			refused++;
			ck_assert_msg(
			    DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES, "%s: %#x", after, ret);
		}
		check(a, ret, &was, after);
		make_and_undo(a, &was, after);
	}
	ck_assert_msg(
	    a->spared < 0 ? refused >= a->needed : refused == a->needed && spared == a->spared,
	    "%s: refused without %d allocations, and works without %d", a->name, refused, spared);
	finish(a);
}

/*
 * The device refuses a call; no handle is left, which is the last thing that an object gets; the
 * adapter begins to close while the call makes its object, whose handle must not stay.
 */
static DAT_RETURN
make_refused(const struct attempt *a, int way)
{
	DAT_RETURN ret;

	fault_call_fail(way < NO_HANDLE ? withheld[way] : NULL, ENOMEM);
	fault_handles_refuse(way == NO_HANDLE);
	fault_attach_refuse(way == CLOSING);
	ret = a->make();
	fault_call_fail(NULL, 0);
	fault_handles_refuse(false);
	fault_attach_refuse(false);
	return ret;
}

/* origin: out33.D1, out33.R3 */
TEST_LOOP(room__a_step_is_refused__is_what_it_was, ATTEMPTS)
{
	const struct attempt *a = &attempts[_i];
	struct footprint was;
	char after[120];
	DAT_RETURN ret;

	prepare(a, &was);
	for (int n = 0; n < WAYS + 4; n++) { /* the last two three times */
		const int way = n < WAYS ? n : NO_HANDLE + n % 2;

		snprintf(after, sizeof after, "%s without %s", a->name, withheld[way]);
		ret = make_refused(a, way);
		if (ret == DAT_SUCCESS && a->undo) /* it does without */
			a->undo();
		if (ret != DAT_SUCCESS && way == NO_HANDLE)
			ck_assert_msg(
			    DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES, "%s: %#x", after, ret);
		if (ret != DAT_SUCCESS && way == CLOSING)
			ck_assert_msg(!fault_handle_lives(), "%s", after);
		check(a, ret, &was, after);
		make_and_undo(a, &was, after);
	}
	finish(a);
}

/* Objects are allocated many at a time: one of these attempts needs memory for the next ones. */
/* origin: out33.D1 */
TEST_LOOP(room__many_objects__each_is_whole_or_refused, ATTEMPTS)
{
	const struct attempt *a = &attempts[_i];
	DAT_HANDLE all[MANY];
	struct footprint was;
	int refused = 0;
	DAT_RETURN ret;

	if (a->prepare || !a->undo || a->undo == undo_lengthen_evd || a->undo == undo_ia ||
	    a->undo == undo_give_cno || a->undo == undo_lengthen_srq || a->undo == undo_reset_own ||
	    a->undo == undo_reset_member || a->undo == undo_reset_merged_member)
		return;
	prepare(a, &was);
	for (int n = 0; n < MANY; n++) {
		ret = ~0u;
		for (int k = 1; ret != DAT_SUCCESS; k++) {
			ck_assert_int_lt(k, ALLOCATIONS_MAX);
			fault_memory_fail_at(k);
			ret = a->make();
			(void)fault_memory_missed();
			refused += ret != DAT_SUCCESS;
			if (ret != DAT_SUCCESS)
				dt_assert_type(ret, DAT_INSUFFICIENT_RESOURCES);
		}
		all[n] = made;
	}
	ck_assert_int_ge(refused, 1);
	for (int n = 0; n < MANY; n++) {
		made = all[n];
		a->undo();
	}
	assert_as(&was, a->name);
	finish(a);
}

/* The hold of a member was not made longer with the others while it had no queue pair. */
/* origin: out33.D1 */
TEST(reset__the_queue_was_lengthened_meanwhile__needs_memory_and_is_tried_again)
{
	struct footprint was;
	DAT_RETURN ret = ~0u;
	int refused = 0;

	scene_open();
	fault_call_fail("ibv_create_qp", ENOMEM);
	dt_assert_type(reset_merged_member(), DAT_INSUFFICIENT_RESOURCES);
	fault_call_fail(NULL, 0);
	dt_ok(dat_srq_resize(srq, 3 * SHARED));
	look(&was);
	ck_assert_int_eq(was.room[MERGED], LEAST);
	ck_assert_int_eq(was.room[PLAIN], 3 * SHARED);
	for (int n = 1; ret != DAT_SUCCESS; n++) {
		ck_assert_int_lt(n, ALLOCATIONS_MAX);
		fault_memory_fail_at(n);
		ret = reset_merged_member();
		(void)fault_memory_missed();
		refused += ret != DAT_SUCCESS;
		if (ret == DAT_SUCCESS)
			was.room[MERGED] = 3 * SHARED;
		was.eps[2].ep_state =
		    ret == DAT_SUCCESS ? DAT_EP_STATE_UNCONNECTED : DAT_EP_STATE_DISCONNECTED;
		assert_as(&was, "a reset without memory");
	}
	ck_assert_int_ge(refused, 3); /* two of the queue pair, and the hold */
	scene_close();
}

static char said[512];

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *text)
{
	(void)context;
	if (level == DAT_LOG_ERROR)
		snprintf(said, sizeof said, "%s", text);
}

/*
 * How many bytes this process has registered, as the line about a registration that failed has it.
 */
/* origin: out33.D2 */
TEST(lmr__registrations_fail__what_is_registered_is_counted_exactly)
{
	DAT_REGION_DESCRIPTION region;

	scene_open();
	region.for_va = owner.buffer;
	dt_ok(dat_rearm_set_log(note, NULL));
	for (int i = 0; i < 4; i++) {
		fault_call_fail("ibv_reg_mr", ENOMEM);
		dt_assert_type(make_lmr(), DAT_INSUFFICIENT_RESOURCES);
		dt_assert_type(
		    dat_lmr_create(side.ia, DAT_MEM_TYPE_VIRTUAL, region, 1000, side.pz,
			DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made, NULL, NULL, NULL, NULL),
		    DAT_INSUFFICIENT_RESOURCES);
		fault_call_fail(NULL, 0);
		ck_assert_msg(
		    strstr(said, ": 1000 bytes cannot be registered, 4096 are: "), "%s", said);
		dt_ok(make_lmr());
		fault_call_fail("ibv_reg_mr", ENOMEM);
		dt_assert_type(dat_lmr_create(side.ia, DAT_MEM_TYPE_VIRTUAL, region, 1000, side.pz,
				   DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &(DAT_LMR_HANDLE){ 0 },
				   NULL, NULL, NULL, NULL),
		    DAT_INSUFFICIENT_RESOURCES);
		fault_call_fail(NULL, 0);
		ck_assert_msg(
		    strstr(said, ": 1000 bytes cannot be registered, 4160 are: "), "%s", said);
		undo_lmr();
	}
	dt_ok(dat_rearm_set_log(NULL, NULL));
	scene_close();
}
