/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/iconn.h"

#include "iser/iscsi/icommand.h"
#include "iser/iscsi/iconn_own.h"
#include "iser/iscsi/ijob.h"
#include "iser/iscsi/ilogin.h"
#include "iser/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECV_BYTES 8192
#define PINGS 4 /* and TEST UNIT READY */
#define LOOK BELL_SECOND
#define CONNECT_MOST 60 /* seconds */

static struct iconn *
conn_of(struct mover *mover)
{
	return (struct iconn *)mover; /* its first member */
}

enum iconn_state
iconn_state(struct iconn *conn)
{
	return (enum iconn_state)atomic_load(&conn->state);
}

void
iconn_set_state(struct iconn *conn, enum iconn_state state)
{
	atomic_store(&conn->state, (int)state);
	bell_ring(conn->initiator->bell);
}

void
iconn_fail(struct iconn *conn, const char *what)
{
	atomic_store(&conn->initiator->failed, true);
	mover_fail(&conn->mover, "%s", what);
}

unsigned char *
iconn_request(
    struct iconn *conn, unsigned char opcode, uint32_t itt, size_t bytes, unsigned int *slot)
{
	unsigned char *bhs = mover_send_buffer(&conn->mover, bytes, slot);

	if (!bhs) {
		iconn_fail(conn, "no send is left");
		return NULL;
	}
	bhs[0] = opcode;
	bhs[PDU_FLAGS] = PDU_FINAL;
	wire_put24(bhs + PDU_DATA, (uint32_t)bytes);
	wire_put32(bhs + PDU_ITT, itt);
	wire_put32(bhs + PDU_EXPSTATSN, conn->expstatsn);
	return bhs;
}

bool
iconn_has_window(struct iconn *conn)
{
	return !sn_before(conn->maxcmdsn, conn->cmdsn) && mover_state(&conn->mover) == MOVER_UP;
}

unsigned char *
iconn_buffer(struct iconn *conn, unsigned int number)
{
	return conn->data.base + (size_t)number * conn->initiator->options->block_bytes;
}

/* ---- the mover ---- */

static void
answer_ping(struct iconn *conn, const unsigned char *pdu)
{
	unsigned int slot;
	unsigned char *bhs;

	if (wire_get32(pdu + PDU_TTT) == PDU_NO_TAG)
		return;
	bhs = iconn_request(conn, PDU_NOP_OUT | PDU_IMMEDIATE, PDU_NO_TAG, 0, &slot);
	if (!bhs)
		return;
	memcpy(bhs + PDU_LUN, pdu + PDU_LUN, 8);
	memcpy(bhs + PDU_TTT, pdu + PDU_TTT, 4);
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn);
	mover_send(&conn->mover, slot, 0, NULL, NULL);
}

/* RFC 7143 11.9.1 */
enum async_event {
	ASYNC_SCSI = 0, /* with sense data: a unit attention says what matters */
	ASYNC_LOGOUT = 1,
	ASYNC_DROPS_CONNECTION = 2,
	ASYNC_DROPS_SESSION = 3,
	ASYNC_NEGOTIATE = 4,
	ASYNC_ENDS_TASKS = 5,
	ASYNC_VENDOR = 248, /* and all above */
};

static void
take_async(struct iconn *conn, const unsigned char *pdu)
{
	static const char *const what[] = {
		[ASYNC_LOGOUT] = "asks for a logout",
		[ASYNC_DROPS_CONNECTION] = "ends the connection",
		[ASYNC_DROPS_SESSION] = "ends the session",
		[ASYNC_NEGOTIATE] = "asks for a negotiation",
		[ASYNC_ENDS_TASKS] = "ends the commands of a LUN",
	};
	const unsigned int event = pdu[36];
	char why[64];

	if (event == ASYNC_SCSI || event >= ASYNC_VENDOR)
		return;
	snprintf(why, sizeof why, "the target %s (asynchronous event %u)",
	    event <= ASYNC_ENDS_TASKS ? what[event] : "does what is not known", event);
	iconn_fail(conn, why);
}

