/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/session.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/iscsi/discovery.h"
#include "iser/iscsi/itask.h"
#include "iser/iscsi/manage.h"
#include "iser/iscsi/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEND_BYTES 256 /* of data: sense, a rejected header, a short ping */
#define LONG_SENDS 8
#define SPARE_TASKS 64
#define CLOSE_PATIENCE (2 * BELL_SECOND) /* for the peer to take what is posted */

/* ---- answers ---- */

uint32_t
session_maxcmdsn(const struct session *session)
{
	return session->expcmdsn + (session->window - session->active) - 1;
}

unsigned char *
session_answer(
    struct session *session, enum pdu_opcode opcode, uint32_t itt, size_t bytes, unsigned int *slot)
{
	unsigned char *bhs = mover_send_buffer(&session->mover, bytes, slot);

	if (!bhs) {
		mover_fail(&session->mover, "the initiator does not take what it is sent");
		return NULL;
	}
	bhs[0] = (unsigned char)opcode;
	bhs[PDU_FLAGS] = PDU_FINAL;
	wire_put24(bhs + PDU_DATA, (uint32_t)bytes);
	wire_put32(bhs + PDU_ITT, itt);
	return bhs;
}

bool
session_send(struct session *session, unsigned char *bhs, unsigned int slot, size_t bytes,
    bool counts, void *owner)
{
	wire_put32(bhs + PDU_STATSN, session->statsn);
	if (counts)
		session->statsn++;
	wire_put32(bhs + PDU_EXPCMDSN, session->expcmdsn);
	wire_put32(bhs + PDU_MAXCMDSN, session_maxcmdsn(session));
	return mover_send(&session->mover, slot, bytes, NULL, owner);
}

void
session_reject(struct session *session, enum pdu_reject reason, const unsigned char *pdu)
{
	unsigned int slot;
	unsigned char *bhs =
	    session_answer(session, PDU_REJECT, PDU_NO_TAG, ISCSI_BHS_BYTES, &slot);

	if (!bhs)
		return;
	bhs[2] = (unsigned char)reason;
	memcpy(bhs + ISCSI_BHS_BYTES, pdu, ISCSI_BHS_BYTES);
	atomic_fetch_add(&session->target->counts.rejects, 1);
	session_send(session, bhs, slot, ISCSI_BHS_BYTES, true, NULL);
}

/* Sets the deadline: the next tick. */
static void
expect_at(struct session *session, uint64_t at)
{
	atomic_store(&session->deadline, at);
	bell_ring(session->target->bell);
}

/* Ends the connection when what was sent has been taken, but soon. */
static void
leave(struct session *session)
{
	mover_close(&session->mover);
	expect_at(session, bell_now() + CLOSE_PATIENCE);
}

void
session_call(struct session *session, struct session_call *call)
{
	if (!atomic_exchange(&call->posted, true))
		mover_post(&session->mover, &call->order);
}

/* ---- login ---- */

static int
begin_full(struct session *session)
{
	const struct keys *keys = &session->login->keys;
	char port[SCSI_PORT_NAME + 1];
	const unsigned char *isid = session->login->isid;

	session->discovery = keys->discovery;
	snprintf(session->initiator, sizeof session->initiator, "%s", keys->initiator);
	memcpy(session->isid, isid, sizeof session->isid);
	session->cid = session->login->cid;
	session->first_burst = (uint32_t)keys->first_burst;
	session->initiator_recv = (uint32_t)keys->initiator_recv;
	session->target_recv = (uint32_t)keys->target_recv;
	session->immediate_data = keys->immediate_data;
	session->initial_r2t = keys->initial_r2t;
	if (session->discovery) {
		atomic_fetch_add(&session->target->counts.discoveries, 1);
		return 0;
	}
	snprintf(port, sizeof port, "%s,i,0x%02x%02x%02x%02x%02x%02x", session->initiator, isid[0],
	    isid[1], isid[2], isid[3], isid[4], isid[5]);
	atomic_fetch_add(&session->target->counts.logins, 1);
	return scsi_nexus_create(&session->nexus, session->target->scsi, port);
}

