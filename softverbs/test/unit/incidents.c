/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * incidents -- completions that fail, links that are cut or slow, and memory with a limit, as
 * commands let them, at the ends of a connection in one process or in two
 */
#include "incidents.h"
#include "mw_story.h"
#include "other.h"
#include "own.h"
#include "patience.h"

#include "softverbs/device/changes.h"
#include "softverbs/fault/command.h"
#include "softverbs/fault/fault.h"
#include "softverbs/qp/qp.h"

void
incidents_begin(void)
{
	patience_begin();
	soft_commands = soft_faults_have_incidents = true;
}

void
incident(const char *text)
{
	char error[256] = "";

	ck_assert_msg(soft_command(text, error, sizeof error), "%s", error);
}

void
incident_is_none(const char *text)
{
	char error[256] = "";

	ck_assert(!soft_command(text, error, sizeof error));
	ck_assert_str_eq(error, "there is nothing that it could happen to");
}

CASE("soft-incidents:incidents", incidents_begin, patience_end);

/* ---- completions ---- */

static struct ibv_mw *windows[2];

static void
post(struct side *side, enum ibv_wr_opcode opcode, uint64_t wr_id, const struct own_card *peer)
{
	struct ibv_sge sge = { (uintptr_t)side->bytes, 8, side->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (opcode == IBV_WR_BIND_MW || (opcode == IBV_WR_LOCAL_INV && wr_id != 1)) {
		mw_post(side, wr_id, IBV_SEND_SIGNALED, windows[wr_id % 2], side->mr,
		    ibv_inc_rkey(windows[wr_id % 2]->rkey), 0, 8, MW_REMOTE);
		return;
	}
	if (opcode == IBV_WR_LOCAL_INV) {
		mw_invalidate(side, wr_id, windows[0]->rkey, IBV_SEND_SIGNALED);
		return;
	}
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = peer->address;
		wr.wr.atomic.rkey = peer->rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = peer->address;
		wr.wr.rdma.rkey = peer->rkey;
	}
	ck_assert_int_eq(ibv_post_send(side->qp, &wr, &bad), 0);
}

