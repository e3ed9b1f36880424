/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * missing -- no memory, no descriptor, no thread, no lock: each call inside a call that may fail
 * fails in turn
 *
 * Then the call fails with that errno, and what it leaves is what was there before: memory,
 * descriptors, threads, locks and files of names, the count of locked memory, and the counts of the
 * objects that it uses.
 */
#include "starve.h"
#include "story.h"

#include "softverbs/cq/cq.h"
#include "softverbs/device/context.h"
#include "softverbs/device/pd.h"
#include "softverbs/qp/srq.h"

#include <netdb.h>
#include <rdma/rdma_verbs.h>
#include <sys/resource.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_td *td;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static struct rdma_event_channel *events;
static struct rdma_cm_id *listener;
static uint16_t port;
static _Alignas(65536) char bytes[65536];

/* The counts of objects, beside what the process holds. */
struct held {
	struct starve_held process;
	unsigned int context, pds, cqs, srqs, mrs, mws; /* of the context */
	unsigned int pd, channel, cq, srq;
};

/* `threads` as there. */
static struct held
held_now(int threads)
{
	return (struct held){
		.process = starve_held_now(threads),
		.context = context ? soft_context_of(context)->refs : 0,
		.pds = context ? soft_context_of(context)->pds : 0,
		.cqs = context ? soft_context_of(context)->cqs : 0,
		.srqs = context ? soft_context_of(context)->srqs : 0,
		.mrs = context ? soft_context_of(context)->mrs : 0,
		.mws = context ? soft_context_of(context)->mws : 0,
		.pd = pd ? soft_pd_of(pd)->users : 0,
		.channel = channel ? (unsigned int)channel->refcnt : 0,
		.cq = cq ? soft_cq_of(cq)->users : 0,
		.srq = srq ? soft_srq_of(srq)->users : 0,
	};
}

static void
expect_counts(const struct held *before, const char *when)
{
	const struct held now = held_now(-1);

#define SAME(member) \
	ck_assert_msg(now.member == before->member, "%u of " #member ", not %u, %s (failed: %s)", \
	    now.member, before->member, when, starve_failing)
	SAME(context);
	SAME(pds);
	SAME(cqs);
	SAME(srqs);
	SAME(mrs);
	SAME(mws);
	SAME(pd);
	SAME(channel);
	SAME(cq);
	SAME(srq);
#undef SAME
}

static void
expect_held(const struct held *before, const char *when)
{
	starve_expect_held(&before->process, when);
	expect_counts(before, when);
}

/* ---- what is there before the call ---- */

static void
with_nothing(void)
{
}

#define DO(name, call) \
	static void name(void) \
	{ \
		call; \
	}

DO(with_context, context = story_open())

static void
with_pd(void)
{
	with_context();
	pd = ibv_alloc_pd(context);
	ck_assert_ptr_nonnull(pd);
}

static void
with_domain(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_td_init_attr none = { .comp_mask = 0 };

	with_context();
	pd = ibv_alloc_pd(context);
	td = ibv_alloc_td(context, &none);
	channel = ibv_create_comp_channel(context);
	cq = ibv_create_cq(context, 64, NULL, channel, 0);
	srq = ibv_create_srq(pd, &init);
	mr = ibv_reg_mr(pd, bytes, sizeof bytes, SIDE_ACCESS);
	ck_assert(pd && td && channel && cq && srq && mr);
}

static struct ibv_qp *
make_qp(enum ibv_qp_type type, struct ibv_srq *shared)
{
	struct ibv_qp_init_attr init = { .send_cq = cq,
		.recv_cq = cq,
		.srq = shared,
		.qp_type = type,
		.cap = { 4, 4, 1, 1, 0 } };

	return ibv_create_qp(pd, &init);
}

static void
with_qp(void)
{
	with_domain();
	qp = make_qp(IBV_QPT_RC, NULL);
	ck_assert_ptr_nonnull(qp);
}

static void
with_events_alone(void)
{
	events = rdma_create_event_channel();
	ck_assert_ptr_nonnull(events);
}

static void
with_events(void)
{
	with_qp(); /* the device is in use, so that it is not started each time */
	events = rdma_create_event_channel();
	ck_assert_ptr_nonnull(events);
}

static void
with_listener(void)
{
	with_events();
	listener = cm_listen(events, &port);
}