static void
take_login(struct session *session, const unsigned char *pdu, size_t length)
{
	unsigned char head[ISCSI_BHS_BYTES];
	struct login *login = session->login;
	const bool first = !login->begun;
	enum login_status status;
	unsigned char *bhs;
	unsigned int slot;
	size_t bytes;

	bhs = mover_send_buffer(&session->mover, LOGIN_ANSWER_BYTES, &slot);
	if (!bhs) {
		mover_fail(&session->mover, "the initiator does not take what it is sent");
		return;
	}
	status = login_take(login, pdu, length, head, (char *)bhs + ISCSI_BHS_BYTES, &bytes);
	if (first)
		session->expcmdsn = login->cmdsn;
	if (status == LOGIN_OK && login->stage == LOGIN_FULL_FEATURE) {
		session->tsih = itarget_login(session->target, session);
		if (begin_full(session)) {
			status = LOGIN_NO_RESOURCES;
			head[PDU_FLAGS] = 0;
			wire_put16(head + 36, (uint16_t)status);
			wire_put24(head + PDU_DATA, 0);
			bytes = 0;
		}
	}
	memcpy(bhs, head, ISCSI_BHS_BYTES);
	wire_put16(bhs + 14, session->tsih);
	if (status != LOGIN_OK) {
		atomic_fetch_add(&session->target->counts.logins_refused, 1);
		say_of_peer("connection %u: login of \"%s\" is refused, status 0x%04x",
		    session->mover.index, login->keys.initiator, (unsigned int)status);
		session->state = SESSION_LOGOUT;
	} else if (login->stage == LOGIN_FULL_FEATURE) {
		session->state = SESSION_FULL;
		expect_at(session, session->target->options->ping ?
				       bell_now() + session->target->options->ping * BELL_SECOND :
				       0);
	}
	session_send(session, bhs, slot, bytes, true, NULL);
	if (session->state == SESSION_LOGOUT)
		leave(session);
	if (session->state == SESSION_FULL) {
		login_fini(login);
		free(login);
		session->login = NULL;
		atomic_store(&session->is_full, true);
	}
}

/* ---- what is neither login nor command ---- */

static void
take_ping(struct session *session, const unsigned char *pdu)
{
	const uint32_t itt = wire_get32(pdu + PDU_ITT);
	uint32_t bytes = wire_get24(pdu + PDU_DATA);
	unsigned char *bhs;
	unsigned int slot;

	if (itt == PDU_NO_TAG) /* the answer to a ping of ours */
		return;
	if (bytes > session->initiator_recv)
		bytes = session->initiator_recv;
	if (bytes > SEND_BYTES && session->mover.free_long_count == 0)
		bytes = SEND_BYTES;
	bhs = session_answer(session, PDU_NOP_IN, itt, bytes, &slot);
	if (!bhs)
		return;
	memcpy(bhs + PDU_LUN, pdu + PDU_LUN, 8);
	wire_put32(bhs + PDU_TTT, PDU_NO_TAG);
	memcpy(bhs + ISCSI_BHS_BYTES, pdu + ISCSI_BHS_BYTES + 4u * pdu[PDU_AHS], bytes);
	session_send(session, bhs, slot, bytes, true, NULL);
}

static void
ping(struct session *session)
{
	unsigned int slot;
	unsigned char *bhs = session_answer(session, PDU_NOP_IN, PDU_NO_TAG, 0, &slot);

	if (!bhs)
		return;
	wire_put32(bhs + PDU_TTT, 1); /* one at a time */
	session->pinged = true;
	session_send(session, bhs, slot, 0, false, NULL);
}

/* RFC 7143 11.15.1 */
enum logged_out {
	LOGGED_OUT = 0,
	NO_CONNECTION = 1,
	NO_RECOVERY = 2,
	NOT_CLEANED_UP = 3,
};

static void
answer_logout(struct session *session, uint32_t itt, enum logged_out answer)
{
	unsigned int slot;
	unsigned char *bhs = session_answer(session, PDU_LOGOUT_ANSWER, itt, 0, &slot);

	if (!bhs)
		return;
	bhs[2] = (unsigned char)answer;
	session_send(session, bhs, slot, 0, true, NULL);
}

static void
log_out(struct session *session, enum logged_out answer)
{
	session->owes_logout = false;
	answer_logout(session, session->logout_itt, answer);
	/*
	 * At once: libiscsi frees what its thread for connection events uses, soon after it has the
	 * answer.
	 */
	leave(session);
}

/*
 * The answer to a logout is the last one: those to tasks, and to what has aborted some, go before
 * it.  None can be sent when the connection is being ended.
 */
static void
log_out_if_idle(struct session *session)
{
	if (session->owes_logout && mover_state(&session->mover) == MOVER_UP &&
	    itask_all_answered(session) && !manage_is_busy(session))
		log_out(session, LOGGED_OUT);
}

