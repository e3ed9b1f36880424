/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/iconn.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/datamover/mover.h"
#include "iser/iscsi/chap.h"
#include "iser/iscsi/initiator.h"
#include "iser/iscsi/pdu.h"
#include "iser/iscsi/response.h"
#include "iser/iscsi/text.h"
#include "iser/scsi/file.h"
#include "iser/scsi/scsi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECV_BYTES 8192
#define PINGS 4
#define CONNECT_MOST 60 /* seconds */
#define PROBE_TRIES 16	/* unit attentions are answered by asking again */
#define TRIES 10	/* of a command that a busy target does not take; 3.2 s with what follows */
#define WAIT_FIRST (BELL_SECOND / 100) /* before the second; each time twice as long ... */
#define WAIT_MOST BELL_SECOND	       /* ... up to this */
#define MARK_BYTES sizeof(uint64_t)

enum question {
	TEST_UNIT_READY,
	CAPACITY,
	LIMITS,
	QUESTIONS,
};

struct islot {
	uint32_t itt, bytes;  /* of the file */
	uint32_t expected;    /* bytes that the command moves */
	uint64_t at, sent_at; /* in the file; when */
	unsigned int tries;
	bool waits; /* to be sent again */
};

struct iconn {
	struct mover mover; /* first: the upcall gets its address */
	struct initiator *initiator;
	atomic_int state;
	struct mover_order orders[ICONN_ORDERS];
	struct region data; /* a block of each slot */
	struct islot *slots;
	unsigned int *free_slots, free_count;
	uint32_t cmdsn, maxcmdsn, expstatsn, serial;
	enum question question;
	unsigned int tries, waiting; /* slots that wait */
	atomic_ullong again_at; /* [any] bell_now() time of the next order to send them; 0: none */
	atomic_bool again_posted; /* [any] */
	bool flushing;
	struct histogram latency;
};

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

static void
set_state(struct iconn *conn, enum iconn_state state)
{
	atomic_store(&conn->state, (int)state);
	bell_ring(conn->initiator->bell);
}

static void
fail(struct iconn *conn, const char *what)
{
	atomic_store(&conn->initiator->failed, true);
	mover_fail(&conn->mover, "%s", what);
}

/* ---- requests ---- */

static unsigned char *
request(struct iconn *conn, unsigned char opcode, uint32_t itt, size_t bytes, unsigned int *slot)
{
	unsigned char *bhs = mover_send_buffer(&conn->mover, bytes, slot);

	if (!bhs) {
		fail(conn, "no send is left");
		return NULL;
	}
	bhs[0] = opcode;
	bhs[PDU_FLAGS] = PDU_FINAL;
	wire_put24(bhs + PDU_DATA, (uint32_t)bytes);
	wire_put32(bhs + PDU_ITT, itt);
	wire_put32(bhs + PDU_EXPSTATSN, conn->expstatsn);
	return bhs;
}

static void
send_login(struct iconn *conn, unsigned char flags, const struct text_out *text)
{
	const unsigned int index = conn->mover.index;
	unsigned char *bhs;
	unsigned int slot;

	bhs =
	    text->overflow ? NULL : request(conn, PDU_LOGIN | PDU_IMMEDIATE, 1, text->used, &slot);
	if (!bhs)
		return;
	bhs[PDU_FLAGS] = flags;
	/* An ISID of the random kind: 0x80, three bytes of the process, two of the connection. */
	bhs[8] = 0x80;
	wire_put24(bhs + 9, conn->serial);
	wire_put16(bhs + 12, (uint16_t)index);
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn);
	memcpy(bhs + ISCSI_BHS_BYTES, text->at, text->used);
	mover_send(&conn->mover, slot, text->used, NULL, NULL);
}

static void
add_names(const struct iconn *conn, struct text_out *out)
{
	text_add(out, "InitiatorName", conn->initiator->options->name);
	text_add(out, "TargetName", conn->initiator->options->target);
	text_add(out, "SessionType", "Normal");
}

