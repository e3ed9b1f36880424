/* SPDX-License-Identifier: BSD-3-Clause */
/* From inside an upcall, under every policy: calls on endpoints, connections and memory */

#include "inside.h"
#include "lib/runner.h"

/* ---- moving data ---- */

static void
sends(struct inside *in)
{
	in->ret = dt_try_send(&in->pair.b, 0, 8, 7, DAT_COMPLETION_DEFAULT_FLAG);
}

DT_CASE("inside-ep:data");

/* clause: c.14.24 */
TEST_LOOP(post_send_inside__arrives_and_completes, UP_POLICIES)
{
	struct inside in;
	DAT_EVENT event;

	inside_open_pair(&in, _i);
	inside_do(&in, sends);
	dt_ok(in.ret);
	dt_expect_dto(in.pair.b.request, in.pair.b.ep, 7, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(in.pair.a.recv, in.pair.a.ep, 100, DAT_DTO_SUCCESS, &event);
	inside_close(&in);
}

static void
sends_and_waits(struct inside *in)
{
	in->ret = dt_try_send(&in->pair.b, 0, 8, 7, DAT_COMPLETION_DEFAULT_FLAG);
	dt_expect_dto(in->pair.b.request, in->pair.b.ep, 7, DAT_DTO_SUCCESS, &in->event);
}

/* clause: c.14.24, c.14.31 */
TEST_LOOP(post_send_inside__waits_for_its_completion__gets_it, UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i);
	inside_do(&in, sends_and_waits);
	dt_ok(in.ret);
	inside_close(&in);
}

static void
receives(struct inside *in)
{
	in->ret = dt_try_recv(&in->pair.b, 64, 64, 8);
}

/* clause: c.14.24 */
TEST_LOOP(post_recv_inside__is_filled, UP_POLICIES)
{
	struct inside in;
	DAT_EVENT event;

	inside_open_pair(&in, _i);
	inside_do(&in, receives);
	dt_ok(in.ret);
	dt_send(&in.pair.a, 0, 8, 1);
	dt_send(&in.pair.a, 0, 8, 2);
	dt_expect_dto(in.pair.b.recv, in.pair.b.ep, 100, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(in.pair.b.recv, in.pair.b.ep, 8, DAT_DTO_SUCCESS, &event);
	inside_close(&in);
}

static void
writes_and_reads(struct inside *in)
{
	DAT_LMR_TRIPLET from = dt_local(&in->pair.b, 0, 16), into = dt_local(&in->pair.b, 512, 16);
	DAT_RMR_TRIPLET there = dt_remote(&in->pair.a, 1024, 16);

	strcpy(in->pair.b.buffer, "from an upcall");
	dt_ok(dat_ep_post_rdma_write(
	    in->pair.b.ep, 1, &from, dt_cookie(1), &there, DAT_COMPLETION_DEFAULT_FLAG));
	dt_ok(dat_ep_post_rdma_read(
	    in->pair.b.ep, 1, &into, dt_cookie(2), &there, DAT_COMPLETION_DEFAULT_FLAG));
}

/* clause: c.14.24 */
TEST_LOOP(rdma_inside__written_and_read_back, UP_POLICIES)
{
	struct inside in;
	DAT_EVENT event;

	inside_open_pair(&in, _i);
	inside_do(&in, writes_and_reads);
	dt_expect_dto(in.pair.b.request, in.pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(in.pair.b.request, in.pair.b.ep, 2, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(in.pair.b.buffer + 512, "from an upcall");
	inside_close(&in);
}

/* ---- endpoints ---- */

static void
disconnects_abruptly(struct inside *in)
{
	in->ret = dat_ep_disconnect(in->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG);
}

static void
disconnects_gracefully(struct inside *in)
{
	in->ret = dat_ep_disconnect(in->pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG);
}

DT_CASE("inside-ep:endpoint");

/* clause: c.14.24, e.2.4 */
TEST_LOOP(disconnect_inside__both_ends_get_one_event, 2 * UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i % UP_POLICIES);
	inside_do(&in, _i / UP_POLICIES ? disconnects_gracefully : disconnects_abruptly);
	dt_ok(in.ret);
	dt_expect_disconnected(&in.pair.a);
	dt_expect_disconnected(&in.pair.b);
	dt_assert_stays_empty(in.pair.b.connect);
	dt_assert_empty(in.pair.a.connect);
	inside_close(&in);
}

static void
disconnects_and_waits(struct inside *in)
{
	in->ret = dat_ep_disconnect(in->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG);
	dt_expect_disconnected(&in->pair.b);
	in->second = dat_ep_reset(in->pair.b.ep);
}

/* clause: c.14.24, c.14.31, e.1.9 */
TEST_LOOP(disconnect_inside__waits_for_the_end_and_resets__works, UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i);
	inside_do(&in, disconnects_and_waits);
	dt_ok(in.ret);
	dt_ok(in.second);
	ck_assert_int_eq(dt_state(in.pair.b.ep), DAT_EP_STATE_UNCONNECTED);
	inside_close(&in);
}

static void
frees_endpoint(struct inside *in)
{
	DAT_EP_STATE state;

	in->ret = dat_ep_free(in->pair.b.ep);
	dt_assert_type(dat_ep_get_status(in->pair.b.ep, &state, NULL, NULL), DAT_INVALID_HANDLE);
}

/* clause: c.14.24, e.1.10 */
TEST_LOOP(ep_free_inside__the_other_end_gets_an_event_and_none_names_it, UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i);
	inside_do(&in, frees_endpoint);
	dt_ok(in.ret);
	dt_expect_disconnected(&in.pair.a);
	dt_assert_stays_empty(in.pair.b.connect);
	dt_assert_empty(in.pair.b.recv);
	inside_close(&in);
}