static void
take_logout(struct session *session, const unsigned char *pdu)
{
	const unsigned int reason = pdu[PDU_FLAGS] & 0x7f;
	const uint32_t itt = wire_get32(pdu + PDU_ITT);

	if (reason > 1) {
		answer_logout(session, itt, NO_RECOVERY);
	} else if (reason == 1 && wire_get16(pdu + 20) != session->cid) {
		answer_logout(session, itt, NO_CONNECTION);
	} else {
		session->state = SESSION_LOGOUT;
		session->owes_logout = true;
		session->logout_itt = itt;
		itask_abort_gathering(session); /* their data do not come any more */
		expect_at(session, bell_now() + CLOSE_PATIENCE);
	}
}

/* ---- the order of requests ---- */

static void
turn(struct session *session, unsigned int slot, unsigned char *pdu)
{
	const enum pdu_opcode opcode = pdu[0] & PDU_OPCODE;
	const bool immediate = pdu[0] & PDU_IMMEDIATE;

	if (session->discovery && opcode != PDU_TEXT && opcode != PDU_LOGOUT &&
	    opcode != PDU_NOP_OUT) {
		session_reject(session, REJECT_PROTOCOL, pdu);
	} else if (opcode == PDU_COMMAND) {
		itask_command(session, slot, pdu, immediate);
		return;
	} else if (opcode == PDU_NOP_OUT) {
		take_ping(session, pdu);
	} else if (opcode == PDU_MANAGE) {
		manage_request(session, pdu);
	} else if (opcode == PDU_TEXT) {
		discovery_text(session, pdu);
	} else {
		take_logout(session, pdu);
	}
	mover_post_recv(&session->mover, slot);
}

/* Those whose turn has come by now. */
static void
turn_held(struct session *session)
{
	while (session->held_count > 0 && session->state == SESSION_FULL) {
		struct held *held = &session->held[session->expcmdsn % session->window];
		const unsigned int slot = held->slot;
		const bool came = held->what == HELD_PDU;

		if (held->what == HELD_NOT)
			break;
		held->what = HELD_NOT;
		session->held_count--;
		session->expcmdsn++;
		if (came)
			turn(session, slot, mover_recv_pdu(&session->mover, slot));
	}
}

bool
session_skip(struct session *session, uint32_t cmdsn)
{
	struct held *held = &session->held[cmdsn % session->window];

	if (sn_before(cmdsn, session->expcmdsn) || sn_before(session_maxcmdsn(session), cmdsn) ||
	    held->what != HELD_NOT)
		return false;
	held->what = HELD_SKIP;
	session->held_count++;
	turn_held(session);
	return true;
}

static void
arrange(struct session *session, unsigned int slot, unsigned char *pdu, size_t length)
{
	const uint32_t cmdsn = wire_get32(pdu + PDU_CMDSN);
	struct held *held = &session->held[cmdsn % session->window];

	if (pdu[0] & PDU_IMMEDIATE) {
		turn(session, slot, pdu);
		return;
	}
	/* RFC 7143 4.2.2.1: outside of the window it is ignored, and so is one that came before. */
	if (sn_before(cmdsn, session->expcmdsn) || sn_before(session_maxcmdsn(session), cmdsn) ||
	    held->what != HELD_NOT) {
		mover_post_recv(&session->mover, slot);
		return;
	}
	if (cmdsn == session->expcmdsn) {
		session->expcmdsn++;
		turn(session, slot, pdu);
		turn_held(session);
		return;
	}
	*held = (struct held){ HELD_PDU, slot, length };
	session->held_count++;
}

static void
take_full(struct session *session, unsigned int slot, unsigned char *pdu, size_t length)
{
	switch (pdu[0] & PDU_OPCODE) {
	case PDU_COMMAND:
	case PDU_NOP_OUT:
	case PDU_MANAGE:
	case PDU_TEXT:
	case PDU_LOGOUT:
		arrange(session, slot, pdu, length);
		return;
	case PDU_DATA_OUT:
		if (!session->discovery)
			itask_data(session, pdu);
		break;
	case PDU_LOGIN:
		session_reject(session, REJECT_PROTOCOL, pdu);
		break;
	case PDU_SNACK:
		session_reject(session, REJECT_SNACK, pdu);
		break;
	default:
		session_reject(session, REJECT_NOT_SUPPORTED, pdu);
		break;
	}
	mover_post_recv(&session->mover, slot);
}