static void
login_operational(struct iconn *conn, bool names)
{
	static const char *const keys[][2] = {
		{ "HeaderDigest", "None" },
		{ "DataDigest", "None" },
		{ "MaxConnections", "1" },
		{ "InitialR2T", "Yes" },
		{ "ImmediateData", "No" },
		{ "MaxOutstandingR2T", "1" },
		{ "MaxBurstLength", "262144" },
		{ "DefaultTime2Wait", "0" },
		{ "DefaultTime2Retain", "0" },
		{ "ErrorRecoveryLevel", "0" },
		{ "RDMAExtensions", "Yes" },
		{ "InitiatorRecvDataSegmentLength", "8192" },
		{ "TargetRecvDataSegmentLength", "8192" },
	};
	char text[2048];
	struct text_out out = { .at = text, .size = sizeof text };

	if (names)
		add_names(conn, &out);
	for (unsigned int i = 0; i < sizeof keys / sizeof keys[0]; i++)
		text_add(&out, keys[i][0], keys[i][1]);
	set_state(conn, ICONN_OPERATIONAL);
	send_login(conn, PDU_FINAL | 1 << 2 | 3, &out);
}

/* ---- login ---- */

static const char *
value_of(const struct text_pair *pairs, int count, const char *key)
{
	for (int i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

static void
answer_challenge(struct iconn *conn, const char *algorithm, const char *id, const char *challenge)
{
	const struct initiator_options *options = conn->initiator->options;
	unsigned char bytes[1024], response[CHAP_RESPONSE];
	char text[512], hex[2 * CHAP_RESPONSE + 3] = "0x";
	struct text_out out = { .at = text, .size = sizeof text };
	uint64_t method, number;
	int length = text_binary(challenge, bytes, sizeof bytes), n = -1;

	if (text_number(algorithm, 255, &method) && id && text_number(id, 255, &number) &&
	    length > 0)
		n = chap_respond((int)method, (unsigned char)number, options->secret, bytes,
		    (size_t)length, response);
	if (n < 0) {
		fail(conn, "the target's challenge makes no sense");
		return;
	}
	for (int i = 0; i < n; i++)
		sprintf(hex + 2 + 2 * i, "%02x", response[i]);
	text_add(&out, "CHAP_N", options->user);
	text_add(&out, "CHAP_R", hex);
	send_login(conn, PDU_FINAL | 1, &out);
}

static void
take_security(struct iconn *conn, const struct text_pair *pairs, int count, bool transit)
{
	const char *method = value_of(pairs, count, "AuthMethod");
	const char *challenge = value_of(pairs, count, "CHAP_C");
	const char *algorithm = value_of(pairs, count, "CHAP_A");
	char text[64];
	struct text_out out = { .at = text, .size = sizeof text };

	if (transit) {
		login_operational(conn, false);
	} else if (challenge && algorithm) {
		answer_challenge(conn, algorithm, value_of(pairs, count, "CHAP_I"), challenge);
	} else if (method && strcmp(method, "CHAP") == 0) {
		text_add(&out, "CHAP_A", "7,5");
		send_login(conn, 0, &out);
	} else {
		fail(conn, "the target does not take CHAP");
	}
}

static void ask(struct iconn *conn);

static void
take_login(struct iconn *conn, unsigned char *pdu, size_t length)
{
	const unsigned int status = wire_get16(pdu + 36);
	const bool transit = pdu[PDU_FLAGS] & PDU_FINAL;
	struct text_pair pairs[TEXT_PAIRS];
	char why[64];
	int count;

	if (status != LOGIN_OK) {
		snprintf(why, sizeof why, "the target refuses the login: %s (0x%04x)",
		    status == LOGIN_NOT_AUTHENTICATED ? "not authenticated" :
		    status == LOGIN_NOT_FOUND	      ? "no such target" :
							"see RFC 7143, 11.13.5",
		    status);
		fail(conn, why);
		return;
	}
	count = text_split((char *)pdu + ISCSI_BHS_BYTES, wire_get24(pdu + PDU_DATA), pairs);
	(void)length; /* checked */
	if (count < 0) {
		fail(conn, "the target's answer to the login is no text");
	} else if (iconn_state(conn) == ICONN_SECURITY) {
		take_security(conn, pairs, count, transit);
	} else if (!transit || !value_of(pairs, count, "RDMAExtensions")) {
		fail(conn, "the target does not agree to RDMAExtensions=Yes");
	} else {
		set_state(conn, ICONN_PROBING);
		ask(conn);
	}
}

/* ---- commands ---- */

static void
command(struct iconn *conn, unsigned int number, const unsigned char cdb[16], uint32_t reads,
    uint32_t writes)
{
	struct islot *slot = &conn->slots[number];
	const DAT_LMR_TRIPLET where =
	    region_segment(&conn->data, (size_t)number * conn->initiator->options->block_bytes, 0);
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
	bhs = request(conn, PDU_COMMAND, slot->itt, 0, &send);
	if (!bhs)
		return;
	bhs[PDU_FLAGS] =
	    (unsigned char)(PDU_FINAL | 1 | (reads ? PDU_READ : 0) | (writes ? PDU_WRITE : 0));
	bhs[PDU_LUN] = (unsigned char)(conn->initiator->options->lun >> 8);
	bhs[PDU_LUN + 1] = (unsigned char)conn->initiator->options->lun;
	wire_put32(bhs + PDU_EXPECTED, reads + writes);
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn++);
	memcpy(bhs + PDU_CDB, cdb, 16);
	mover_send(&conn->mover, send, 0, &header, NULL);
}

static unsigned char *
buffer(struct iconn *conn, unsigned int number)
{
	return conn->data.base + (size_t)number * conn->initiator->options->block_bytes;
}

static void
ask(struct iconn *conn)
{
	static const unsigned char cdbs[QUESTIONS][16] = {
		[TEST_UNIT_READY] = { 0x00 },
		[CAPACITY] = { 0x9e, 0x10, [13] = 32 },
		[LIMITS] = { 0x12, 0x01, 0xb0, 0, 64 },
	};
	static const uint32_t reads[QUESTIONS] = { 0, 32, 64 };

	memset(buffer(conn, 0), 0, 64);
	command(conn, 0, cdbs[conn->question], reads[conn->question], 0);
}

static void
probed(struct iconn *conn, uint32_t moved)
{
	struct initiator *initiator = conn->initiator;
	const unsigned char *data = buffer(conn, 0);

	if (conn->question == CAPACITY) {
		if (moved < 12) {
			fail(conn, "the target does not say how many blocks the LUN has");
			return;
		}
		initiator->blocks = scsi_get64(data) + 1;
		initiator->block_bytes = scsi_get32(data + 8);
		initiator->most = initiator->options->block_bytes;
		if (initiator->block_bytes < 512 || initiator->most % initiator->block_bytes) {
			fail(conn, "the blocks of the LUN are not a part of --block-size");
			return;
		}
		if (initiator->blocks == 0 ||
		    initiator->blocks > INT64_MAX / initiator->block_bytes) {
			fail(conn, "the LUN has more blocks than there can be");
			return;
		}
	} else if (conn->question == LIMITS && moved >= 12) {
		const uint64_t limit = (uint64_t)scsi_get32(data + 8) * initiator->block_bytes;

		if (limit && limit < initiator->most)
			initiator->most = (uint32_t)limit;
	}
	if (++conn->question < QUESTIONS)
		ask(conn);
	else
		set_state(conn, ICONN_IDLE);
}

/*
 * Nothing tells the initiator what an RDMA write has placed.  So each block of a read ends with a
 * number that no block can have by chance, until the target's data take its place.
 */
static void
mark(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	unsigned char *data = buffer(conn, number);

	for (uint32_t end = initiator->block_bytes; end <= conn->slots[number].expected;
	     end += initiator->block_bytes)
		memcpy(data + end - MARK_BYTES, &initiator->mark, MARK_BYTES);
}

static bool
came(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	const unsigned char *data = buffer(conn, number);

	for (uint32_t end = initiator->block_bytes; end <= conn->slots[number].expected;
	     end += initiator->block_bytes)
		if (memcmp(data + end - MARK_BYTES, &initiator->mark, MARK_BYTES) == 0)
			return false;
	return true;
}

/* The command of the slot: what it writes is in its buffer. */
static void
transfer(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	const uint32_t medium = initiator->block_bytes;
	struct islot *slot = &conn->slots[number];
	unsigned char cdb[16] = { initiator->writes ? 0x8a : 0x88 };

	slot->expected = (slot->bytes + medium - 1) / medium * medium;
	scsi_put64(cdb + 2, slot->at / medium);
	scsi_put32(cdb + 10, slot->expected / medium);
	if (!initiator->writes)
		mark(conn, number);
	command(conn, number, cdb, initiator->writes ? 0 : slot->expected,
	    initiator->writes ? slot->expected : 0);
}

/* Whether the target's window takes a command. */
static bool
has_window(struct iconn *conn)
{
	return !sn_before(conn->maxcmdsn, conn->cmdsn) && mover_state(&conn->mover) == MOVER_UP;
}

/*
 * As many commands of the job as there are slots, and as the target's window allows.  While one
 * waits to be sent again, the target is not given more.
 */
static void
go_on(struct iconn *conn)
{
	struct initiator *initiator = conn->initiator;

	while (conn->free_count > 0 && conn->waiting == 0 && has_window(conn)) {
		const uint64_t at = atomic_fetch_add(&initiator->next, initiator->most);
		unsigned int number;
		struct islot *slot;

		if (at >= initiator->bytes)
			break;
		number = conn->free_slots[--conn->free_count];
		slot = &conn->slots[number];
		slot->at = at;
		slot->sent_at = bell_now();
		slot->tries = 0;
		slot->bytes = initiator->bytes - at < initiator->most ?
				  (uint32_t)(initiator->bytes - at) :
				  initiator->most;
		if (initiator->writes) {
			memset(
			    buffer(conn, number) + slot->bytes, 0, initiator->most - slot->bytes);
			if (file_read(initiator->file->fd, at, buffer(conn, number), slot->bytes)) {
				fail(conn, "the file cannot be read");
				return;
			}
		}
		transfer(conn, number);
	}
}

/* If nothing is outstanding after go_on(), the connections have begun all of the job. */
static void
rest(struct iconn *conn)
{
	if (conn->free_count == conn->initiator->options->depth)
		set_state(conn, ICONN_IDLE);
}

static void
copied(struct iconn *conn, unsigned int number)
{
	struct initiator *initiator = conn->initiator;
	struct islot *slot = &conn->slots[number];
	uint64_t now;

	if (!initiator->writes && !came(conn, number)) {
		fail(conn, "the target says that it has sent all of a read, and some did not come");
		return;
	}
	if (!initiator->writes &&
	    file_write(initiator->file->fd, slot->at, buffer(conn, number), slot->bytes)) {
		fail(conn, "the file cannot be written");
		return;
	}
	now = bell_now();
	histogram_add(&conn->latency, now - slot->sent_at);
	atomic_store(&initiator->moved_at, now);
	conn->free_slots[conn->free_count++] = number;
	if (atomic_fetch_add(&initiator->done, slot->bytes) + slot->bytes >= initiator->bytes)
		bell_ring(initiator->bell);
	go_on(conn);
	rest(conn);
}

/* ---- what the target answers ---- */

static const unsigned char synchronize[16] = { 0x91 };

static void
failed(struct iconn *conn, const struct response *response)
{
	char why[256];

	snprintf(why, sizeof why, "a command fails: %s", response->text);
	fail(conn, why);
}

/* The command of the slot goes to the target again in so many nanoseconds. */
static void
send_again(struct iconn *conn, unsigned int number, uint64_t nanoseconds)
{
	conn->slots[number].waits = true;
	conn->waiting++;
	atomic_store(&conn->again_at, bell_now() + nanoseconds);
	bell_ring(conn->initiator->bell);
}

static void
busy(struct iconn *conn, unsigned int number, const struct response *response)
{
	const unsigned int tries = ++conn->slots[number].tries;
	const uint64_t wait = WAIT_FIRST << (tries - 1);
	char why[256];

	if (tries < TRIES) {
		send_again(conn, number, wait < WAIT_MOST ? wait : WAIT_MOST);
		return;
	}
	snprintf(why, sizeof why, "the target does not take a command, %u times in turn: %s", tries,
	    response->text);
	fail(conn, why);
}

/* What waits has waited long enough. */
static void
send_waiting(struct iconn *conn)
{
	for (unsigned int i = 0; i < conn->initiator->options->depth && conn->waiting > 0; i++) {
		if (!conn->slots[i].waits)
			continue;
		if (!has_window(conn)) {
			atomic_store(&conn->again_at, bell_now() + WAIT_FIRST);
			bell_ring(conn->initiator->bell);
			return;
		}
		conn->slots[i].waits = false;
		conn->waiting--;
		if (iconn_state(conn) == ICONN_PROBING)
			ask(conn);
		else if (conn->flushing)
			command(conn, i, synchronize, 0, 0);
		else
			transfer(conn, i);
	}
	if (iconn_state(conn) == ICONN_COPYING && !conn->flushing)
		go_on(conn);
}

static void
take_probe(struct iconn *conn, const struct response *response)
{
	switch (response->verdict) {
	case RESPONSE_DONE:
		conn->slots[0].tries = 0;
		probed(conn, response->moved);
		return;
	case RESPONSE_BUSY:
		busy(conn, 0, response);
		return;
	case RESPONSE_FAILED:
		if (conn->question == LIMITS) { /* a device need not have the page */
			set_state(conn, ICONN_IDLE);
			return;
		}
		break;
	default: /* it may have become another LUN: what was answered does not count */
		conn->question = TEST_UNIT_READY;
		break;
	}
	if (++conn->tries < PROBE_TRIES)
		ask(conn);
	else
		failed(conn, response);
}

static void
take_attention(struct iconn *conn, unsigned int number, const struct response *response)
{
	const bool writes = conn->initiator->writes;
	char why[256];

	if (response->verdict == RESPONSE_CHANGED ||
	    (response->verdict == RESPONSE_RESET && writes)) {
		snprintf(why, sizeof why, "a unit attention: %s; %s", response->text,
		    response->verdict == RESPONSE_RESET ? "what was written before may be lost" :
							  "the LUN may have changed");
		fail(conn, why);
	} else if (++conn->slots[number].tries >= TRIES) {
		failed(conn, response);
	} else {
		say("connection %u: a unit attention: %s; the copy goes on", conn->mover.index,
		    response->text);
		send_again(conn, number, 0);
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
		fail(conn, why);
	} else if (conn->flushing) {
		conn->flushing = false;
		set_state(conn, ICONN_IDLE);
	} else {
		copied(conn, number);
	}
}

static void
take_response(struct iconn *conn, const unsigned char *pdu)
{
	const uint32_t itt = wire_get32(pdu + PDU_ITT);
	const unsigned int number = itt & 0xfff;
	struct response response;

	if (number >= conn->initiator->options->depth || conn->slots[number].itt != itt) {
		fail(conn, "the target answers a command that is not outstanding");
		return;
	}
	conn->slots[number].itt = PDU_NO_TAG;
	response_take(&response, pdu, conn->slots[number].expected);
	if (iconn_state(conn) == ICONN_PROBING)
		take_probe(conn, &response);
	else if (response.verdict == RESPONSE_DONE)
		take_done(conn, number, response.moved);
	else if (response.verdict == RESPONSE_BUSY)
		busy(conn, number, &response);
	else if (response.verdict == RESPONSE_FAILED)
		failed(conn, &response);
	else
		take_attention(conn, number, &response);
}

/* ---- the mover ---- */

static void
answer_ping(struct iconn *conn, const unsigned char *pdu)
{
	unsigned int slot;
	unsigned char *bhs;

	if (wire_get32(pdu + PDU_TTT) == PDU_NO_TAG)
		return;
	bhs = request(conn, PDU_NOP_OUT | PDU_IMMEDIATE, PDU_NO_TAG, 0, &slot);
	if (!bhs)
		return;
	memcpy(bhs + PDU_LUN, pdu + PDU_LUN, 8);
	memcpy(bhs + PDU_TTT, pdu + PDU_TTT, 4);
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn);
	mover_send(&conn->mover, slot, 0, NULL, NULL);
}

