/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection on a DAT that does what the test says. */
#include "fake_dat.h"
#include "lib/runner.h"

#include "iser/datamover/adapter.h"
#include "iser/datamover/bell.h"
#include "iser/datamover/mover.h"

#include <string.h>

#define RECVS 3u
#define BYTES 512u

static struct bell bell;
static struct adapter adapter;
static struct mover mover;
static unsigned int established, controls, sents, ordered, closed;
static struct iser_header got;
static int owner;

static void
on_established(struct mover *m)
{
	(void)m;
	established++;
}

static void
on_control(struct mover *m, unsigned int slot, const struct iser_header *header, unsigned char *pdu,
    size_t length)
{
	ck_assert_uint_eq(length, ISCSI_BHS_BYTES + 4);
	ck_assert_int_eq(pdu[ISCSI_BHS_BYTES], 'd');
	got = *header;
	controls++;
	mover_post_recv(m, slot);
}

static void
on_sent(struct mover *m, void *who)
{
	(void)m;
	ck_assert_ptr_eq(who, &owner);
	sents++;
}

static void
on_ordered(struct mover *m, struct mover_order *order)
{
	(void)m, (void)order;
	ordered++;
}

static void
on_closed(struct mover *m)
{
	(void)m;
	closed++;
}

static const struct mover_ops ops = {
	.established = on_established,
	.control = on_control,
	.sent = on_sent,
	.moved = on_sent,
	.ordered = on_ordered,
	.closed = on_closed,
};

static void
setup(void)
{
	const struct mover_shape shape = {
		.recvs = RECVS,
		.recv_bytes = BYTES,
		.sends = 2,
		.send_bytes = BYTES,
		.moves = 1,
		.move_bytes = BYTES,
	};
	const char *call;

	fake_reset();
	established = controls = sents = ordered = closed = 0;
	ck_assert_int_eq(bell_init(&bell), 0);
	memset(&adapter, 0, sizeof adapter);
	adapter.bell = &bell;
	ck_assert_uint_eq(
	    mover_create(&mover, &adapter, NULL, &ops, 0, &shape, &call), DAT_SUCCESS);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS);
	ck_assert_uint_eq(mover_connect(&mover, NULL, 0, 0), DAT_SUCCESS);
	fake_queue_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
	fake_run();
	ck_assert_uint_eq(established, 1);
}

static void
flush(void)
{
	while (fake.works > 0) {
		ck_assert(!mover_is_finished(&mover));
		fake_complete(fake.work[0].kind, DAT_DTO_ERR_FLUSHED);
	}
	ck_assert(mover_is_finished(&mover));
}

static void
teardown(void)
{
	flush();
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(mover_free(&mover), 0);
	ck_assert_int_eq(fake.lmrs + fake.evds + fake.eps, 0);
	bell_fini(&bell);
}

static bool
send_one(void)
{
	unsigned int slot;
	unsigned char *bhs = mover_send_buffer(&mover, 4, &slot);

	ck_assert_ptr_nonnull(bhs);
	memcpy(bhs + ISCSI_BHS_BYTES, "data", 4);
	return mover_send(&mover, slot, 4, NULL, &owner);
}

static void
receive(unsigned char first)
{
	unsigned char wire[ISER_HEADER_BYTES + ISCSI_BHS_BYTES + 4] = { 0 };
	const struct iser_header header = { .write_valid = true,
		.write_stag = 0x01020304,
		.write_address = UINT64_C(0x1112131415161718) };

	iser_header_encode(&header, wire);
	wire[0] ^= first;
	wire[ISER_HEADER_BYTES + ISCSI_BHS_BYTES] = 'd';
	fake_receive(wire, sizeof wire);
}

static void
gone(void)
{
	fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	ck_assert_int_eq(mover_state(&mover), MOVER_CLOSED);
}

CASE("iser-mover:connection", setup, teardown);

TEST(mover__pdus__arrive_with_their_header_and_leave_with_their_data)
{
	receive(0);
	ck_assert_uint_eq(controls, 1);
	ck_assert(got.write_valid && !got.read_valid);
	ck_assert_uint_eq(got.write_stag, 0x01020304);
	ck_assert_uint_eq(got.write_address, UINT64_C(0x1112131415161718));
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS);
	ck_assert(send_one());
	ck_assert_mem_eq(
	    (const char *)fake_sent() + ISER_HEADER_BYTES + ISCSI_BHS_BYTES, "data", 4);
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	ck_assert_uint_eq(sents, 1);
	mover_close(&mover);
	ck_assert_int_eq(fake.disconnect_how, DAT_CLOSE_GRACEFUL_FLAG);
	gone();
	ck_assert(mover.clean);
}

TEST(mover__post_that_fails__ends_the_connection_with_the_reason)
{
	fake.fail_post = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	ck_assert(!send_one());
	ck_assert_int_eq(fake.disconnects, 1);
	ck_assert_int_eq(fake.disconnect_how, DAT_CLOSE_ABRUPT_FLAG);
	ck_assert_ptr_nonnull(strstr(mover.reason, "dat_ep_post_send"));
	gone();
	ck_assert(!mover.clean);
}

TEST(mover__request_that_fails__is_the_reason_and_flushes_are_not)
{
	ck_assert(send_one());
	fake_complete(DAT_DTO_RECEIVE, DAT_DTO_ERR_FLUSHED);
	ck_assert_int_eq(mover_state(&mover), MOVER_UP);
	fake_complete(DAT_DTO_SEND, DAT_DTO_ERR_REMOTE_ACCESS);
	ck_assert_int_eq(mover_state(&mover), MOVER_CLOSING);
	ck_assert_ptr_nonnull(strstr(mover.reason, "REMOTE_ACCESS"));
	ck_assert_uint_eq(sents, 0);
	gone();
}

TEST(mover__bytes_that_are_no_pdu__end_the_connection)
{
	receive(0xff);
	ck_assert_uint_eq(controls, 0);
	ck_assert_int_eq(mover_state(&mover), MOVER_CLOSING);
	gone();
}

TEST(mover__closed_by_this_side__ignores_what_still_arrives)
{
	mover_close(&mover);
	receive(0);
	ck_assert_uint_eq(controls, 0);
	ck_assert_int_eq(fake_posted(DAT_DTO_RECEIVE), RECVS - 1); /* it is not given back */
	mover_close(&mover);
	ck_assert_int_eq(fake.disconnects, 1);
	gone();
}

/* The close stays graceful: what was sent before arrives.  The buffer is free again. */
/* origin: out37.EE2 */
TEST(mover__something_is_sent_while_it_closes__is_not_posted)
{
	ck_assert(send_one());
	mover_close(&mover);
	fake.fail_post = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING);
	for (int i = 0; i < 3; i++)
		ck_assert(!send_one());
	ck_assert_int_eq(fake.disconnects, 1);
	fake_complete(DAT_DTO_SEND, DAT_DTO_SUCCESS);
	gone();
	ck_assert(mover.clean);
}

TEST(mover__peer_that_vanishes__is_finished_when_all_has_completed)
{
	struct mover_order order = { .what = 1 };

	ck_assert(send_one());
	gone();
	ck_assert(!mover.clean);
	ck_assert_ptr_nonnull(strstr(mover.reason, "DISCONNECTED"));
	mover_post(&mover, &order); /* orders are taken even now */
	ck_assert(!mover_is_finished(&mover));
	fake_run();
	ck_assert_uint_eq(ordered, 1);
}
