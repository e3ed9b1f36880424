/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sentry takes from a queue, its CQ and the queue pairs: each field from its own place.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "lib/runner.h"
#include "softverbs/check/outstanding.h"
#include "softverbs/cm/id.h"
#include "softverbs/qp/qp_table.h"
#include "softverbs/qp/sq.h"
#include "softverbs/qp/srq.h"

/* ---- the state of a CQ */

static const struct ibv_wc sent = { .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND },
			   received = { .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV },
			   written = { .status = IBV_WC_SUCCESS,
				   .opcode = IBV_WC_RECV_RDMA_WITH_IMM },
			   flushed = { .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV },
			   not_ready = { .status = IBV_WC_RNR_RETRY_EXC_ERR, .qp_num = 17 };

CASE("checker_view:view");

TEST(look__counters__each_its_own)
{
	struct soft_check_queue *queue;
	struct soft_check_state state;
	struct soft_cq *cq;

	fake_reset();
	queue = fake_queue(0);
	cq = queue->cq;
	/* The counters wrap, and the ring, too. */
	cq->head = UINT32_MAX - 2;
	cq->shown = 3;
	cq->tail = 8;
	cq->due = 7;
	cq->unread = 9;
	cq->armed = SOFT_ARMED_SOLICITED;
	cq->overrun = true;
	cq->solicited = UINT32_MAX - 1;
	queue->adversary.made = 1;
	queue->adversary.made_before = 4;
	state = soft_check_queue_look(queue);
	ck_assert_uint_eq(state.visible, 6);
	ck_assert_uint_eq(state.held, 5);
	ck_assert_uint_eq(state.due, 7);
	ck_assert_uint_eq(state.unread, 9);
	ck_assert_int_eq(state.armed, SOFT_ARMED_SOLICITED);
	ck_assert(state.overrun && state.solicited);
	ck_assert_uint_eq(state.moves, 5);
	/* The solicited one was polled; and there is none to poll. */
	cq->solicited = cq->head;
	ck_assert(!soft_check_queue_look(queue).solicited);
	cq->head = cq->shown;
	cq->solicited = cq->head + 1;
	ck_assert(!soft_check_queue_look(queue).solicited);
	cq->channel = NULL;
	ck_assert_uint_eq(soft_check_queue_look(queue).unread, 0);
}

static const struct {
	const struct ibv_wc *entries[3];
	uint32_t shown;
	bool flushed, received;
	uint32_t not_ready;
} entries[] = {
	{ { NULL }, 0, false, false, 0 },
	{ { &sent }, 1, false, false, 0 },
	{ { &received }, 1, false, true, 0 },
	{ { &written }, 1, false, true, 0 },
	{ { &flushed }, 1, true, false, 0 },
	{ { &flushed, &flushed }, 2, true, false, 0 },
	{ { &flushed, &sent }, 2, false, false, 0 },
	{ { &sent, &flushed }, 2, false, false, 0 },
	{ { &flushed, &sent }, 1, true, false, 0 },
	{ { &sent, &sent, &received }, 3, false, true, 0 },
	{ { &sent, &sent, &received }, 2, false, false, 0 },
	{ { &sent, &not_ready }, 2, false, false, 17 },
	{ { &not_ready, &flushed }, 2, false, false, 17 },
	{ { &sent, &not_ready }, 1, false, false, 0 },
};

TEST(look__entries__those_that_can_be_polled)
{
	struct soft_check_queue *queue;
	struct soft_check_state state;

	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		fake_reset();
		queue = fake_queue(0);
		/* What is polled already does not count, whatever it was. */
		fake_complete(queue, i % 2 ? received : not_ready, true);
		queue->cq->head = 1;
		for (uint32_t e = 0; e < 3 && entries[i].entries[e]; e++)
			fake_complete(queue, *entries[i].entries[e], e < entries[i].shown);
		state = soft_check_queue_look(queue);
		ck_assert_msg(state.visible == entries[i].shown &&
				  state.flushed == entries[i].flushed &&
				  state.received == entries[i].received &&
				  state.not_ready == entries[i].not_ready,
		    "row %zu", i);
	}
}

/* ---- a view of it */