/* Of three requests the second one fails; the other end has three receives. */
static const struct {
	enum soft_incident incident;
	enum ibv_wr_opcode opcode;
	bool receives, at_receiver;
} kinds[] = {
	{ SOFT_INCIDENT_COMPLETION_SEND, IBV_WR_SEND, true, false },
	{ SOFT_INCIDENT_COMPLETION_WRITE, IBV_WR_RDMA_WRITE, false, false },
	{ SOFT_INCIDENT_COMPLETION_WRITE_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, true, false },
	{ SOFT_INCIDENT_COMPLETION_READ, IBV_WR_RDMA_READ, false, false },
	{ SOFT_INCIDENT_COMPLETION_ATOMIC, IBV_WR_ATOMIC_FETCH_AND_ADD, false, false },
	{ SOFT_INCIDENT_COMPLETION_BIND, IBV_WR_BIND_MW, false, false },
	{ SOFT_INCIDENT_COMPLETION_INVALIDATE, IBV_WR_LOCAL_INV, false, false },
	{ SOFT_INCIDENT_COMPLETION_RECV, IBV_WR_SEND, true, true },
	{ SOFT_INCIDENT_COMPLETION_RECV_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, true, true },
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* The statuses of the completions that there are, the event, and the state of the queue pair. */
static void
look(struct side *side, char *text)
{
	struct ibv_async_event event;
	struct ibv_wc wc;

	*text = '\0';
	while (ibv_poll_cq(side->cq, 1, &wc) == 1)
		sprintf(text + strlen(text), "%d%s ", wc.status, wc.vendor_err ? "!" : "");
	while (async_ready(side->context)) {
		ck_assert_int_eq(ibv_get_async_event(side->context, &event), 0);
		sprintf(text + strlen(text), "event %d ", event.event_type);
		ibv_ack_async_event(&event);
	}
	sprintf(text + strlen(text), "state %d", qp_state(side->qp));
}

/*
 * What the two ends see; the first requests have been seen before.  The vendor_err, "!", is that of
 * the process that has the rule.
 */
static void
expect(size_t kind, int status, char *ours, char *theirs)
{
	if (kinds[kind].at_receiver)
		sprintf(ours, "%d 5 state 6",
		    status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR);
	else
		sprintf(ours, "%d! 5 state 6", status);
	if (status == IBV_WC_REM_ACCESS_ERR)
		sprintf(theirs, "5 5 %sevent 3 state 6", kinds[kind].receives ? "" : "5 ");
	else if (status == IBV_WC_REM_INV_REQ_ERR && kinds[kind].receives)
		sprintf(theirs, "1 5 state 6");
	else if (status == IBV_WC_REM_INV_REQ_ERR)
		sprintf(theirs, "5 5 5 event 2 state 6");
	else if (kinds[kind].at_receiver)
		sprintf(theirs, "%d! 5 state 6", status);
	else
		sprintf(theirs, "state 3");
}

static void
fail_next(size_t kind, int value)
{
	const enum soft_incident which = kinds[kind].incident;
	char text[128], name[32];

	snprintf(text, sizeof text, "%s:status=%s", soft_incidents[which].name,
	    soft_incident_value_name(which, value, name, sizeof name));
	incident(text);
}

static void
receive_three(struct side *side)
{
	for (uint64_t i = 0; i < 3; i++)
		side_receive(side, i, 0, 64);
}

/* The later ones, once all of them are there. */
static void
post_two(struct side *side, size_t kind, const struct own_card *peer, char *found)
{
	struct ibv_wc wc;

	post(side, kinds[kind].opcode, 1, peer);
	post(side, kinds[kind].opcode, 2, peer);
	wc = cq_next(side->cq);
	ck_assert_uint_eq(wc.wr_id, 1);
	sprintf(found, "%d%s ", wc.status, wc.vendor_err ? "!" : "");
	wc = cq_next(side->cq);
	sprintf(found + strlen(found), "%d%s ", wc.status, wc.vendor_err ? "!" : "");
	look(side, found + strlen(found));
}

static void
expect_both(size_t kind, int value, const char *ours, const char *theirs)
{
	char want_ours[64], want_theirs[64], name[32];

	expect(kind, value, want_ours, want_theirs);
	ck_assert_msg(!strcmp(ours, want_ours) && !strcmp(theirs, want_theirs),
	    "%s %s: %s; %s\nexpected: %s; %s", soft_incidents[kinds[kind].incident].name,
	    soft_incident_value_name(kinds[kind].incident, value, name, sizeof name), ours, theirs,
	    want_ours, want_theirs);
}

static const struct side_options with_windows = { .mr_access = MW_ACCESS };

/* origin: out33.U8, out33.U9 */
TEST(completion__of_each_kind_with_each_status__both_ends_of_one_process)
{
	char ours[128], theirs[128];
	struct own_card peer;
	struct side a, b;

	pair_make(&a, &b, &with_windows);
	windows[0] = mw_make(&a, IBV_MW_TYPE_2);
	windows[1] = mw_make(&a, IBV_MW_TYPE_2);
	peer = (struct own_card){ b.qp->qp_num, b.mr->rkey, (uintptr_t)b.bytes };
	for (size_t kind = 0; kind < KINDS; kind++) {
		const int *value = soft_incidents[kinds[kind].incident].values;

		for (; *value; value++) {
			receive_three(&b);
			post(&a, kinds[kind].opcode, 0, &peer);
			cq_expect(a.cq, 0, IBV_WC_SUCCESS);
			if (kinds[kind].receives)
				cq_expect(b.cq, 0, IBV_WC_SUCCESS);
			fail_next(kind, *value);
			post_two(&a, kind, &peer, ours);
			look(&b, theirs);
			expect_both(kind, *value, ours, theirs);
			ck_assert_int_eq(ibv_destroy_qp(a.qp), 0); /* unbinds */
			side_new_qp(&a);
			pair_connect_again(&a, &b);
		}
	}
	ck_assert_int_eq(ibv_dealloc_mw(windows[0]), 0);
	ck_assert_int_eq(ibv_dealloc_mw(windows[1]), 0);
	pair_free(&a, &b);
}

/* With a new queue pair. */
static void
own_connect_anew(const struct side_options *options)
{
	ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
	side_new_qp(&own);
	own_exchange();
	side_to_init(&own, options);
	side_to_rtr(&own, own_peer.qpn);
	side_to_rts(&own, options);
	other_meet();
}

static void
receiver(void)
{
	char text[128];

	own_connect(&with_windows);
	for (size_t kind = 0; kind < KINDS; kind++) {
		const int *value = soft_incidents[kinds[kind].incident].values;

		for (; *value; value++) {
			own_connect_anew(NULL);
			receive_three(&own);
			other_meet();
			if (kinds[kind].receives)
				cq_expect(own.cq, 0, IBV_WC_SUCCESS);
			if (kinds[kind].at_receiver)
				fail_next(kind, *value);
			other_meet();
			other_meet();
			look(&own, text);
			other_tell(text, sizeof text);
		}
	}
	own_end();
}

/* origin: out33.U8, out33.U9 */
TEST(completion__of_each_kind_with_each_status__both_ends_of_two_processes)
{
	char ours[128], theirs[128];

	own_begin(receiver, &with_windows);
	windows[0] = mw_make(&own, IBV_MW_TYPE_2);
	windows[1] = mw_make(&own, IBV_MW_TYPE_2);
	for (size_t kind = 0; kind < KINDS; kind++) {
		const int *value = soft_incidents[kinds[kind].incident].values;

		for (; *value; value++) {
			own_connect_anew(NULL);
			other_meet();
			post(&own, kinds[kind].opcode, 0, &own_peer);
			cq_expect(own.cq, 0, IBV_WC_SUCCESS);
			if (!kinds[kind].at_receiver)
				fail_next(kind, *value);
			other_meet();
			post_two(&own, kind, &own_peer, ours);
			other_meet();
			other_hear(theirs, sizeof theirs);
			expect_both(kind, *value, ours, theirs);
		}
	}
	ck_assert_int_eq(ibv_dealloc_mw(windows[0]), 0);
	ck_assert_int_eq(ibv_dealloc_mw(windows[1]), 0);
	own_end();
	other_finish();
}

/* A request that moves nothing has no key that could be wrong: it is passed over. */
/* origin: out33.U8 */
TEST(completion__that_cannot_have_the_status__is_the_next_one)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE_WITH_IMM };
	static const size_t kind_of[] = { 1, 3, 2 };
	struct side a, b;

	pair_make(&a, &b, NULL);
	for (int i = 0; i < 3; i++) {
		receive_three(&b);
		fail_next(kind_of[i], IBV_WC_REM_ACCESS_ERR);
		side_rdma(&a, &b, opcodes[i], 1, 0, 0, 0);
		side_rdma(&a, &b, opcodes[i], 2, 0, 0, 1);
		cq_expect(a.cq, 1, IBV_WC_SUCCESS);
		cq_expect(a.cq, 2, IBV_WC_REM_ACCESS_ERR);
		async_expect(b.context, IBV_EVENT_QP_ACCESS_ERR, b.qp);
		pair_connect_again(&a, &b);
	}
	pair_free(&a, &b);
}