static void
without(void)
{
	if (listener)
		ck_assert_int_eq(rdma_destroy_id(listener), 0);
	if (events)
		rdma_destroy_event_channel(events);
	if (qp)
		ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	if (mr)
		ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	if (srq)
		ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	if (cq)
		ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	if (channel)
		ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
	if (td)
		ck_assert_int_eq(ibv_dealloc_td(td), 0);
	if (pd)
		ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	if (context)
		ck_assert_int_eq(ibv_close_device(context), 0);
	listener = NULL;
	events = NULL;
	qp = NULL;
	mr = NULL;
	srq = NULL;
	cq = NULL;
	channel = NULL;
	td = NULL;
	pd = NULL;
	context = NULL;
}

/* ---- the calls: 0 or an errno, and how each is undone ---- */

static void *made;
static struct rdma_cm_id *id, *child;

static int
outcome(void *object)
{
	made = object;
	return object ? 0 : errno;
}

static int
call(int r)
{
	return r ? errno : 0;
}

static int
open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int r;

	if (!list)
		return errno;
	r = outcome(ibv_open_device(list[0]));
	ibv_free_device_list(list);
	return r;
}

DO(close_device, ck_assert_int_eq(ibv_close_device(made), 0))

#define MAKE(name, call) \
	static int name(void) \
	{ \
		return call; \
	}

MAKE(alloc_pd, outcome(ibv_alloc_pd(context)))

static int
alloc_parent_domain(void)
{
	struct ibv_parent_domain_init_attr init = { .pd = pd, .td = td };

	return outcome(ibv_alloc_parent_domain(context, &init));
}

DO(dealloc_pd, ck_assert_int_eq(ibv_dealloc_pd(made), 0))

static int
alloc_td(void)
{
	struct ibv_td_init_attr none = { .comp_mask = 0 };

	return outcome(ibv_alloc_td(context, &none));
}

DO(dealloc_td, ck_assert_int_eq(ibv_dealloc_td(made), 0))

MAKE(create_comp_channel, outcome(ibv_create_comp_channel(context)))
DO(destroy_comp_channel, ck_assert_int_eq(ibv_destroy_comp_channel(made), 0))

MAKE(create_cq, outcome(ibv_create_cq(context, 16, NULL, channel, 0)))
MAKE(create_large_cq, outcome(ibv_create_cq(context, 65536, NULL, channel, 0)))

static int
create_cq_ex(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 65536, .channel = channel, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
	};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(context, &init);

	return outcome(ex ? ibv_cq_ex_to_cq(ex) : NULL);
}

DO(destroy_cq, ck_assert_int_eq(ibv_destroy_cq(made), 0))

static int
resize_cq(void)
{
	const int r = ibv_resize_cq(cq, 200);

	starve_countdown = 0;
	ck_assert_int_eq(cq->cqe, r ? 64 : 200);
	return r;
}

DO(resize_cq_back, ck_assert_int_eq(ibv_resize_cq(cq, 64), 0))

MAKE(reg_mr, outcome(ibv_reg_mr(pd, bytes, sizeof bytes, SIDE_ACCESS)))
DO(dereg_mr, ck_assert_int_eq(ibv_dereg_mr(made), 0))

MAKE(alloc_mw, outcome(ibv_alloc_mw(pd, IBV_MW_TYPE_2)))
DO(dealloc_mw, ck_assert_int_eq(ibv_dealloc_mw(made), 0))

static int
create_ah(void)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };

	return outcome(ibv_create_ah(pd, &attr));
}

DO(destroy_ah, ck_assert_int_eq(ibv_destroy_ah(made), 0))

static int
create_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };

	return outcome(ibv_create_srq(pd, &init));
}

DO(destroy_srq, ck_assert_int_eq(ibv_destroy_srq(made), 0))

static int
modify_srq(void)
{
	struct ibv_srq_attr attr = { .max_wr = 100 };
	const int r = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);

	starve_countdown = 0;
	ck_assert_int_eq(ibv_query_srq(srq, &attr), 0);
	ck_assert_uint_eq(attr.max_wr, r ? 4 : 100);
	return r;
}

