/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_datagram -- datagrams between processes
 */
#include "datagram_story.h"
#include "incidents.h"
#include "other.h"
#include "own.h"
#include "patience.h"

#include "softverbs/wire/input.h"

#define MANY 50

static struct ibv_ah *ah; /* of our own side, to the port */

static void
own_for_datagrams(void)
{
	side_make(&own, NULL);
	datagram_side(&own);
	own_exchange();
	ah = datagram_ah(&own);
}

static int
own_try_send(uint32_t qpn, uint32_t length, __be32 number)
{
	struct ibv_sge sge = { (uintptr_t)own.bytes, length, own.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = number,
		.send_flags = IBV_SEND_SIGNALED | (number % 2 ? IBV_SEND_SOLICITED : 0),
		.wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = DATAGRAM_KEY },
	}, *bad;

	return ibv_post_send(own.qp, &wr, &bad);
}

static void
own_send(uint32_t qpn, uint32_t length, __be32 number)
{
	ck_assert_int_eq(own_try_send(qpn, length, number), 0);
	cq_expect(own.cq, 0, IBV_WC_SUCCESS);
}

static void
own_finish(void)
{
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	own_end();
}

static void
sending(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .sl = 11 };
	struct ibv_ah *local, *global;

	own_for_datagrams();
	local = ah;
	ck_assert_int_eq(ibv_query_gid(own.context, 1, 0, &attr.grh.dgid), 0);
	global = ibv_create_ah(own.pd, &attr);
	memset(own.bytes, 'd', DATAGRAM_MTU);
	for (uint32_t i = 0; i < MANY; i++) {
		ah = i % 3 ? local : global;
		other_meet();
		own_send(own_peer.qpn, DATAGRAM_MTU, i);
	}
	ah = local;
	ck_assert_int_eq(ibv_destroy_ah(global), 0);
	own_finish();
}

CASE("soft-process-datagram:processes", patience_begin, patience_end);

/* origin: out33.W14 */
TEST(datagrams__of_another_process__arrive)
{
	struct ibv_wc wc;

	other_start(sending);
	own_for_datagrams();
	for (uint32_t i = 0; i < MANY; i++) {
		side_receive(&own, i, 0, DATAGRAM_GRH + DATAGRAM_MTU);
		own.bytes[DATAGRAM_GRH + DATAGRAM_MTU - 1] = 0;
		ck_assert_int_eq(ibv_req_notify_cq(own.cq, 1), 0);
		other_meet();
		if (i % 2)
			channel_expect(own.channel, own.cq);
		wc = cq_next(own.cq);
		channel_expect_no_event(own.channel);
		ck_assert_uint_eq(wc.wc_flags, IBV_WC_WITH_IMM | (i % 3 ? 0 : IBV_WC_GRH));
		for (int at = 0; i % 3 && at < DATAGRAM_GRH; at++)
			ck_assert_int_eq(own.bytes[at], 0);
		if (i % 3 == 0)
			ck_assert_uint_eq(
			    be16toh(((struct ibv_grh *)(void *)own.bytes)->paylen), DATAGRAM_MTU);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_uint_eq(wc.wr_id, i);
		ck_assert_uint_eq(wc.imm_data, i);
		ck_assert_uint_eq(wc.byte_len, DATAGRAM_GRH + DATAGRAM_MTU);
		ck_assert_uint_eq(wc.src_qp, own_peer.qpn);
		ck_assert_uint_eq(wc.sl, i % 3 ? 0 : 11);
		ck_assert_int_eq(own.bytes[DATAGRAM_GRH + DATAGRAM_MTU - 1], 'd');
	}
	own_finish();
	other_finish();
}

static void
sending_two(void)
{
	own_for_datagrams();
	other_meet();
	own_send(own_peer.qpn, 8, 0);
	own_send(own_peer.qpn, 8, 0);
	other_meet();
	own_finish();
}