/* Only of a queue whose limit is armed; then it is not any more. */
/* origin: out33.U16 */
TEST(limit_of_a_shared_queue__is_reached_once_by_a_rule)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	struct side a, b;

	pair_make(&a, &b, &(struct side_options){ .srq = 8 });
	incident_is_none("event.srq_limit_reached");
	side_receive(&b, 1, 0, 8);
	side_receive(&b, 2, 0, 8);
	ck_assert_int_eq(ibv_modify_srq(b.srq, &attr, IBV_SRQ_LIMIT), 0);
	incident_is_none("event.srq_limit_reached:of=1");
	incident("event.srq_limit_reached:of=2");
	async_expect(b.context, IBV_EVENT_SRQ_LIMIT_REACHED, b.srq);
	ck_assert_int_eq(ibv_query_srq(b.srq, &attr), 0);
	ck_assert_uint_eq(attr.srq_limit, 0);
	incident_is_none("event.srq_limit_reached");
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, 0, 2, 0, 8);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	cq_expect(b.cq, 2, IBV_WC_SUCCESS);
	ck_assert(!async_ready(b.context));
	pair_free(&a, &b);
}

/* ---- links ---- */

const struct incident_cut incident_cuts[INCIDENT_CUTS] = {
	{ "link.cut", "link.heal", true, false },
	{ "link.cut:way=out", "link.heal", true, false },
	{ "link.cut:way=in", "link.heal", true, true },
	{ "link.cut", "link.heal", false, false },
	{ "link.cut:way=out", "link.heal", false, true },
	{ "link.cut:way=in", "link.heal", false, false },
	{ "event.port_err", "event.port_active", true, false },
	{ "event.port_err", "event.port_active", false, false },
};