TEST(view__fields__each_its_own)
{
	struct soft_check_queue *queue;
	struct soft_check_view *view;

	fake_reset();
	queue = fake_queue(2);
	free(queue->view);
	queue->view = NULL;
	fake_complete(queue, received, true);
	queue->activity = 5;
	queue->was_armed = true;
	queue->polled.thread = 11;
	queue->destroying.thread = 12;
	queue->events_read = 13;
	queue->events_acknowledged = 14;
	queue->armed.thread = 15;
	ck_assert(soft_check_view_take(queue));
	view = queue->view;
	ck_assert(view->exists && view->was_armed && !view->arm_failed && !view->quiet);
	ck_assert_uint_eq(view->state.visible, 1);
	ck_assert_int_eq(view->polled, 11);
	ck_assert_int_eq(view->destroying, 12);
	ck_assert_uint_eq(view->events_read, 13);
	ck_assert_uint_eq(view->events_acknowledged, 14);
	ck_assert_int_eq(view->fd, 902);
	ck_assert_ptr_eq(view->channel, &fake_channel[2]);
	ck_assert(soft_check_view_take(queue));
	ck_assert(view->quiet);
	queue->activity++;
	queue->was_armed = false;
	queue->arm_failed = true;
	queue->cq->channel = NULL;
	ck_assert(soft_check_view_take(queue));
	ck_assert(!view->quiet && !view->was_armed && view->arm_failed);
	ck_assert_int_eq(view->fd, -1);
	/* What is left of one that is destroyed. */
	queue->destroyed = true;
	queue->events_read = 16;
	ck_assert(soft_check_view_take(queue));
	ck_assert(!view->exists);
	ck_assert_uint_eq(view->events_read, 16);
}

TEST(view__taken__an_event_after_the_last_poll_and_the_last_arm)
{
	static const struct {
		uint64_t polled, armed, event;
		bool taken;
	} rows[] = { { 1, 2, 3, true }, { 2, 1, 3, true }, { 1, 3, 2, false }, { 3, 1, 2, false },
		{ 1, 2, 2, false }, { 2, 1, 2, false }, { 0, 0, 0, false }, { 0, 0, 1, true } };
	struct soft_check_queue *queue;

	fake_reset();
	queue = fake_queue(0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		queue->polled.when = rows[i].polled;
		queue->armed.when = rows[i].armed;
		queue->event.when = rows[i].event;
		ck_assert(soft_check_view_take(queue));
		ck_assert_msg(queue->view->taken == rows[i].taken, "row %zu", i);
	}
}

TEST(view__asks__for_a_second_after_it_asked)
{
	struct soft_check_queue *queue;

	fake_reset();
	queue = fake_queue(0);
	ck_assert(soft_check_view_take(queue));
	ck_assert(!queue->view->asks);
	fake_channel[0].asked = 3;
	ck_assert(soft_check_view_take(queue));
	ck_assert(queue->view->asks);
	queue->view->asked_at -= SOFT_SECOND / 2;
	ck_assert(soft_check_view_take(queue));
	ck_assert(queue->view->asks);
	queue->view->asked_at -= SOFT_SECOND / 2;
	ck_assert(soft_check_view_take(queue));
	ck_assert(!queue->view->asks);
	fake_channel[0].asked++;
	ck_assert(soft_check_view_take(queue));
	ck_assert(queue->view->asks);
}

/* ---- the list of queues */

TEST(queues__one_of_three_destroyed__the_others_are_left_in_order)
{
	struct soft_check_queue *made[3], *at;

	for (int removed = 0; removed < 3; removed++) {
		fake_reset();
		for (int i = 0; i < 3; i++) {
			made[i] = fake_queue(0);
			ck_assert_uint_eq(made[i]->number, (unsigned int)i + 1);
		}
		soft_check_queue_remove(made[removed]);
		at = soft_check_queues();
		for (int i = 2; i >= 0; i--) {
			if (i == removed)
				continue;
			ck_assert_ptr_eq(at, made[i]);
			at = at->next;
		}
		ck_assert_ptr_null(at);
		/* One more: the list can be changed at each place still. */
		for (int i = 0; i < 3; i++)
			if (i != removed)
				soft_check_queue_remove(made[i]);
		ck_assert_ptr_null(soft_check_queues());
	}
}

/* ---- what is outstanding: the queue pairs and ids are those of the test */

#define PAIRS 3
#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void, soft_qp_table_each, void (*fn)(struct soft_qp *qp, void *arg), void *arg);
WRAP(void, soft_id_each, void (*fn)(struct soft_id *id, void *arg), void *arg);

static struct soft_qp pairs[PAIRS];
static struct soft_srq shared;
#define IDS 60
static struct soft_id ids[IDS];
static int pair_count, id_count, looks;
static bool counts;
static struct soft_send ring[PAIRS][8];

void
__wrap_soft_qp_table_each(void (*fn)(struct soft_qp *qp, void *arg), void *arg)
{
	if (!counts) {
		__real_soft_qp_table_each(fn, arg);
		return;
	}
	looks++;
	for (int i = 0; i < pair_count; i++)
		fn(&pairs[i], arg);
}