static void
on_established(struct mover *mover)
{
	ilogin_begin(conn_of(mover));
}

static void
on_control(struct mover *mover, unsigned int slot, const struct iser_header *header,
    unsigned char *pdu, size_t length)
{
	struct iconn *conn = conn_of(mover);
	const bool ping = (pdu[0] & PDU_OPCODE) == PDU_NOP_IN;

	(void)header;
	if (pdu[PDU_AHS] || ISCSI_BHS_BYTES + wire_get24(pdu + PDU_DATA) > length) {
		iconn_fail(conn, "an answer is shorter than it says");
		return;
	}
	if (!ping)
		conn->expstatsn = wire_get32(pdu + PDU_STATSN) + 1;
	if (sn_before(conn->maxcmdsn, wire_get32(pdu + PDU_MAXCMDSN)))
		conn->maxcmdsn = wire_get32(pdu + PDU_MAXCMDSN);
	switch (pdu[0] & PDU_OPCODE) {
	case PDU_LOGIN_ANSWER:
		ilogin_take(conn, pdu, length);
		break;
	case PDU_RESPONSE:
		icommand_take(conn, pdu);
		break;
	case PDU_NOP_IN:
		answer_ping(conn, pdu);
		break;
	case PDU_LOGOUT_ANSWER:
		mover_close(mover);
		break;
	case PDU_ASYNC:
		take_async(conn, pdu);
		break;
	default:
		iconn_fail(conn, "the target rejects a request");
		break;
	}
	mover_post_recv(mover, slot);
}

static void
leave(struct iconn *conn)
{
	unsigned int slot;
	unsigned char *bhs;

	if (iconn_state(conn) != ICONN_IDLE) {
		mover_fail(&conn->mover, "given up");
		return;
	}
	iconn_set_state(conn, ICONN_LEAVING);
	bhs = iconn_request(conn, PDU_LOGOUT | PDU_IMMEDIATE, PDU_NO_TAG - 1, 0, &slot);
	if (!bhs)
		return;
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn);
	mover_send(&conn->mover, slot, 0, NULL, NULL);
}

static void
on_ordered(struct mover *mover, struct mover_order *order)
{
	struct iconn *conn = conn_of(mover);

	atomic_store(&conn->posted[order->what], false);
	if (mover_state(mover) >= MOVER_CLOSING)
		return;
	if (order->what == ICONN_LEAVE) {
		leave(conn);
	} else if (order->what == ICONN_AGAIN) {
		icommand_send_waiting(conn);
	} else if (order->what == ICONN_LOOK) {
		icommand_look(conn);
	} else if (order->what == ICONN_FLUSH) {
		icommand_flush(conn);
	} else {
		histogram_clear(&conn->latency);
		ijob_go_on(conn);
		ijob_rest(conn);
	}
}

static void
on_sent(struct mover *mover, void *owner)
{
	(void)mover;
	(void)owner;
}

static void
on_closed(struct mover *mover)
{
	struct iconn *conn = conn_of(mover);

	if (!mover->clean) {
		say("connection %u: %s", mover->index,
		    mover->reason[0] ? mover->reason : "the target ended the connection");
		atomic_store(&conn->initiator->failed, true);
	}
}

static const struct mover_ops iconn_ops = {
	.established = on_established,
	.control = on_control,
	.sent = on_sent,
	.moved = on_sent,
	.ordered = on_ordered,
	.closed = on_closed,
};

/* ---- life ---- */

static void
release(struct iconn *conn)
{
	region_free(&conn->data);
	free(conn->slots);
	free(conn->free_slots);
	free(conn);
}