/* ---- the mover ---- */

static struct session *
session_of(struct mover *mover)
{
	return (struct session *)mover; /* its first member */
}

static void
on_established(struct mover *mover)
{
	(void)mover; /* the initiator speaks first */
}

/*
 * libiscsi (1.19) writes into a command how much immediate data it could send, but it sends none,
 * and the STag is that of all data.
 */
static void
correct_length(const struct iser_header *header, unsigned char *pdu, size_t length)
{
	if ((pdu[0] & PDU_OPCODE) == PDU_COMMAND && header->write_valid &&
	    length == ISCSI_BHS_BYTES + 4u * pdu[PDU_AHS])
		wire_put24(pdu + PDU_DATA, 0);
}

static void
on_control(struct mover *mover, unsigned int slot, const struct iser_header *header,
    unsigned char *pdu, size_t length)
{
	struct session *session = session_of(mover);
	uint32_t bytes;

	session->heard_at = bell_now();
	session->pinged = false;
	correct_length(header, pdu, length);
	bytes = wire_get24(pdu + PDU_DATA);
	if (ISCSI_BHS_BYTES + 4u * pdu[PDU_AHS] + bytes > length ||
	    bytes > mover->shape.recv_bytes) {
		mover_fail(mover, "a PDU is shorter than it says");
	} else if (session->state == SESSION_FULL) {
		take_full(session, slot, pdu, length);
	} else if (session->state == SESSION_LOGIN && (pdu[0] & PDU_OPCODE) == PDU_LOGIN) {
		take_login(session, pdu, length);
		mover_post_recv(mover, slot);
	} else if (session->state == SESSION_LOGOUT) {
		/* Perhaps the answer to a ping that was on its way. */
		mover_post_recv(mover, slot);
	} else {
		mover_fail(mover, "request 0x%02x came before the login", pdu[0] & PDU_OPCODE);
	}
	log_out_if_idle(session);
}

static void
on_sent(struct mover *mover, void *owner)
{
	itask_sent(owner);
	log_out_if_idle(session_of(mover));
}

static void
on_moved(struct mover *mover, void *owner)
{
	itask_fetched(owner);
	log_out_if_idle(session_of(mover));
}

/* Whether what is sent has waited for `patience` with none of it taken. */
static bool
is_stalled(struct session *session, uint64_t now, uint64_t patience)
{
	const struct mover *mover = &session->mover;

	if (!mover_is_sending(mover) || mover->sent != session->sent) {
		session->sent = mover->sent;
		session->sent_at = now;
	}
	return now - session->sent_at >= patience;
}

static void
tick(struct session *session)
{
	const uint64_t patience = session->target->options->ping * BELL_SECOND;
	const uint64_t now = bell_now();

	atomic_store(&session->tick.posted, false);
	if (atomic_load(&session->deadline) > now)
		return; /* set since this tick was ordered: another one follows */
	if (mover_state(&session->mover) == MOVER_CLOSING) {
		mover_fail(&session->mover, "the initiator does not take what it is sent");
	} else if (session->owes_logout) {
		log_out(session, NOT_CLEANED_UP);
	} else if (session->state == SESSION_LOGIN) {
		mover_fail(&session->mover, "the login takes too long");
	} else if (patience == 0) {
		/* The login came when this tick was ordered already. */
	} else if (is_stalled(session, now, patience)) {
		mover_fail(&session->mover, "the initiator does not take what it is sent");
	} else if (itask_is_late(session, now, patience)) {
		mover_fail(&session->mover, "the data of a command do not come");
	} else if (session->pinged) {
		mover_fail(&session->mover, "the initiator does not answer");
	} else if (now - session->heard_at < patience) {
		/* It has sent something since this tick was ordered. */
		expect_at(session, session->heard_at + patience);
	} else {
		ping(session);
		expect_at(session, now + patience);
	}
}

static void
on_ordered(struct mover *mover, struct mover_order *order)
{
	struct session *session = session_of(mover);
	const bool ended = mover_state(mover) >= MOVER_CLOSING;

	switch ((enum session_order)order->what) {
	case ORDER_TASK:
	case ORDER_MEMORY:
		itask_ordered(session, order);
		break;
	case ORDER_MANAGED:
		manage_ordered(session, order);
		break;
	case ORDER_NEXUS:
		mover_release(mover); /* of on_closed() */
		break;
	case ORDER_TICK:
		if (mover_state(mover) != MOVER_CLOSED)
			tick(session);
		break;
	case ORDER_STOP:
		if (!ended)
			leave(session);
		break;
	case ORDER_REPLACE:
		if (!ended)
			mover_fail(mover, "the initiator has logged in again");
		break;
	}
	log_out_if_idle(session);
}