void
__wrap_soft_id_each(void (*fn)(struct soft_id *id, void *arg), void *arg)
{
	if (!counts) {
		__real_soft_id_each(fn, arg);
		return;
	}
	for (int i = 0; i < id_count; i++)
		fn(&ids[i], arg);
}

/* The sends are signaled but for those in `unsignaled`: bits. */
static void
add_pair(struct soft_check_queue *to, uint32_t sends, unsigned int unsignaled,
    uint32_t receives) UNCHECKED
{
	struct soft_qp *qp = &pairs[pair_count];

	memset(qp, 0, sizeof *qp);
	qp->ibv.send_cq = qp->ibv.recv_cq = &to->cq->ibv;
	qp->state = IBV_QPS_RTS;
	qp->sq.ring = (char *)ring[pair_count++];
	qp->sq.stride = sizeof ring[0][0];
	qp->sq.mask = 7;
	qp->sq.head = UINT32_MAX - 1;
	qp->sq.tail = qp->sq.head + sends;
	for (uint32_t i = 0; i < 8; i++)
		soft_sq_at(&qp->sq, qp->sq.head + i)->signaled =
		    i >= sends || !(unsignaled & 1u << i);
	qp->rq.head = UINT32_MAX - 2;
	qp->rq.tail = qp->rq.head + receives;
}

static struct soft_id *
add_id(int pair, enum soft_id_state state, bool queued) UNCHECKED
{
	struct soft_id *id = &ids[id_count++];

	memset(id, 0, sizeof *id);
	id->state = state;
	id->public.qp = pair < 0 ? NULL : &pairs[pair].ibv;
	id->disconnected.queued = queued;
	return id;
}

static struct soft_check_queue *queue;
static struct soft_check_view *view;

static void
set_out(void) UNCHECKED
{
	fake_reset();
	queue = fake_queue(0);
	view = queue->view;
	view->exists = view->quiet = true;
	view->fd = 900;
	pair_count = id_count = looks = 0;
	memset(&shared, 0, sizeof shared);
	counts = true;
}

static void
count(void)
{
	soft_check_count_outstanding();
	counts = false;
}

TEST(outstanding__sends_and_receives_of_two_pairs)
{
	set_out();
	add_pair(queue, 5, 2 + 8, 4);
	add_pair(queue, 1, 0, 2);
	count();
	ck_assert(view->counted);
	ck_assert_uint_eq(view->sends, 4);
	ck_assert_uint_eq(view->receives, 6);
	ck_assert_uint_eq(view->gone, 0);
}

TEST(outstanding__states_in_which_requests_are_executed)
{
	static const struct {
		enum ibv_qp_state state;
		bool dead, counts;
	} rows[] = { { IBV_QPS_RTS, false, true }, { IBV_QPS_RTR, false, true },
		{ IBV_QPS_RTS, true, false }, { IBV_QPS_INIT, false, false },
		{ IBV_QPS_ERR, false, false }, { IBV_QPS_RESET, false, false },
		{ IBV_QPS_SQD, false, false }, { IBV_QPS_SQE, false, false } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set_out();
		add_pair(queue, 1, 0, 2);
		pairs[0].state = rows[i].state;
		pairs[0].dead = rows[i].dead;
		count();
		ck_assert_msg(view->sends == rows[i].counts && view->receives == 2 * rows[i].counts,
		    "row %zu", i);
	}
}

TEST(outstanding__two_queues__each_its_own)
{
	struct soft_check_queue *second;

	set_out();
	second = fake_queue(0);
	second->view->exists = second->view->quiet = true;
	add_pair(queue, 1, 0, 2);
	pairs[0].ibv.recv_cq = &second->cq->ibv;
	count();
	ck_assert_uint_eq(view->sends, 1);
	ck_assert_uint_eq(view->receives, 0);
	ck_assert_uint_eq(second->view->sends, 0);
	ck_assert_uint_eq(second->view->receives, 2);
}

static void
share(uint32_t receives) UNCHECKED
{
	shared.rq.head = 7;
	shared.rq.tail = 7 + receives;
	pairs[0].srq = &shared;
}

/* Those of a shared queue may be taken by other connections. */
TEST(outstanding__of_a_shared_queue__never_gone)
{
	set_out();
	add_pair(queue, 1, 0, 2);
	share(3);
	add_id(0, SOFT_ID_DISCONNECTED, false);
	count();
	ck_assert_uint_eq(view->receives, 3);
	ck_assert_uint_eq(view->gone, 1);
}