/* The memory has gone, or the completion queue is full: as for datagrams of the own process. */
TEST_LOOP(datagrams_of_another_process__cannot_be_received__the_queue_pair_fails, 2)
{
	const struct side_options options = { .cqe = _i ? 1 : 0 };
	struct ibv_async_event event;
	struct ibv_mr *mr, *its;

	other_start(sending_two);
	side_make(&own, &options);
	datagram_side(&own);
	own_exchange();
	ah = datagram_ah(&own);
	its = own.mr;
	mr = ibv_reg_mr(own.pd, own.bytes, 64, SIDE_ACCESS);
	if (!_i)
		own.mr = mr;
	side_receive(&own, 1, 0, 64);
	side_receive(&own, 2, 0, 64);
	own.mr = its;
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	other_meet();
	other_meet();
	if (!_i)
		cq_expect(own.cq, 1, IBV_WC_LOC_PROT_ERR);
	else
		do {
			ck_assert_int_eq(ibv_get_async_event(own.context, &event), 0);
			ibv_ack_async_event(&event);
		} while (event.event_type != IBV_EVENT_QP_FATAL);
	while (qp_state(own.qp) != IBV_QPS_ERR)
		sleep_ms(1);
	own_finish();
	other_finish();
}

static void
idle(void)
{
	own_for_datagrams();
	own_finish();
}

/*
 * Its status, and what the queue pair does then, are those of a datagram to a queue pair of the own
 * process.
 */
TEST(datagram__of_memory_that_may_not_be_read__fails_at_once)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	other_start(idle);
	own_for_datagrams();
	own_send(own_peer.qpn, DATAGRAM_MTU, 0); /* opens the link */
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = own_peer.qpn;
	wr.wr.ud.remote_qkey = DATAGRAM_KEY;
	sge = (struct ibv_sge){ (uintptr_t)own.bytes, 10, own.mr->lkey + 1 };
	for (uint64_t i = 1; i <= 2; i++) {
		wr.wr_id = i;
		ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	}
	cq_expect(own.cq, 1, IBV_WC_LOC_PROT_ERR);
	cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	own_finish();
	other_finish();
}

/*
 * Posts until the send queue is full, as it is when the link is; returns how many are not complete.
 */
static int
fill_link(void)
{
	struct ibv_wc wc;
	int left = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		if (own_try_send(own_peer.qpn, DATAGRAM_MTU, i))
			return left;
		left++;
		while (ibv_poll_cq(own.cq, 1, &wc) > 0) {
			ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
			left--;
		}
	}
	ck_abort_msg("the link is never full");
	return 0;
}

TEST(datagrams__to_a_process_that_reads_late__wait_for_room)
{
	int left;

	other_start(idle);
	own_for_datagrams();
	own_send(own_peer.qpn, DATAGRAM_MTU, 0); /* opens the link */
	patience_set("100");			 /* also on a busy machine */
	other_stop();
	left = fill_link();
	ck_assert_int_ge(left, 16); /* more where completions become visible late */
	other_go_on();
	for (; left; left--)
		cq_expect(own.cq, 0, IBV_WC_SUCCESS);
	own_finish();
	other_finish();
}

TEST(datagrams__that_wait__are_flushed_by_an_error)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int left, flushed = 0;

	other_start(idle);
	own_for_datagrams();
	own_send(own_peer.qpn, DATAGRAM_MTU, 0);
	patience_set("100");
	other_stop();
	left = fill_link();
	ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	for (; left; left--)
		flushed += cq_next(own.cq).status == IBV_WC_WR_FLUSH_ERR;
	ck_assert_int_eq(flushed, 16);
	other_go_on();
	own_finish();
	other_finish();
}

/* How the first wait ends. */
enum { HAS_ROOM, IS_LOST, IS_RESET, WAITS };
#define PAUSE_MS 250 /* longer than a datagram waits */