#define COUNTER 4096 /* where the other end counts */

static uint64_t *
counter(size_t at)
{
	return (uint64_t *)(void *)(own.bytes + at);
}

static void
cut_off(void)
{
	own_connect(NULL);
	for (size_t i = 0; i < INCIDENT_CUTS; i++) {
		*counter(COUNTER) = 0;
		if (!incident_cuts[i].here)
			incident(incident_cuts[i].begin);
		other_meet();
		other_meet(); /* all is posted, and had its time */
		ck_assert_uint_eq(*counter(COUNTER), incident_cuts[i].arrives ? 1 : 0);
		other_meet();
		if (!incident_cuts[i].here)
			incident(incident_cuts[i].end);
		other_meet();
		ck_assert_uint_eq(*counter(COUNTER), 1);
	}
	own_end();
}

/* Each of the requests is executed once, whether it is tried again or its answer was held. */
/* origin: out33.U8 */
TEST(link__cut_at_either_end__what_was_posted_is_done_once_when_it_heals)
{
	own_begin(cut_off, &(struct side_options){ .patient = true });
	for (size_t i = 0; i < INCIDENT_CUTS; i++) {
		*counter(0) = 77;
		*counter(8) = *counter(16) = 77;
		if (incident_cuts[i].here)
			incident(incident_cuts[i].begin);
		other_meet();
		own_rdma(IBV_WR_RDMA_READ, 1, 8, COUNTER, 8);
		post(&own, IBV_WR_ATOMIC_FETCH_AND_ADD, 2,
		    &(struct own_card){ 0, own_peer.rkey, own_peer.address + COUNTER });
		own_rdma(IBV_WR_RDMA_READ, 3, 16, COUNTER, 8);
		sleep_ms(20);
		cq_expect_empty(own.cq);
		other_meet();
		other_meet();
		if (incident_cuts[i].here)
			incident(incident_cuts[i].end);
		for (uint64_t k = 1; k <= 3; k++)
			cq_expect(own.cq, k, IBV_WC_SUCCESS);
		ck_assert_uint_le(*counter(8), 1); /* what comes after a read may overtake it */
		ck_assert_uint_eq(*counter(0), 0);
		ck_assert_uint_eq(*counter(16), 1);
		other_meet();
	}
	own_end();
	other_finish();
}

static void
be_written_to(void)
{
	own_connect(NULL);
	own_end();
}

/* A cut is between two processes, and ends when its time is over. */
/* origin: out33.U8 */
TEST(link__cut_to_one_process__is_cut_to_no_other)
{
	const uint64_t begun = soft_now();
	unsigned int slot;
	char text[64];

	own_begin(be_written_to, &(struct side_options){ .patient = true });
	slot = soft_qpn_slot(own_peer.qpn);
	incident_is_none("link.cut:peer=1");
	incident_is_none("link.cut:peer=absent");
	ck_assert_uint_eq(soft_troubles(127), 0);
	sprintf(text, "link.cut:peer=slot%u", slot + 1);
	incident(text);
	own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	sprintf(text, "link.cut:for=0.02:peer=slot%u", slot);
	incident(text);
	ck_assert_uint_eq(soft_troubles(127), SOFT_TROUBLE_CUT);
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, 0, 8);
	cq_expect_empty(own.cq);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	ck_assert_uint_gt(soft_now(), begun + 20 * SOFT_MILLISECOND);
	incident("link.heal");
	ck_assert_uint_eq(soft_troubles(127), 0);
	own_end();
	other_finish();
}