static void
makes_and_frees_endpoints(struct inside *in)
{
	for (int i = 0; i < 4; i++)
		dt_ok(dat_ep_free(dt_ep(&in->pair.b, NULL)));
	in->handle = dt_ep(&in->pair.b, NULL);
}

/* clause: c.14.24 */
TEST_LOOP(ep_create_inside__made_and_freed, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, makes_and_frees_endpoints);
	ck_assert_int_eq(dt_state(in.handle), DAT_EP_STATE_UNCONNECTED);
	dt_ok(dat_ep_free(in.handle));
	inside_close(&in);
}

static void
asks_endpoint(struct inside *in)
{
	DAT_EP_PARAM param;
	DAT_EP_STATE state;
	DAT_BOOLEAN idle;

	dt_ok(dat_ep_query(in->pair.b.ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.recv_evd_handle, in->pair.b.recv);
	dt_ok(dat_ep_get_status(in->pair.b.ep, &state, NULL, &idle));
	ck_assert_int_eq(state, DAT_EP_STATE_CONNECTED);
	ck_assert_int_eq(idle, DAT_TRUE);
}

/* clause: c.14.24 */
TEST_LOOP(ep_query_inside__returns_the_parameters, UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i);
	inside_do(&in, asks_endpoint);
	inside_close(&in);
}

/* ---- connecting ---- */

/* Side b, which has the upcall, connects to a: dt_pair_open() with the sides exchanged. */
static void
open_apart(struct inside *in, int index)
{
	inside_open(in, index);
	dt_side_open(&in->pair.a, "soft", DT_SEPARATE);
	dt_side_listen(&in->pair.a);
	in->paired = true;
}

static void
connects(struct inside *in)
{
	dt_connect(&in->pair.b, &in->pair.a, "hello", 6);
}

DT_CASE("inside-ep:connection");

/* clause: c.14.24 */
TEST_LOOP(connect_inside__is_established, UP_POLICIES)
{
	struct inside in;

	open_apart(&in, _i);
	inside_do(&in, connects);
	dt_ok(dat_cr_accept(dt_request(&in.pair.a), in.pair.a.ep, 0, NULL));
	dt_expect_established(&in.pair.a);
	dt_expect_established(&in.pair.b);
	inside_close(&in);
}