static void
modify_srq_back(void)
{
	struct ibv_srq_attr attr = { .max_wr = 4 };

	ck_assert_int_eq(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
}

MAKE(create_qp, outcome(make_qp(IBV_QPT_RC, NULL)))
MAKE(create_qp_with_srq, outcome(make_qp(IBV_QPT_RC, srq)))

/* With room for the reads of another process. */
static int
connect_elsewhere(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.ah_attr = { .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num ^ 1u << 14 };
	int r = create_qp();

	if (r)
		return r;
	r = ibv_modify_qp(
	    made, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (!r) {
		attr.qp_state = IBV_QPS_RTR;
		r = ibv_modify_qp(made, &attr,
		    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
		starve_countdown = 0;
		ck_assert_int_eq(qp_state(made), r ? IBV_QPS_INIT : IBV_QPS_RTR);
	}
	starve_countdown = 0;
	if (r)
		ck_assert_int_eq(ibv_destroy_qp(made), 0);
	return r;
}

MAKE(create_datagram_qp, outcome(make_qp(IBV_QPT_UD, NULL)))

static int
create_qp_ex(void)
{
	struct ibv_qp_init_attr_ex init = { .send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { 4, 4, 1, 1, 16 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND };

	return outcome(ibv_create_qp_ex(context, &init));
}

DO(destroy_qp, ck_assert_int_eq(ibv_destroy_qp(made), 0))

/* The device starts with the first queue pair, and goes on when this cannot be made. */
static void
end_device(void)
{
	starve_countdown = 0;
	without();
	with_domain();
}

static int
create_first_qp(void)
{
	const int r = create_qp();

	if (r)
		end_device();
	return r;
}

static void
destroy_first_qp(void)
{
	destroy_qp();
	end_device();
}

MAKE(create_event_channel, outcome(rdma_create_event_channel()))
DO(destroy_event_channel, rdma_destroy_event_channel(made))

static struct sockaddr_in
loopback(uint16_t at)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = at, .sin_addr = { htonl(INADDR_LOOPBACK) }
	};
}

/*
 * In these several calls stand in a row; the first that fails ends it, and nothing fails
 * afterwards.
 */

static void
destroy_id(void)
{
	starve_countdown = 0;
	cm_forget(&child);
	cm_forget(&id);
}

static int
ended(int r)
{
	r = call(r);
	if (r)
		destroy_id();
	return r;
}

static int
bind_and_listen(void)
{
	struct sockaddr_in address = loopback(0);

	id = NULL;
	return ended(rdma_create_id(events, &id, NULL, RDMA_PS_TCP) ||
		     rdma_bind_addr(id, (struct sockaddr *)&address) || rdma_listen(id, 4));
}

static int
create_synchronous_id(void)
{
	struct sockaddr_in address = loopback(0);

	id = NULL;
	return ended(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP) ||
		     rdma_bind_addr(id, (struct sockaddr *)&address) ||
		     rdma_migrate_id(id, events) || rdma_migrate_id(id, NULL));
}

/* An event of the id: its status, or 0. */
static int
await(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	int r;

	if (rdma_get_cm_event(events, &event))
		return -1;
	r = event->status;
	if (!r && event->event != type) {
		starve_countdown = 0;
		ck_abort_msg("an unexpected %s", rdma_event_str(event->event));
	}
	rdma_ack_cm_event(event);
	errno = r < 0 ? -r : r;
	return r ? -1 : 0;
}

static int
resolve(uint16_t to)
{
	struct sockaddr_in address = loopback(to);

	return rdma_create_id(events, &id, NULL, RDMA_PS_TCP) ||
	       rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000) ||
	       await(RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(id, 1000) ||
	       await(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int
resolve_and_create_qp(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };

	id = NULL;
	return ended(resolve(1) || rdma_create_qp(id, NULL, &init));
}

static int
resolve_and_create_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	int r;

	id = NULL;
	r = ended(resolve(1) || rdma_create_srq(id, NULL, &init));
	starve_countdown = 0;
	if (!r)
		rdma_destroy_srq(id);
	return r;
}

static int
create_endpoint(int flags)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP },
			     *info = NULL;
	int r;

	id = NULL;
	r = rdma_getaddrinfo("127.0.0.1", NULL, &hints, &info);
	if (r)
		return r == EAI_MEMORY ? ENOMEM : errno;
	r = call(rdma_create_ep(&id, info, NULL, &init));
	starve_countdown = 0;
	rdma_freeaddrinfo(info);
	return r;
}

MAKE(create_listening_endpoint, create_endpoint(RAI_PASSIVE))
MAKE(create_active_endpoint, create_endpoint(0))

static void
destroy_endpoint(void)
{
	rdma_destroy_ep(id);
	id = NULL;
}