static void
on_established(struct mover *mover)
{
	struct iconn *conn = conn_of(mover);
	char text[1024];
	struct text_out out = { .at = text, .size = sizeof text };

	if (!conn->initiator->options->user) {
		login_operational(conn, true);
		return;
	}
	add_names(conn, &out);
	text_add(&out, "AuthMethod", "CHAP");
	set_state(conn, ICONN_SECURITY);
	send_login(conn, 0, &out);
}

static void
on_control(struct mover *mover, unsigned int slot, const struct iser_header *header,
    unsigned char *pdu, size_t length)
{
	struct iconn *conn = conn_of(mover);
	const bool ping = (pdu[0] & PDU_OPCODE) == PDU_NOP_IN;

	(void)header;
	if (pdu[PDU_AHS] || ISCSI_BHS_BYTES + wire_get24(pdu + PDU_DATA) > length) {
		fail(conn, "an answer is shorter than it says");
		return;
	}
	if (!ping)
		conn->expstatsn = wire_get32(pdu + PDU_STATSN) + 1;
	if (sn_before(conn->maxcmdsn, wire_get32(pdu + PDU_MAXCMDSN)))
		conn->maxcmdsn = wire_get32(pdu + PDU_MAXCMDSN);
	switch (pdu[0] & PDU_OPCODE) {
	case PDU_LOGIN_ANSWER:
		take_login(conn, pdu, length);
		break;
	case PDU_RESPONSE:
		take_response(conn, pdu);
		break;
	case PDU_NOP_IN:
		answer_ping(conn, pdu);
		break;
	case PDU_LOGOUT_ANSWER:
		mover_close(mover);
		break;
	default:
		fail(conn, "the target rejects a request");
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
	set_state(conn, ICONN_LEAVING);
	bhs = request(conn, PDU_LOGOUT | PDU_IMMEDIATE, PDU_NO_TAG - 1, 0, &slot);
	if (!bhs)
		return;
	wire_put32(bhs + PDU_CMDSN, conn->cmdsn);
	mover_send(&conn->mover, slot, 0, NULL, NULL);
}

static void
on_ordered(struct mover *mover, struct mover_order *order)
{
	struct iconn *conn = conn_of(mover);

	if (order->what == ICONN_AGAIN)
		atomic_store(&conn->again_posted, false);
	if (mover_state(mover) >= MOVER_CLOSING)
		return;
	if (order->what == ICONN_LEAVE) {
		leave(conn);
	} else if (order->what == ICONN_AGAIN) {
		send_waiting(conn);
	} else if (order->what == ICONN_FLUSH) {
		conn->flushing = true;
		conn->slots[0].tries = 0;
		command(conn, 0, synchronize, 0, 0);
	} else {
		histogram_clear(&conn->latency);
		go_on(conn);
		rest(conn);
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
		conn->slots = calloc(options->depth, sizeof *conn->slots);
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
	for (unsigned int i = options->depth; i-- > 0;) {
		conn->slots[i].itt = PDU_NO_TAG;
		conn->free_slots[conn->free_count++] = i;
	}
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

	set_state(conn, ICONN_CONNECTING);
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

uint64_t
iconn_send_again(struct iconn *conn, uint64_t now)
{
	unsigned long long at = atomic_load(&conn->again_at);

	if (at == 0)
		return UINT64_MAX;
	if (at > now)
		return at;
	if (atomic_compare_exchange_strong(&conn->again_at, &at, 0) &&
	    !atomic_exchange(&conn->again_posted, true))
		mover_post(&conn->mover, &conn->orders[ICONN_AGAIN]);
	return UINT64_MAX;
}

const struct histogram *
iconn_latency(const struct iconn *conn)
{
	return &conn->latency;
}

bool
iconn_is_finished(struct iconn *conn)
{
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
