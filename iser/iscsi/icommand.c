/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/icommand.h"

#include "iser/iscsi/iconn_own.h"
#include "iser/iscsi/ijob.h"
#include "iser/iscsi/iprobe.h"
#include "iser/iscsi/response.h"
#include "iser/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TRIES 10 /* of a command that a busy target does not take; 3.2 s with what follows */
#define WAIT_FIRST (BELL_SECOND / 100) /* before the second; each time twice as long ... */
#define WAIT_MOST BELL_SECOND	       /* ... up to this */

static const unsigned char synchronize[16] = { 0x91 };
static const unsigned char test_unit_ready[16];

void
icommand_send(struct iconn *conn, unsigned int number, const unsigned char cdb[16], uint32_t reads,
    uint32_t writes)
{
	struct islot *slot = &conn->slots[number];
	const bool looks = number == conn->initiator->options->depth;
	const DAT_LMR_TRIPLET where = region_segment(
	    &conn->data, looks ? 0 : (size_t)number * conn->initiator->options->block_bytes, 0);
	const struct iser_header header = {
		.read_valid = reads > 0,
		.write_valid = writes > 0,
		.read_stag = conn->data.rmr_context,
		.write_stag = conn->data.rmr_context,
		.read_address = where.virtual_address,
		.write_address = where.virtual_address,
	};
	unsigned char *bhs;
	unsigned int send;

	slot->itt = ++conn->serial << 12 | number;
	slot->expected = reads + writes;
	/* What looks needs no room in the window. */
	bhs = iconn_request(conn, PDU_COMMAND | (looks ? PDU_IMMEDIATE : 0), slot->itt, 0, &send);
	if (!bhs)
		return;
	bhs[PDU_FLAGS] =
	    (unsigned char)(PDU_FINAL | 1 | (reads ? PDU_READ : 0) | (writes ? PDU_WRITE : 0));
	bhs[PDU_LUN] = (unsigned char)(conn->initiator->options->lun >> 8);
	bhs[PDU_LUN + 1] = (unsigned char)conn->initiator->options->lun;
	wire_put32(bhs + PDU_EXPECTED, reads + writes);
	wire_put32(bhs + PDU_CMDSN, looks ? conn->cmdsn : conn->cmdsn++);
	memcpy(bhs + PDU_CDB, cdb, 16);
	mover_send(&conn->mover, send, 0, &header, NULL);
}

void
icommand_flush(struct iconn *conn)
{
	conn->flushing = true;
	conn->slots[0].tries = 0;
	icommand_send(conn, 0, synchronize, 0, 0);
}

/*
 * If a reset has aborted all commands there are, none is left that the target could answer with the
 * unit attention.
 */
void
icommand_look(struct iconn *conn)
{
	const unsigned int look = conn->initiator->options->depth;
	bool outstanding = false;

	for (unsigned int i = 0; i < look; i++)
		outstanding |= conn->slots[i].itt != PDU_NO_TAG;
	conn->slots[look].tries = 0;
	if (outstanding && !conn->answered && conn->slots[look].itt == PDU_NO_TAG)
		icommand_send(conn, look, test_unit_ready, 0, 0);
	conn->answered = false;
}

void
icommand_failed(struct iconn *conn, const struct response *response)
{
	char why[256];

	snprintf(why, sizeof why, "a command fails: %s", response->text);
	iconn_fail(conn, why);
}

/* The command of the slot goes to the target again in so many nanoseconds. */
static void
icommand_again(struct iconn *conn, unsigned int number, uint64_t nanoseconds)
{
	conn->slots[number].waits = true;
	conn->waiting++;
	atomic_store(&conn->again_at, bell_now() + nanoseconds);
	bell_ring(conn->initiator->bell);
}

void
icommand_busy(struct iconn *conn, unsigned int number, const struct response *response)
{
	const unsigned int tries = ++conn->slots[number].tries;
	const uint64_t wait = WAIT_FIRST << (tries - 1);
	char why[256];

	if (tries < TRIES) {
		icommand_again(conn, number, wait < WAIT_MOST ? wait : WAIT_MOST);
		return;
	}
	snprintf(why, sizeof why, "the target does not take a command, %u times in turn: %s", tries,
	    response->text);
	iconn_fail(conn, why);
}

