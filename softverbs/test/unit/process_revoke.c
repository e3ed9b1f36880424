/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_revoke -- memory that a program takes back while another process may read it
 */
#include "mw_story.h"
#include "pull_story.h"
#include "lib/feature.h"
#include "softverbs/qp/qp.h"
#include "softverbs/wire/grant.h"
#include "softverbs/wire/input.h"
#include "softverbs/wire/peer.h"

/* --- memory that the poster takes back */

/* One message arrives and makes the link.  A second is in the ring when this returns. */
static void
take_first(void)
{
	own_connect(NULL);
	pull_tell_whether_readable();
	side_receive(&own, 1, 0, LENGTH);
	side_receive(&own, 2, 0, LENGTH);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	/* It is stopped here. */
	other_meet();
}

/* The second message may arrive, but not as 'x'. */
static void
taking_old_data(void)
{
	struct ibv_wc wc;
	int n;

	take_first();
	for (int i = 0; i < 100 && !(n = ibv_poll_cq(own.cq, 1, &wc)); i++)
		sleep_ms(1);
	for (int i = 0; n && wc.status == IBV_WC_SUCCESS && i < LENGTH; i++)
		ck_assert_int_eq(own.bytes[i], 'o');
	other_meet();
	_exit(0);
}

static void
post_to_a_stopped_peer(void)
{
	memset(own.bytes, 'o', SIDE_BYTES);
	other_meet();
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, LENGTH);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	other_stop();
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, LENGTH);
}

static void
let_it_look(void)
{
	memset(own.bytes, 'x', SIDE_BYTES);
	other_go_on();
	other_meet();
	other_meet();
}

static void
taking_any_data(void)
{
	take_first();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	other_tell(own.bytes, 1);
	own_end();
}

CASE("soft-process-revoke:revoke");

/*
 * A program may not change the data of an outstanding request.  This test changes it, to see when
 * it is read.
 */
TEST(data__is_read_when_it_is_received__if_the_kernel_allows_it)
{
	bool readable;
	char first;

	own_begin(taking_any_data, NULL);
	readable = pull_hear_whether_readable();
	post_to_a_stopped_peer();
	memset(own.bytes, 'x', SIDE_BYTES);
	other_go_on();
	other_meet();
	other_hear(&first, 1);
	ck_assert_int_eq(first, readable ? 'x' : 'o');
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

/* Or registered anew, as other memory: its key is good, but not for the data. */
TEST_LOOP(region__deregistered_under_a_message__is_not_read_any_more, 2)
{
	static char elsewhere[64];
	bool readable;

	own_begin(taking_old_data, NULL);
	readable = pull_hear_whether_readable();
	post_to_a_stopped_peer();
	if (_i)
		ck_assert_int_eq(ibv_rereg_mr(own.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
				     elsewhere, sizeof elsewhere, 0),
		    0);
	else
		ck_assert_int_eq(ibv_dereg_mr(own.mr), 0);
	let_it_look();
	cq_expect(own.cq, 2, readable ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS);
	if (_i)
		ck_assert_int_eq(ibv_dereg_mr(own.mr), 0);
	own.mr = ibv_reg_mr(own.pd, own.bytes, SIDE_BYTES, SIDE_ACCESS);
	side_free(&own);
	other_finish();
}

/* Ways in which a request ends without its answer. */
enum end { ERROR, RESET, DESTROY, ENDS };

TEST_LOOP(queue_pair__ended_under_a_message__its_data_is_not_read_any_more, ENDS)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	own_begin(taking_old_data, NULL);
	(void)pull_hear_whether_readable();
	post_to_a_stopped_peer();
	if (_i == ERROR) {
		side_to_error(&own);
		cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	} else if (_i == RESET) {
		ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	} else {
		ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
		side_new_qp(&own);
	}
	let_it_look();
	side_free(&own);
	other_finish();
}

/* --- memory that is read, and taken back */

/* Whether our queue pair has given away the address of something that is read. */
static bool
has_offered(void)
{
	struct soft_qp *qp = soft_qp_of(own.qp);
	bool offered;

	soft_qp_lock_receive(qp);
	offered = qp->answers.granted;
	soft_qp_unlock_receive(qp);
	return offered;
}

/* The first read makes the link. */
static void
read_first(void)
{
	own_connect(NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, LENGTH);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	pull_tell_whether_readable();
	other_meet();
}

/* Its data is not offered any more when this returns: has_offered() means the next read. */
static bool
serve_first_read(void)
{
	bool readable;

	memset(own.bytes, 'o', SIDE_BYTES);
	other_meet();
	readable = pull_hear_whether_readable();
	while (has_offered())
		sleep_ms(1);
	other_meet();
	return readable;
}

/* Nothing that the other process sends is handled while it holds the lock. */
static void
reading_late(void)
{
	struct ibv_wc wc;

	read_first();
	soft_input_lock();
	own_rdma(IBV_WR_RDMA_READ, 2, 0, 0, LENGTH);
	other_meet();
	other_meet();
	soft_input_unlock();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 2);
	ck_assert_int_ne(wc.status, IBV_WC_WR_FLUSH_ERR);
	for (int i = 0; wc.status == IBV_WC_SUCCESS && i < LENGTH; i++)
		ck_assert_int_eq(own.bytes[i], 'o');
	other_tell(&wc.status, sizeof wc.status);
	own_end();
}