static void
connects_and_waits(struct inside *in)
{
	connects(in);
	dt_expect_established(&in->pair.b);
}

/* clause: c.14.24, c.14.31 */
TEST_LOOP(connect_inside__waits_for_it__is_established, UP_POLICIES)
{
	struct inside in;

	open_apart(&in, _i);
	inside_begin(&in, connects_and_waits);
	dt_ok(dat_cr_accept(dt_request(&in.pair.a), in.pair.a.ep, 0, NULL));
	inside_end(&in);
	dt_expect_established(&in.pair.a);
	inside_close(&in);
}

static void
listens(struct inside *in)
{
	dt_side_listen(&in->pair.b);
	in->handle = in->pair.b.psp;
}

static void
accepts(struct inside *in)
{
	in->ret = dat_cr_accept(in->handle, in->pair.b.ep, 0, NULL);
}

static void
rejects(struct inside *in)
{
	in->ret = dat_cr_reject(in->handle, 0, NULL);
}

static void
open_requested(struct inside *in, int index)
{
	inside_open(in, index);
	dt_side_open(&in->pair.a, "soft", DT_SEPARATE);
	in->paired = true;
	listens(in);
	dt_connect(&in->pair.a, &in->pair.b, NULL, 0);
	in->handle = dt_request(&in->pair.b);
}

/* clause: c.14.24, e.3.7 */
TEST_LOOP(accept_inside__is_established, UP_POLICIES)
{
	struct inside in;

	open_requested(&in, _i);
	inside_do(&in, accepts);
	dt_ok(in.ret);
	dt_expect_established(&in.pair.a);
	dt_expect_established(&in.pair.b);
	inside_close(&in);
}

/* clause: c.14.24, e.3.8 */
TEST_LOOP(reject_inside__the_client_gets_an_event, UP_POLICIES)
{
	struct inside in;

	open_requested(&in, _i);
	inside_do(&in, rejects);
	dt_ok(in.ret);
	dt_expect_connection(in.pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, in.pair.a.ep);
	inside_close(&in);
}

/* clause: c.14.24, e.3.3 */
TEST_LOOP(psp_create_inside__is_reached, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	dt_side_open(&in.pair.a, "soft", DT_SEPARATE);
	in.paired = true;
	inside_do(&in, listens);
	dt_connect(&in.pair.a, &in.pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&in.pair.b), in.pair.b.ep, 0, NULL));
	dt_expect_established(&in.pair.a);
	inside_close(&in);
}

static void
stops_listening(struct inside *in)
{
	in->ret = dat_psp_free(in->pair.b.psp);
	in->second = dat_evd_free(in->pair.b.cr);
}

/* clause: c.14.24, e.3.4 */
TEST_LOOP(psp_free_inside__later_requests_are_refused, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	dt_side_open(&in.pair.a, "soft", DT_SEPARATE);
	in.paired = true;
	listens(&in);
	inside_do(&in, stops_listening);
	dt_ok(in.ret);
	dt_ok(in.second);
	dt_connect(&in.pair.a, &in.pair.b, NULL, 0);
	dt_expect_connection(
	    in.pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, in.pair.a.ep);
	inside_close(&in);
}

/* ---- memory ---- */

static void
registers(struct inside *in)
{
	static char memory[256];
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_LMR_CONTEXT context;
	DAT_LMR_PARAM param;
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz;

	dt_ok(dat_pz_create(in->up.ia, &pz));
	dt_ok(dat_lmr_create(in->up.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &context, NULL, NULL, NULL));
	dt_ok(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &param));
	ck_assert_uint_eq(param.lmr_context, context);
	dt_assert_ret(dat_pz_free(pz), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	in->ret = dat_lmr_free(lmr);
	in->second = dat_pz_free(pz);
}

DT_CASE("inside-ep:memory");

/* clause: c.14.24, e.7.1 */
TEST_LOOP(lmr_inside__registered_and_freed, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, registers);
	dt_ok(in.ret);
	dt_ok(in.second);
	inside_close(&in);
}
