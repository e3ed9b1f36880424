/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits -- a request waits for its peer: however the wait ends, nothing of it is left
 *
 * Not in a list, not a reference, not a timer.  Each kind of wait is ended in each way, by either
 * side.
 */
#include "starve.h"
#include "story.h"

#include "softverbs/qp/srq.h"

static struct side a, b;

enum wait {
	WAIT_RECEIVE, /* b has no receive */
	WAIT_SHARED,  /* nor has its shared queue */
	WAIT_PEER,    /* b is not connected */
	WAIT_BRIEFLY, /* the same, and a has a timeout */
	WAITS
};

enum end {
	RESET_REQUESTER,
	FAIL_REQUESTER,
	DESTROY_REQUESTER,
	RESET_PEER,
	FAIL_PEER,
	DESTROY_PEER,
	SERVE,
	TURN_TO_ANOTHER, /* a is connected to itself */
	ENDS
};

static void
go(struct side *side, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
}

static void
destroy(struct side *side)
{
	ck_assert_int_eq(ibv_destroy_qp(side->qp), 0);
	side->qp = NULL;
}

static void
receive(struct side *side)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;

	ck_assert_int_eq(side->srq ? ibv_post_srq_recv(side->srq, &wr, &bad) :
				     ibv_post_recv(side->qp, &wr, &bad),
	    0);
}

static void
begin(enum wait wait)
{
	const struct side_options options = { .srq = wait == WAIT_SHARED ? 4 : 0,
		.patient = wait != WAIT_BRIEFLY };

	pair_make(&a, &b, &options);
	if (wait >= WAIT_PEER) {
		go(&b, IBV_QPS_RESET);
		side_to_init(&b, NULL);
	}
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 0);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, 0);
	if (wait == WAIT_SHARED)
		ck_assert_ptr_eq(TAILQ_FIRST(&soft_srq_of(b.srq)->starved), soft_qp_of(b.qp));
	if (wait != WAIT_BRIEFLY)
		cq_expect_empty(a.cq);
}

static void
end(enum wait wait, enum end way)
{
	switch (way) {
	case RESET_REQUESTER:
		go(&a, IBV_QPS_RESET);
		break;
	case FAIL_REQUESTER:
		go(&a, IBV_QPS_ERR);
		/* The tries may be used up already. */
		ck_assert_int_ne(cq_next(a.cq).status, IBV_WC_SUCCESS);
		cq_expect(a.cq, 3, IBV_WC_WR_FLUSH_ERR);
		break;
	case DESTROY_REQUESTER:
		destroy(&a);
		break;
	case RESET_PEER:
		go(&b, IBV_QPS_RESET);
		break;
	case FAIL_PEER:
		go(&b, IBV_QPS_ERR);
		break;
	case DESTROY_PEER:
		destroy(&b);
		break;
	case SERVE:
		receive(&b);
		receive(&b);
		if (wait >= WAIT_PEER)
			side_to_rtr(&b, a.qp->qp_num);
		break;
	case TURN_TO_ANOTHER:
		go(&a, IBV_QPS_RESET);
		side_connect(&a, &a, &(struct side_options){ .patient = true });
		receive(&a);
		side_post(&a, IBV_WR_SEND, 0, 4, 0, 0);
		cq_expect(a.cq, 1, IBV_WC_SUCCESS);
		break;
	default:
		break;
	}
}

static bool
is_listed(void)
{
	return b.srq && !TAILQ_EMPTY(&soft_srq_of(b.srq)->starved);
}

CASE("soft-waits:waits", starve_begin, starve_end);

/* origin: outside.146 */
TEST_LOOP(wait__however_it_ends__leaves_nothing, WAITS *ENDS)
{
	const enum wait wait = (enum wait)(_i / ENDS);
	const enum end way = (enum end)(_i % ENDS);
	struct starve_held before;

	/* Once for the tables that stay. */
	begin(wait);
	pair_free(&a, &b);
	before = starve_held_now(runner_threads_before());
	for (int order = 0; order < 2; order++) {
		begin(wait);
		end(wait, way);
		if (way == RESET_PEER || way == DESTROY_PEER || way == SERVE)
			ck_assert(!is_listed());
		if (way == SERVE && wait != WAIT_BRIEFLY) {
			cq_expect(a.cq, 2, IBV_WC_SUCCESS);
			cq_expect(a.cq, 3, IBV_WC_SUCCESS);
			ck_assert_uint_eq(soft_qp_of(a.qp)->refs, 1);
		}
		/* What one side keeps of the other ends with it, whichever goes first. */
		if (order) {
			side_free(&a);
			side_free(&b);
		} else {
			side_free(&b);
			side_free(&a);
		}
		starve_expect_held(&before, "at the end");
	}
}