struct iconn *
iconn_new(struct initiator *initiator, unsigned int index)
{
	const struct initiator_options *options = initiator->options;
	const struct mover_shape shape = {
		.recvs = options->depth + PINGS,
		.recv_bytes = RECV_BYTES,
		.sends = options->depth + PINGS,
		.send_bytes = 2048,
		.moves = 1,
		.move_bytes = options->block_bytes,
	};
	struct iconn *conn = calloc(1, sizeof *conn);
	const char *call = "dat_lmr_create";
	DAT_RETURN ret;

	if (conn) {
		conn->slots = calloc(options->depth + 1, sizeof *conn->slots);
		conn->free_slots = calloc(options->depth, sizeof *conn->free_slots);
	}
	if (!conn || !conn->slots || !conn->free_slots) {
		say("connection %u: no memory", index);
		if (conn)
			release(conn);
		return NULL;
	}
	conn->initiator = initiator;
	conn->cmdsn = 1;
	conn->serial = (uint32_t)(bell_now() >> 10) & 0xffffff;
	for (unsigned int i = 0; i <= options->depth; i++)
		conn->slots[i].itt = conn->slots[i].given_up = PDU_NO_TAG;
	for (unsigned int i = options->depth; i-- > 0;)
		conn->free_slots[conn->free_count++] = i;
	for (int i = 0; i < ICONN_ORDERS; i++)
		conn->orders[i].what = i;
	ret = region_create(&conn->data, initiator->adapter.ia, initiator->adapter.pz,
	    (size_t)options->depth * options->block_bytes, DAT_MEM_PRIV_ALL_FLAG);
	if (ret == DAT_SUCCESS)
		ret = mover_create(
		    &conn->mover, &initiator->adapter, NULL, &iconn_ops, index, &shape, &call);
	if (ret != DAT_SUCCESS) {
		say_dat(call, ret, "connection %u cannot be set up", index);
		release(conn);
		return NULL;
	}
	return conn;
}

int
iconn_connect(struct iconn *conn)
{
	const struct initiator_options *options = conn->initiator->options;
	DAT_RETURN ret;

	iconn_set_state(conn, ICONN_CONNECTING);
	ret = mover_connect(&conn->mover, options->address, options->port,
	    (options->timeout < CONNECT_MOST ? options->timeout : CONNECT_MOST) * 1000000);
	if (ret != DAT_SUCCESS)
		say_dat("dat_ep_connect", ret, "connection %u cannot be made", conn->mover.index);
	return ret == DAT_SUCCESS ? 0 : -1;
}

void
iconn_order(struct iconn *conn, enum iconn_order order)
{
	if (order != ICONN_LEAVE)
		atomic_store(&conn->state, ICONN_COPYING); /* before it is awaited */
	mover_post(&conn->mover, &conn->orders[order]);
}

/* The order is posted, unless it is there already. */
static void
post_once(struct iconn *conn, enum iconn_order order)
{
	if (!atomic_exchange(&conn->posted[order], true))
		mover_post(&conn->mover, &conn->orders[order]);
}

uint64_t
iconn_send_again(struct iconn *conn, uint64_t now)
{
	unsigned long long at = atomic_load(&conn->again_at);
	uint64_t next = mover_drain(&conn->mover) ? now + BELL_SECOND / 100 : UINT64_MAX;

	if (iconn_state(conn) == ICONN_COPYING) {
		if (now >= conn->look_at) {
			conn->look_at = now + LOOK;
			post_once(conn, ICONN_LOOK);
		}
		if (conn->look_at < next)
			next = conn->look_at;
	}
	if (at > now)
		return at < next ? at : next;
	if (at && atomic_compare_exchange_strong(&conn->again_at, &at, 0))
		post_once(conn, ICONN_AGAIN);
	return next;
}

bool
iconn_is_refused(struct iconn *conn)
{
	return atomic_load(&conn->is_refused);
}

const struct histogram *
iconn_latency(const struct iconn *conn)
{
	return &conn->latency;
}

bool
iconn_is_finished(struct iconn *conn)
{
	(void)mover_drain(&conn->mover);
	return mover_is_finished(&conn->mover);
}

int
iconn_free(struct iconn *conn)
{
	int failures;
	DAT_RETURN ret;

	watch_stop(&conn->mover.watch);
	failures = mover_free(&conn->mover);
	ret = region_free(&conn->data);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_lmr_free", ret, "connection %u was not freed", conn->mover.index);
		failures++;
	}
	release(conn);
	return failures;
}