static void
end_wait(int how, int left)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;

	if (how == HAS_ROOM)
		other_go_on();
	if (how != IS_RESET) {
		for (; left; left--)
			cq_expect(own.cq, 0, IBV_WC_SUCCESS);
	} else {
		ck_assert_int_eq(ibv_modify_qp(own.qp, &reset, IBV_QP_STATE), 0);
		while (ibv_poll_cq(own.cq, 1, &wc) > 0)
			continue;
		datagram_to_rts(own.qp);
	}
	if (how == IS_LOST)
		other_go_on();
	sleep_ms(PAUSE_MS);
	if (how != IS_RESET) {
		own_send(own_peer.qpn, DATAGRAM_MTU, 0); /* there is room */
		sleep_ms(PAUSE_MS);
		other_stop();
	}
}

/* As long as the first time. */
/* origin: out33.D9 */
TEST_LOOP(datagrams__have_waited_for_room_long_ago__wait_again, WAITS)
{
	int left;

	other_start(idle);
	own_for_datagrams();
	own_send(own_peer.qpn, DATAGRAM_MTU, 0);
	patience_set("0.05"); /* 200 ms */
	other_stop();
	left = fill_link();
	ck_assert_int_ge(left, 16);
	end_wait(_i, left);
	left = fill_link();
	ck_assert_int_ge(left, 16);
	other_go_on();
	for (; left; left--)
		cq_expect(own.cq, 0, IBV_WC_SUCCESS);
	own_finish();
	other_finish();
}

TEST(datagrams__to_a_process_that_is_stopped_or_gone__are_lost)
{
	other_start(idle);
	own_for_datagrams();
	patience_fall_silent();
	/* More than the link takes. */
	for (uint32_t i = 0; i < 500; i++)
		own_send(own_peer.qpn, DATAGRAM_MTU, i);
	other_go_on();
	other_kill();
	for (uint32_t i = 0; i < 5; i++)
		own_send(own_peer.qpn, DATAGRAM_MTU, i);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	side_free(&own);
}

/* ---- links that are cut, ports that are down: what is sent meanwhile is lost, and succeeds */

static void
receiving_what_arrives(void)
{
	struct ibv_wc wc;

	own_for_datagrams();
	for (uint32_t i = 0; i < INCIDENT_CUTS; i++) {
		side_receive(&own, 0, 0, DATAGRAM_GRH + 8);
		side_receive(&own, 0, 0, DATAGRAM_GRH + 8);
		if (!incident_cuts[i].here)
			incident(incident_cuts[i].begin);
		other_meet();
		other_meet(); /* one was sent */
		soft_input_attend();
		if (!incident_cuts[i].here)
			incident(incident_cuts[i].end);
		other_meet();
		for (uint32_t number = incident_cuts[i].arrives ? 0 : 1; number < 2; number++) {
			wc = cq_next(own.cq);
			ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
			ck_assert_uint_eq(wc.imm_data, 2 * i + number);
		}
	}
	own_finish();
}

CASE("soft-process-datagram:links", incidents_begin, patience_end);

/* origin: out33.U16 */
TEST(datagram__while_a_link_is_cut_or_a_port_down__is_lost)
{
	uint64_t begun;

	other_start(receiving_what_arrives);
	own_for_datagrams();
	for (uint32_t i = 0; i < INCIDENT_CUTS; i++) {
		if (incident_cuts[i].here)
			incident(incident_cuts[i].begin);
		other_meet();
		own_send(own_peer.qpn, 8, 2 * i);
		other_meet();
		if (incident_cuts[i].here)
			incident(incident_cuts[i].end);
		other_meet();
		own_send(own_peer.qpn, 8, 2 * i + 1);
	}
	/* A slow link holds it, and its completion, to no one, too. */
	incident("link.delay:time=0.02");
	begun = soft_now();
	own_send(own.qp->qp_num + 1, 8, 0);
	ck_assert_uint_ge(soft_now(), begun + 20 * SOFT_MILLISECOND);
	incident("link.heal");
	own_finish();
	other_finish();
}
