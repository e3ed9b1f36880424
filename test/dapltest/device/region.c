/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory regions on a device that destroys no queue pair while a window is bound on it. */
#include "fault/fault.h"
#include "device.h"

#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG
#define MANY 3

static struct dt_pair pair;
static DAT_RMR_HANDLE rmr[MANY];
static int destroyed, left;

static void
look_for_windows(struct ibv_qp *qp)
{
	destroyed++;
	left += fault_qp_has_windows(qp);
}

static void
bind_region(DAT_RMR_HANDLE region, DAT_SEG_LENGTH length)
{
	DAT_LMR_TRIPLET range = dt_local(&pair.b, 0, length);
	DAT_RMR_CONTEXT context;

	dt_ok(dat_rmr_bind(region, pair.b.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
	    DAT_VA_TYPE_VA, pair.b.ep, dt_cookie(length), DEFAULT, &context));
}

/* A connection with bound regions, and room for more requests. */
static void
open_bound(void)
{
	DAT_EVENT event;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	pair.b.request = dt_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 32);
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect_pair(&pair);
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_rmr_create_for_ep(pair.b.pz, &rmr[i]));
		bind_region(rmr[i], 8);
		dt_expect(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	}
	destroyed = left = 0;
	fault_qp_on_destroy(look_for_windows);
}

static DAT_SEG_LENGTH
length_of(DAT_RMR_HANDLE region)
{
	DAT_RMR_PARAM param;

	dt_ok(dat_rmr_query(region, DAT_RMR_FIELD_ALL, &param));
	return param.lmr_triplet.segment_length;
}

/* Ways in which a queue pair ends. */
enum end { FREE, RESET, CLOSE, ENDS };

DEVICE_CASE("device-region:region");

/* In the odd rounds a bind and an unbind are outstanding, behind a send that no receive takes. */
/* origin: kernel.3 */
/* clause: e.7.32 */
TEST_LOOP(window__bound_on_a_queue_pair__is_gone_before_it_is_destroyed, 2 * ENDS)
{
	const enum end end = (enum end)(_i / 2);
	DAT_EVENT event;

	open_bound();
	if (_i % 2) {
		dt_send(&pair.b, 0, 8, 1);
		bind_region(rmr[0], 16);
		bind_region(rmr[1], 0);
	}
	if (end == RESET) {
		dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_disconnected(&pair.b);
		dt_ok(dat_ep_reset(pair.b.ep));
	} else if (end == FREE) {
		dt_ok(dat_ep_free(pair.b.ep));
	} else {
		dt_ok(dat_ia_close(pair.b.ia, DAT_CLOSE_ABRUPT_FLAG));
	}
	fault_qp_on_destroy(NULL);
	ck_assert_int_ge(destroyed, 1);
	ck_assert_int_eq(left, 0);
	dt_next(pair.a.connect, &event);
	if (end == CLOSE) {
		dt_side_close(&pair.a);
		return;
	}
	for (int i = 0; i < MANY; i++)
		ck_assert_uint_eq(length_of(rmr[i]), 0);
	/* Each can be bound again. */
	if (end == FREE)
		pair.b.ep = dt_ep(&pair.b, NULL);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_connect_pair(&pair);
	for (int i = 0; i < MANY; i++) {
		bind_region(rmr[i], 24);
		dt_expect(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
		ck_assert_int_eq(
		    event.event_data.rmr_completion_event_data.status, DAT_DTO_SUCCESS);
		ck_assert_uint_eq(length_of(rmr[i]), 24);
	}
	dt_pair_close(&pair);
}