/* Of the device server; any thread. */
static void
nexus_drained(struct scsi_drain *drain)
{
	struct session *session = drain->context;

	mover_post(&session->mover, &session->nexus_order);
}

static void
on_closed(struct mover *mover)
{
	static const uint8_t no_lun[8];
	struct session *session = session_of(mover);

	atomic_store(&session->deadline, 0);
	itask_drop_all(session);
	if (!session->nexus)
		return;
	session->nexus_order.what = ORDER_NEXUS;
	session->nexus_drain.done = nexus_drained;
	session->nexus_drain.context = session;
	mover_hold(mover);
	if (scsi_abort(session->nexus, SCSI_ABORT_NEXUS, no_lun, &session->nexus_drain) != 0)
		mover_release(mover);
}

static const struct mover_ops session_ops = {
	.established = on_established,
	.control = on_control,
	.sent = on_sent,
	.moved = on_moved,
	.ordered = on_ordered,
	.closed = on_closed,
};

/* ---- life ---- */

static void
release(struct session *session)
{
	if (session->login)
		login_fini(session->login);
	free(session->login);
	free(session->held);
	free(session->tasks);
	free(session->free_tasks);
	free(session->manages);
	free(session->text);
	free(session);
}

static bool
alloc(struct session *session, const struct target_options *options)
{
	session->window = options->window;
	/*
	 * Twice the window: a task is in use until the send of its response has completed, and by
	 * then the initiator may have sent the next command.
	 */
	session->task_count = 2 * options->window + SPARE_TASKS;
	session->login = calloc(1, sizeof *session->login);
	session->held = calloc(session->window, sizeof *session->held);
	session->tasks = calloc(session->task_count, sizeof *session->tasks);
	session->free_tasks = calloc(session->task_count, sizeof *session->free_tasks);
	session->manages = calloc(SESSION_MANAGES, sizeof *session->manages);
	if (!session->login || !session->held || !session->tasks || !session->free_tasks ||
	    !session->manages)
		return false;
	for (unsigned int i = session->task_count; i-- > 0;) {
		session->tasks[i].session = session;
		session->free_tasks[session->free_count++] = i;
	}
	return true;
}

struct session *
session_new(struct target *target, unsigned int index)
{
	const struct target_options *options = target->options;
	struct session *session = calloc(1, sizeof *session);
	const char *call;
	DAT_RETURN ret;

	if (!session || !alloc(session, options)) {
		say("connection %u: no memory", index);
		if (session)
			release(session);
		return NULL;
	}
	session->target = target;
	session->tick.order.what = ORDER_TICK;
	session->stop.order.what = ORDER_STOP;
	session->replace.order.what = ORDER_REPLACE;
	*session->login = (struct login){
		.target = options->name,
		.portal_group = TARGET_PORTAL_GROUP,
		.secrets = options->secrets,
		.limits = &options->limits,
	};
	login_init(session->login);
	session->deadline = bell_now() + options->login_timeout * BELL_SECOND;
	const struct mover_shape shape = {
		.recvs = options->window + options->limits.unexpected,
		.recv_bytes = options->limits.target_recv,
		.sends = session->task_count + options->limits.unexpected,
		.send_bytes = SEND_BYTES,
		.long_sends = LONG_SENDS,
		.long_bytes = LOGIN_ANSWER_BYTES,
		.moves = session->task_count,
		.move_bytes = scsi_target_max_transfer(target->scsi),
	};
	ret = mover_create(
	    &session->mover, &target->adapter, &target->pool, &session_ops, index, &shape, &call);
	if (ret != DAT_SUCCESS) {
		say_dat(call, ret, "connection %u cannot be set up", index);
		release(session);
		return NULL;
	}
	return session;
}

int
session_free(struct session *session)
{
	int failures;

	/* First: when the upcalls have ended, no order brings a task any more. */
	watch_stop(&session->mover.watch);
	for (unsigned int i = 0; i < session->task_count; i++)
		pool_put(session->mover.pool, &session->tasks[i].piece);
	scsi_nexus_free(session->nexus);
	failures = mover_free(&session->mover);
	release(session);
	return failures;
}