/* Both ends are here.  A request that cannot be kept is refused. */
static int
connect_to_listener(void)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1 };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } },
				next = init;
	struct rdma_cm_event *event;

	id = child = NULL;
	if (resolve(port) || rdma_create_qp(id, NULL, &init) || rdma_connect(id, &param))
		return ended(-1);
	if (rdma_get_cm_event(events, &event))
		return ended(-1);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		starve_countdown = 0;
		ck_assert_int_eq(event->event, RDMA_CM_EVENT_REJECTED);
		rdma_ack_cm_event(event);
		errno = ENOMEM;
		return ended(-1);
	}
	child = event->id;
	rdma_ack_cm_event(event);
	return ended(rdma_create_qp(child, NULL, &next) || rdma_accept(child, &param) ||
		     await(RDMA_CM_EVENT_ESTABLISHED) || await(RDMA_CM_EVENT_ESTABLISHED));
}

static const struct {
	const char *name;
	void (*with)(void);
	int (*attempt)(void);
	void (*undo)(void);
	int least; /* so many failures at least */
} calls[] = {
	{ "ibv_open_device", with_nothing, open_device, close_device, 3 },
	{ "ibv_open_device again", with_context, open_device, close_device, 3 },
	{ "ibv_alloc_pd", with_context, alloc_pd, dealloc_pd, 1 },
	{ "ibv_alloc_td", with_context, alloc_td, dealloc_td, 1 },
	{ "ibv_alloc_parent_domain", with_domain, alloc_parent_domain, dealloc_pd, 1 },
	{ "ibv_create_comp_channel", with_context, create_comp_channel, destroy_comp_channel, 2 },
	{ "ibv_create_cq", with_context, create_cq, destroy_cq, 2 },
	{ "ibv_create_cq of a channel", with_domain, create_cq, destroy_cq, 2 },
	{ "ibv_create_cq, large", with_domain, create_large_cq, destroy_cq, 2 },
	{ "ibv_create_cq_ex", with_domain, create_cq_ex, destroy_cq, 3 },
	{ "ibv_resize_cq", with_domain, resize_cq, resize_cq_back, 1 },
	{ "ibv_reg_mr", with_domain, reg_mr, dereg_mr, 1 },
	{ "ibv_alloc_mw", with_domain, alloc_mw, dealloc_mw, 1 },
	{ "ibv_reg_mr, the first", with_pd, reg_mr, dereg_mr, 1 },
	{ "ibv_alloc_mw, the first", with_pd, alloc_mw, dealloc_mw, 1 },
	{ "ibv_create_ah", with_domain, create_ah, destroy_ah, 1 },
	{ "ibv_create_srq", with_domain, create_srq, destroy_srq, 2 },
	{ "ibv_modify_srq", with_domain, modify_srq, modify_srq_back, 2 },
	{ "ibv_create_qp, the first", with_domain, create_first_qp, destroy_first_qp, 10 },
	{ "ibv_create_qp", with_qp, create_qp, destroy_qp, 3 },
	{ "ibv_create_qp with a shared queue", with_qp, create_qp_with_srq, destroy_qp, 2 },
	{ "ibv_create_qp for datagrams", with_qp, create_datagram_qp, destroy_qp, 3 },
	{ "ibv_modify_qp", with_qp, connect_elsewhere, destroy_qp, 3 },
	{ "ibv_create_qp_ex", with_qp, create_qp_ex, destroy_qp, 3 },
	{ "rdma_create_event_channel", with_nothing, create_event_channel, destroy_event_channel,
	    2 },
	{ "rdma_bind_addr, the first", with_events_alone, bind_and_listen, destroy_id, 10 },
	{ "rdma_resolve_addr, the first", with_events_alone, resolve_and_create_qp, destroy_id,
	    20 },
	{ "rdma_listen", with_events, bind_and_listen, destroy_id, 4 },
	{ "rdma_migrate_id", with_events, create_synchronous_id, destroy_id, 6 },
	{ "rdma_create_qp", with_events, resolve_and_create_qp, destroy_id, 8 },
	{ "rdma_create_srq", with_events, resolve_and_create_srq, destroy_id, 6 },
	{ "rdma_create_ep, passive", with_events, create_listening_endpoint, destroy_endpoint, 5 },
	{ "rdma_create_ep, active", with_events, create_active_endpoint, destroy_endpoint, 8 },
	{ "rdma_connect", with_listener, connect_to_listener, destroy_id, 12 },
};