TEST(outstanding__gone__those_of_pairs_that_have_ended)
{
	static const struct {
		const char *what;
		enum soft_id_state state;
		int pair;
		bool queued, second, listener;
		uint32_t gone;
		bool unread, listens;
	} rows[] = {
		{ "connected", SOFT_ID_CONNECTED, 0, false, false, false, 0, false, false },
		{ "ended, and read", SOFT_ID_DISCONNECTED, 0, false, false, false, 7, false,
		    false },
		{ "ended, not read", SOFT_ID_DISCONNECTED, 0, true, false, false, 7, true, false },
		{ "another pair", SOFT_ID_DISCONNECTED, 1, true, false, false, 3, true, false },
		{ "without a pair", SOFT_ID_DISCONNECTED, -1, true, false, false, 0, false, false },
		{ "both", SOFT_ID_DISCONNECTED, 0, false, true, false, 10, true, false },
		{ "ended, it listens", SOFT_ID_DISCONNECTED, 0, false, false, true, 7, false,
		    true },
		{ "connected, it listens", SOFT_ID_CONNECTED, 0, false, false, true, 0, false,
		    false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set_out();
		/* It is gone from the last time. */
		view->gone = 99;
		view->unread_end = view->listens = true;
		add_pair(queue, 3, 0, 4);
		add_pair(queue, 1, 0, 2);
		if (rows[i].listener && i % 2)
			add_id(-1, SOFT_ID_LISTENING, false);
		if (rows[i].second)
			add_id(1, SOFT_ID_DISCONNECTED, true);
		add_id(rows[i].pair, rows[i].state, rows[i].queued);
		if (rows[i].listener && i % 2 == 0)
			add_id(-1, SOFT_ID_LISTENING, false);
		count();
		ck_assert_msg(view->gone == rows[i].gone, "%s: %u", rows[i].what, view->gone);
		ck_assert_msg(view->unread_end == rows[i].unread, "%s", rows[i].what);
		ck_assert_msg(view->listens == rows[i].listens, "%s", rows[i].what);
		ck_assert_uint_eq(view->sends, 4);
		ck_assert_uint_eq(view->receives, 6);
	}
}

TEST(outstanding__listens__until_it_does_not)
{
	for (int turn = 0; turn < 2; turn++) {
		set_out();
		add_pair(queue, 3, 0, 4);
		if (!turn) {
			add_id(-1, SOFT_ID_LISTENING, false);
			add_id(-1, SOFT_ID_CONNECTED, false);
		}
		add_id(0, SOFT_ID_DISCONNECTED, false);
		count();
		ck_assert_int_eq(view->listens, !turn);
	}
}

TEST(outstanding__a_pair_without_requests__says_nothing_of_its_end)
{
	set_out();
	add_pair(queue, 0, 0, 0);
	add_id(0, SOFT_ID_DISCONNECTED, true);
	count();
	ck_assert(!view->unread_end);
	ck_assert_uint_eq(view->gone, 0);
}

/* It costs nothing where it does not matter. */
TEST(outstanding__is_counted__where_it_matters)
{
	static const struct {
		const char *what;
		bool counted, looks;
	} rows[] = {
		{ "all", true, true },
		{ "it is destroyed", false, false },
		{ "a call was made", false, false },
		{ "no channel", false, false },
		{ "completions", false, false },
		{ "one is held", false, false },
		{ "an event is held", false, false },
		{ "an event", false, false },
		{ "armed", true, false },
		{ "armed for solicited ones", true, false },
		{ "armed, and a connection has ended", true, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set_out();
		add_pair(queue, 1, 0, 2);
		view->exists = i != 1;
		view->quiet = i != 2;
		view->fd = i == 3 ? -1 : 0;
		view->state = (struct soft_check_state){
			.visible = i == 4, .held = i == 5, .due = i == 6, .unread = i == 7
		};
		if (i >= 8)
			view->state.armed = i == 9 ? SOFT_ARMED_SOLICITED : SOFT_ARMED_ANY;
		if (i == 10)
			add_id(0, SOFT_ID_DISCONNECTED, false);
		view->sends = 77;
		count();
		ck_assert_msg(view->counted == rows[i].counted, "%s", rows[i].what);
		ck_assert_msg(looks == rows[i].looks, "%s", rows[i].what);
		ck_assert_msg(view->sends == rows[i].looks, "%s", rows[i].what);
	}
}

/* More than the table of ends begins with. */
TEST(outstanding__many_ids__each_is_found)
{
	static struct ibv_qp others[40];

	set_out();
	add_pair(queue, 1, 0, 2);
	add_pair(queue, 1, 0, 2);
	add_id(1, SOFT_ID_DISCONNECTED, false);
	add_id(0, SOFT_ID_DISCONNECTED, true);
	for (int i = 0; i < 40; i++)
		add_id(-1, SOFT_ID_DISCONNECTED, false)->public.qp = &others[i];
	count();
	ck_assert_uint_eq(view->gone, 6);
	ck_assert(view->unread_end);
}