void
icommand_send_waiting(struct iconn *conn)
{
	for (unsigned int i = 0; i < conn->initiator->options->depth && conn->waiting > 0; i++) {
		if (!conn->slots[i].waits)
			continue;
		if (!iconn_has_window(conn)) {
			atomic_store(&conn->again_at, bell_now() + WAIT_FIRST);
			bell_ring(conn->initiator->bell);
			return;
		}
		conn->slots[i].waits = false;
		conn->waiting--;
		if (iconn_state(conn) == ICONN_PROBING)
			iprobe_ask(conn);
		else if (conn->flushing)
			icommand_send(conn, i, synchronize, 0, 0);
		else
			ijob_transfer(conn, i);
	}
	if (iconn_state(conn) == ICONN_COPYING && !conn->flushing)
		ijob_go_on(conn);
}

/*
 * A reset, or another initiator, has aborted the commands that the target had, and no answer to
 * them will come (SAM-5 5.6).  Those that it got after that are answered.
 */
static void
send_aborted_again(struct iconn *conn, uint32_t answered)
{
	for (unsigned int i = 0; i < conn->initiator->options->depth; i++) {
		struct islot *slot = &conn->slots[i];

		/* Tags grow as CmdSN does. */
		if (slot->itt == PDU_NO_TAG || (int32_t)(slot->itt - answered) >= 0)
			continue;
		if (++slot->tries >= TRIES) {
			iconn_fail(conn, "a command is aborted again and again");
			return;
		}
		slot->given_up = slot->itt;
		slot->itt = PDU_NO_TAG;
		icommand_again(conn, i, 0);
	}
}

static void
take_attention(
    struct iconn *conn, unsigned int number, uint32_t itt, const struct response *response)
{
	const bool writes = conn->initiator->writes;
	char why[256];

	if (response->verdict == RESPONSE_CHANGED ||
	    (response->verdict == RESPONSE_RESET && writes)) {
		snprintf(why, sizeof why, "a unit attention: %s; %s", response->text,
		    response->verdict == RESPONSE_RESET ? "what was written before may be lost" :
							  "the LUN may have changed");
		iconn_fail(conn, why);
	} else if (++conn->slots[number].tries >= TRIES) {
		icommand_failed(conn, response);
	} else {
		say("connection %u: a unit attention: %s; the copy goes on", conn->mover.index,
		    response->text);
		if (number < conn->initiator->options->depth)
			icommand_again(conn, number, 0);
		if (response->aborts)
			send_aborted_again(conn, itt);
	}
}

static void
take_done(struct iconn *conn, unsigned int number, uint32_t moved)
{
	const uint32_t expected = conn->slots[number].expected;
	char why[128];

	if (moved < expected) {
		snprintf(why, sizeof why,
		    "the target has moved %" PRIu32 " of the %" PRIu32
		    " bytes of a command, and says that it is done",
		    moved, expected);
		iconn_fail(conn, why);
	} else if (conn->flushing) {
		conn->flushing = false;
		iconn_set_state(conn, ICONN_IDLE);
	} else {
		ijob_copied(conn, number);
	}
}

void
icommand_take(struct iconn *conn, const unsigned char *pdu)
{
	const uint32_t itt = wire_get32(pdu + PDU_ITT);
	const unsigned int number = itt & 0xfff, look = conn->initiator->options->depth;
	struct response response;

	conn->answered = true;
	if (number <= look && conn->slots[number].given_up == itt)
		return; /* it was answered before it would have been aborted */
	if (number > look || conn->slots[number].itt != itt) {
		iconn_fail(conn, "the target answers a command that is not outstanding");
		return;
	}
	conn->slots[number].itt = PDU_NO_TAG;
	response_take(&response, pdu, conn->slots[number].expected);
	atomic_store(&conn->is_refused, response.verdict == RESPONSE_BUSY);
	if (iconn_state(conn) == ICONN_PROBING)
		iprobe_take(conn, &response);
	else if (number == look && response.verdict <= RESPONSE_BUSY)
		; /* there is no news */
	else if (response.verdict == RESPONSE_DONE)
		take_done(conn, number, response.moved);
	else if (response.verdict == RESPONSE_BUSY)
		icommand_busy(conn, number, &response);
	else if (response.verdict == RESPONSE_FAILED)
		icommand_failed(conn, &response);
	else
		take_attention(conn, number, itt, &response);
}