TEST(region__deregistered_under_a_read__is_not_read_any_more)
{
	enum ibv_wc_status status;
	bool readable;

	own_begin(reading_late, NULL);
	readable = serve_first_read();
	other_meet();
	while (readable && !has_offered())
		sleep_ms(1);
	ck_assert_int_eq(ibv_dereg_mr(own.mr), 0);
	memset(own.bytes, 'x', SIDE_BYTES);
	other_meet();
	other_hear(&status, sizeof status);
	if (readable)
		ck_assert_int_eq(status, IBV_WC_REM_ACCESS_ERR);
	own.mr = ibv_reg_mr(own.pd, own.bytes, SIDE_BYTES, SIDE_ACCESS);
	own_end();
	other_finish();
}

static void
reading_a_window(void)
{
	struct ibv_wc wc;
	uint32_t rkey;

	read_first();
	other_hear(&rkey, sizeof rkey);
	soft_input_lock();
	ck_assert_int_eq(
	    side_rdma_raw(&own, IBV_WR_RDMA_READ, 2, 0, own_peer.address, rkey, LENGTH), 0);
	other_meet();
	other_meet();
	soft_input_unlock();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 2);
	for (int i = 0; wc.status == IBV_WC_SUCCESS && i < LENGTH; i++)
		ck_assert_int_eq(own.bytes[i], 'o');
	ck_assert_int_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
	own_end();
}

TEST(window__gone_under_a_read__is_not_read_any_more)
{
	const struct side_options options = { .mr_access = MW_ACCESS };
	struct ibv_mw *mw;
	uint32_t rkey;
	bool readable;

	if (!feature_read()) {
		runner_skip(FEATURE_NO_READ);
		return;
	}
	own_begin(reading_a_window, &options);
	readable = serve_first_read();
	mw = mw_make(&own, IBV_MW_TYPE_2);
	rkey = mw_bind(&own, mw, 0, LENGTH, IBV_ACCESS_REMOTE_READ);
	other_tell(&rkey, sizeof rkey);
	other_meet();
	while (readable && !has_offered())
		sleep_ms(1);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	memset(own.bytes, 'x', SIDE_BYTES);
	other_meet();
	own_end();
	other_finish();
}

static void
taking_three(void)
{
	own_connect(NULL);
	pull_tell_whether_readable();
	for (uint64_t i = 1; i < 4; i++)
		side_receive(&own, i, 0, LENGTH);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	other_meet();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	own_end();
}

TEST(other_region__deregistered_between_two_messages__pulling_goes_on)
{
	static char elsewhere[4096];
	struct ibv_mr *mr;
	struct soft_link *link;
	bool readable, pulled;

	own_begin(taking_three, NULL);
	readable = pull_hear_whether_readable();
	mr = ibv_reg_mr(own.pd, elsewhere, sizeof elsewhere, SIDE_ACCESS);
	post_to_a_stopped_peer();
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, LENGTH);
	other_go_on();
	other_meet();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	link = soft_peer_answering(own_peer.qpn >> 14);
	pulled = link->pulled;
	soft_link_put(link);
	own_end();
	other_finish();
	ck_assert(pulled || !readable);
}

static void
reading_from_one_that_ends(void)
{
	struct ibv_wc wc;

	read_first();
	soft_input_lock();
	own_rdma(IBV_WR_RDMA_READ, 2, 0, 0, LENGTH);
	other_meet();
	other_meet();
	soft_input_unlock();
	wc = cq_next(own.cq);
	for (int i = 0; wc.status == IBV_WC_SUCCESS && i < LENGTH; i++)
		ck_assert_int_eq(own.bytes[i], 'o');
	other_meet();
	_exit(0);
}

TEST_LOOP(responder__ended_under_a_read__memory_is_not_read_any_more, ENDS)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	bool readable;

	own_begin(reading_from_one_that_ends, NULL);
	readable = serve_first_read();
	other_meet();
	while (readable && !has_offered())
		sleep_ms(1);
	if (_i == ERROR) {
		side_to_error(&own);
	} else if (_i == RESET) {
		ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	} else {
		ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
		side_new_qp(&own);
	}
	memset(own.bytes, 'x', SIDE_BYTES);
	other_meet();
	other_meet();
	side_free(&own);
	other_finish();
}

/* ---- when all is done ---- */

/* No request whose data is here is unanswered: there is nothing that a change would end. */
static void
expect_no_grant(void)
{
	uint64_t before;
	int i = 0;

	do {
		before = soft_grant_number();
		soft_grant_revoke_used();
	} while (soft_grant_number() != before && i++ < 2000 && !usleep(1000));
	ck_assert_uint_eq(soft_grant_number(), before);
}

/* Both send and both read at the same time, so many of each; small reads are not pulled. */
static void
exchange(void)
{
	for (uint64_t n = 1; n <= 4; n++) {
		for (uint64_t i = 0; i < n; i++)
			side_receive(&own, 100 + i, 0, SIDE_BYTES / 2);
		other_meet();
		for (uint64_t i = 0; i < n; i++) {
			own_rdma(
			    IBV_WR_RDMA_READ, i, SIDE_BYTES / 2, 0, n == 3 && i == 1 ? 8 : 50000);
			if (n % 2)
				side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 50000);
		}
		for (uint64_t i = 0; i < (n % 2 ? 3 * n : n); i++)
			ck_assert_int_eq(cq_next(own.cq).status, IBV_WC_SUCCESS);
		other_meet();
		expect_no_grant();
		other_meet();
	}
	own_end();
}

static void
exchange_there(void)
{
	own_connect(NULL);
	exchange();
}

/* origin: out33.D9 */
TEST(messages_and_reads_that_were_pulled__are_done__nothing_is_granted)
{
	own_begin(exchange_there, NULL);
	exchange();
	other_finish();
}