static void
be_cut_off(void)
{
	own_connect(NULL);
	own_connect_anew(NULL);
	own_end();
}

/* origin: out33.U8 */
TEST(link__cut_for_longer_than_retries_take__requests_fail_and_are_never_done)
{
	own_begin(be_cut_off, NULL);
	own.bytes[0] = 1;
	incident("link.cut");
	patience_set("0.01");
	own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 1);
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, 0, 1);
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	patience_usual();
	incident("link.heal");
	own_connect_anew(NULL);
	own_rdma(IBV_WR_RDMA_READ, 3, 8, 0, 1);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	ck_assert_int_eq(own.bytes[8], 0);
	own_end();
	other_finish();
}

/* The later ones are no sooner there than after so many milliseconds. */
static void
expect_slow(uint64_t begun, int first, int last)
{
	cq_expect_empty(own.cq);
	cq_expect(own.cq, 0, IBV_WC_SUCCESS);
	ck_assert_uint_ge(soft_now(), begun + (uint64_t)first * SOFT_MILLISECOND);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	ck_assert_uint_ge(soft_now(), begun + (uint64_t)last * SOFT_MILLISECOND);
}

static void
write_slowly(void)
{
	uint64_t begun = soft_now();

	incident("link.delay:time=0.03");
	for (uint64_t i = 0; i < 3; i++)
		own_rdma(IBV_WR_RDMA_WRITE, i, 0, 0, 8);
	expect_slow(begun, 30, 30);
	incident("link.heal");
	begun = soft_now();
	incident("link.rate:rate=100000");
	for (uint64_t i = 0; i < 3; i++)
		own_rdma(IBV_WR_RDMA_WRITE, i, 0, 0, 1000);
	expect_slow(begun, 10, 30);
	incident("link.rate:rate=1000000:for=0.001"); /* a second reason: the first stays */
	sleep_ms(5);
	ck_assert_uint_eq(soft_troubles(127), SOFT_TROUBLE_RATE);
	incident("link.heal");
	ck_assert_uint_eq(soft_troubles(127), 0);
	own_rdma(IBV_WR_RDMA_WRITE, 3, 0, 0, 8);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
}

/* origin: out33.U8 */
TEST(link__slow__takes_the_delay_or_the_time_of_the_bytes)
{
	own_begin(be_written_to, NULL);
	write_slowly();
	own_end();
	other_finish();
}

/* origin: out33.U8 */
TEST(link__slow__within_the_process_too)
{
	side_make(&own, NULL);
	side_connect(&own, &own, NULL);
	own_peer = (struct own_card){ own.qp->qp_num, own.mr->rkey, (uintptr_t)own.bytes };
	write_slowly();
	side_free(&own);
}

static void
not_ready(void)
{
	for (int i = 0; i < 2; i++) {
		own_connect_anew(NULL);
		receive_three(&own);
		incident("link.rnr");
		other_meet();
		other_meet();
		incident("link.heal");
		if (!i)
			cq_expect(own.cq, 0, IBV_WC_SUCCESS);
		other_meet();
	}
	cq_expect_empty(own.cq);
}

static void
be_not_ready(void)
{
	own_connect(NULL);
	not_ready();
	own_end();
}

/*
 * Without retries the request fails, and says that a rule is why; else it goes on when the receives
 * are used again.
 */
/* origin: out33.U8, out33.AA2 */
TEST(link__whose_receives_are_not_used__is_not_ready)
{
	struct ibv_wc wc;

	own_begin(be_not_ready, NULL);
	for (int i = 0; i < 2; i++) {
		own_connect_anew(&(struct side_options){ .no_retries = i });
		other_meet();
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 8);
		if (i) {
			wc = cq_next(own.cq);
			ck_assert_int_eq(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
			ck_assert_uint_eq(wc.vendor_err, 1);
		} else {
			sleep_ms(10);
			cq_expect_empty(own.cq);
		}
		other_meet();
		if (!i)
			cq_expect(own.cq, 1, IBV_WC_SUCCESS);
		other_meet();
	}
	own_end();
	other_finish();
}