static bool
is_want(int r)
{
	return r == ENOMEM || r == EMFILE || r == ENOSPC || r == ENOLCK || r == ENOBUFS ||
	       r == EAGAIN;
}

/*
 * One call, in which what it asks for the nth time is missing.  It fails with a reason, or works
 * and is undone.  Returns its result.
 */
static int
attempt_without(int call, int n)
{
	int r;

	starve_countdown = n;
	starve_failed = 0;
	r = calls[call].attempt();
	starve_countdown = 0;
	ck_assert_msg(!r || (starve_failed && is_want(r)), "%s fails with \"%s\" after \"%s\"",
	    calls[call].name, strerror(r), strerror(starve_failed));
	if (!r)
		calls[call].undo();
	ck_assert_msg(r || !starve_failed, "%s does not report that %s failed", calls[call].name,
	    starve_failing);
	return r;
}

/* The calls with the device in between are long enough for the failures of a start. */
#define FAILURES_MAX 100

static void setup(void);
CASE("soft-missing:calls", setup, starve_end);

/* origin: outside.152 */
/* origin: outside.164 */
TEST_LOOP(call__anything_missing__fails_and_leaves_nothing, (sizeof calls / sizeof calls[0]))
{
	struct held nothing, before;
	int r, n, failures = 0;

	/* Once without a failure: some tables stay. */
	calls[_i].with();
	r = calls[_i].attempt();
	ck_assert_msg(!r, "%s: %s", calls[_i].name, strerror(r));
	calls[_i].undo();
	without();
	nothing = held_now(runner_threads_before());
	calls[_i].with();
	before = held_now(-1);
	for (n = 1; n < FAILURES_MAX; n++) {
		failures += attempt_without(_i, n) != 0;
		expect_held(&before, calls[_i].name);
		if (!starve_failed)
			break;
	}
	ck_assert_int_lt(n, FAILURES_MAX);
	ck_assert_msg(failures >= calls[_i].least, "%s failed %d times", calls[_i].name, failures);
	without();
	expect_held(&nothing, "at the end");
}

/* A request that was not read goes with its listener, and the rejection with its id. */
/* origin: out33.U16 */
TEST(listener__with_a_request_that_was_not_read__leaves_nothing)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct starve_held before;

	with_events();
	for (int round = 0; round < 3; round++) {
		struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };

		if (round == 1)
			before = starve_held_now(-1);
		listener = cm_listen(events, &port);
		ck_assert(!resolve(port));
		ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
		ck_assert_int_eq(rdma_connect(id, &param), 0);
		ck_assert_int_eq(rdma_destroy_id(listener), 0);
		listener = NULL;
		destroy_id();
	}
	starve_expect_held(&before, "after requests that were not read");
	without();
}

/* Beside the memory that the process held before the first object. */
/* origin: out33.U16 */
TEST(keys__of_many_regions__leave_no_table)
{
	struct ibv_mr *regions[20];
	struct starve_held before;

	for (int round = 0; round < 2; round++) {
		with_pd();
		before = starve_held_now(-1);
		for (int i = 0; i < 20; i++)
			regions[i] = ibv_reg_mr(pd, bytes, 1, SIDE_ACCESS);
		ck_assert_ptr_nonnull(regions[19]);
		for (int i = 0; i < 20; i++)
			ck_assert_int_eq(ibv_dereg_mr(regions[i]), 0);
		starve_expect_held(&before, "after many regions");
		without();
	}
}

/* Of tables that are made with the first object, and stay, no call has had any before. */
TEST_LOOP(first_call__anything_missing__fails_and_then_works, (sizeof calls / sizeof calls[0]))
{
	struct held before;
	int n, failures = 0;

	calls[_i].with();
	before = held_now(-1);
	for (n = 1; n < FAILURES_MAX; n++) {
		failures += attempt_without(_i, n) != 0;
		expect_counts(&before, calls[_i].name);
		if (!starve_failed)
			break;
	}
	ck_assert_int_lt(n, FAILURES_MAX);
	ck_assert_int_gt(failures, 0);
	without();
}

/* Memory may be locked for two regions: that of the domain, and that of the call. */
static void
setup(void)
{
	struct rlimit limit;

	starve_begin();
	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	if (limit.rlim_max >= 2 * sizeof bytes) {
		limit.rlim_cur = 2 * sizeof bytes;
		ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
		setenv("SOFTVERBS_MEMLOCK", "1", 1);
	}
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* the device says why it fails */
}