/* ---- addresses ---- */

/* To the address that the other one has now. */
static void
address_each_other(struct side *a, struct side *b, bool global)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.ah_attr = { .is_global = global, .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.rq_psn = side_psn,
		.min_rnr_timer = 1 };
	struct ibv_port_attr port;
	struct side *side = a, *peer = b;

	ck_assert_int_eq(
	    verbs_get_ctx(a->context)->query_port(a->context, 1, &port, sizeof port), 0);
	attr.ah_attr.dlid = port.lid;
	ck_assert_int_eq(ibv_query_gid(a->context, 1, 0, &attr.ah_attr.grh.dgid), 0);
	for (int i = 0; i < 2; i++, side = b, peer = a) {
		side_to_init(side, NULL);
		attr.dest_qp_num = peer->qp->qp_num;
		ck_assert_int_eq(
		    ibv_modify_qp(side->qp, &attr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		    0);
	}
	side_to_rts(a, NULL);
	side_to_rts(b, NULL);
}

/* A connection knows when it was made: another one to the new address works. */
/* origin: out38.A1 */
TEST_LOOP(address__that_changes__ends_the_connections_that_have_it, 8)
{
	const bool global = _i & 1, gid = _i & 2;
	struct side a, b;

	setenv("SOFTVERBS_TOPOLOGY", _i & 4 ? "2x2" : "default", 1);
	side_make(&a, NULL);
	side_make(&b, NULL);
	address_each_other(&a, &b, global);
	patience_set("0.01");
	incident(gid ? "event.gid_change:port=1" : "event.lid_change:port=1");
	side_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	cq_expect(a.cq, 1, gid && !global ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
	patience_usual();
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	side_new_qp(&a);
	side_new_qp(&b);
	address_each_other(&a, &b, global);
	side_rdma(&a, &b, IBV_WR_RDMA_WRITE, 2, 0, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	pair_free(&a, &b);
}

/* ---- memory ---- */

/* Each page as often as it is registered. */
/* origin: out33.U8 */
TEST(memory__with_a_limit__is_registered_up_to_it)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mr[4];
	char *memory = aligned_alloc(page, 4 * page), text[64];

	mr[0] = ibv_reg_mr(pd, memory, page, 0); /* before there is a limit: it counts */
	sprintf(text, "memory.limit:bytes=%zu", 5 * page - 1);
	incident(text);
	mr[1] = ibv_reg_mr(pd, memory + page - 1, 2, 0);
	ck_assert(mr[0] && mr[1]);
	errno = 0;
	ck_assert_ptr_null(ibv_reg_mr(pd, memory, page + 1, 0));
	ck_assert_int_eq(errno, ENOMEM);
	mr[2] = ibv_reg_mr(pd, memory, page, 0);
	ck_assert_ptr_nonnull(mr[2]);
	ck_assert_ptr_null(ibv_reg_mr(pd, memory, 1, 0));
	ck_assert_int_eq(ibv_dereg_mr(mr[1]), 0);
	mr[1] = ibv_reg_mr(pd, memory, 2 * page, 0);
	ck_assert_ptr_nonnull(mr[1]);
	ck_assert_ptr_null(ibv_reg_mr(pd, memory, 1, 0));
	sprintf(text, "memory.limit:bytes=%zu:for=0.001", page);
	incident(text);
	sleep_ms(5);
	for (int i = 0; i < 1000 && !(mr[3] = ibv_reg_mr(pd, memory, 4 * page, 0)); i++)
		sleep_ms(1);
	ck_assert_ptr_nonnull(mr[3]); /* there is no limit any more */
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(ibv_dereg_mr(mr[i]), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ck_assert_int_eq(ibv_close_device(context), 0);
	free(memory);
}
