/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote_responder.h"
#include "key.h"
#include "qp_error.h"
#include "qp_table.h"
#include "responder.h"
#include "soft/device/slot.h"
#include "soft/wire/peer.h"

#include <stdlib.h>

/* Frames that a queue pair answers with before others get their turn. */
#define BUDGET 32

static void
answers_set_nak(struct soft_qp *qp, uint32_t psn, uint8_t opcode) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;

	answers->nak = true;
	answers->nak_psn = psn;
	answers->nak_opcode = opcode;
	answers->nak_rnr_timer = qp->attr.min_rnr_timer;
	answers->ignoring = true;
	qp->message.active = false;
}

static bool
answers_are_owed(const struct soft_answers *answers)
{
	return answers->ack || answers->nak || answers->ready ||
	       answers->read_head != answers->read_tail;
}

static struct soft_pending_read *
answers_read_at(const struct soft_answers *answers, uint32_t i)
{
	return &answers->reads[i % SOFT_MAX_RD_ATOM];
}

/*
 * Refuses the oldest pending read and those after it.  Requests that were executed after the read
 * are not acknowledged, because that would also acknowledge the read, whose data the requester does
 * not have.
 */
static void
answers_refuse_reads(struct soft_qp *qp, uint8_t opcode) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;

	answers_set_nak(qp, answers_read_at(answers, answers->read_head)->psn, opcode);
	answers->read_head = answers->read_tail;
	answers->ack = false;
}

static enum ibv_wc_status
responder_execute_read(struct soft_qp *qp, const struct soft_send *send, uint32_t psn,
    struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	const bool atomic = send->opcode != IBV_WR_RDMA_READ;
	struct soft_answers *answers = &qp->answers;
	enum ibv_wc_status status;
	uint64_t old = 0;

	/* The peer has sent more reads than were agreed; an atomic must not be executed then. */
	if (answers->read_tail - answers->read_head >= qp->attr.max_dest_rd_atomic)
		return soft_responder_refuse(
		    qp, IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, deferred);
	if (atomic)
		status = soft_responder_atomic(qp, send, &old, deferred);
	else
		status = soft_responder_permit(qp, send, IBV_ACCESS_REMOTE_READ, deferred);
	if (status != IBV_WC_SUCCESS)
		return status;
	*answers_read_at(answers, answers->read_tail++) = (struct soft_pending_read){
		.psn = psn,
		.remote = { send->remote_addr, send->length, atomic ? SOFT_NO_KEY : send->rkey },
		.old = old,
	};
	return IBV_WC_SUCCESS;
}

/*
 * One frame of a send or write, but for the message's end; 0, a status, SOFT_NAK_NOT_READY or
 * SOFT_NAK_NOT_PULLED.
 */
static uint8_t
responder_execute_part(struct soft_qp *qp, const struct soft_frame *frame,
    const struct soft_send *send, struct soft_cursor *source, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (frame->flags & SOFT_FRAME_FIRST &&
	    soft_message_begin(qp, send, &status, deferred) == SOFT_NOT_READY)
		return SOFT_NAK_NOT_READY;
	if (status == IBV_WC_SUCCESS)
		status = soft_message_data(qp, source, frame->length, deferred);
	return status == IBV_WC_LOC_PROT_ERR ? SOFT_NAK_NOT_PULLED : (uint8_t)status;
}

/* Whether the frame continues the current message, or starts one. */
static bool
responder_frame_fits(const struct soft_qp *qp, const struct soft_frame *frame)
{
	const struct soft_message *message = &qp->message;
	uint32_t received = frame->flags & SOFT_FRAME_FIRST ? 0 : message->received;

	if (!(frame->flags & SOFT_FRAME_FIRST) &&
	    (frame->total != message->length || frame->opcode != message->opcode || !frame->length))
		return false;
	return soft_opcode_is_read(frame->opcode) ||
	       (frame->length <= frame->total - received &&
		   (received + frame->length == frame->total) ==
		       !!(frame->flags & SOFT_FRAME_LAST));
}

static struct soft_frame
answers_frame(const struct soft_qp *qp, enum soft_frame_type type, uint32_t psn)
    REQUIRES(soft_locks.receive)
{
	return (struct soft_frame){
		.type = (uint8_t)type,
		.qpn = qp->answers.to,
		.from = qp->ibv.qp_num,
		.psn = psn,
		.epoch = qp->answers.epoch,
	};
}

/*
 * A consumer that sees the completion of a receive may disconnect at once, or exit.  The
 * acknowledgement is therefore sent before the completion is visible, as adapters do.  If the
 * socket does not take it, or the data of a read must go first, it is sent with the other
 * answers.
 */
static void
answers_send_ack(struct soft_qp *qp, struct soft_link *link) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_frame frame = answers_frame(qp, SOFT_FRAME_ACK, answers->ack_psn);

	if (answers->read_head == answers->read_tail && !soft_link_send(link, &frame, NULL, 0))
		answers->ack = false;
}

/* False if the frame is malformed.  `frame->length` is that of the data. */
static bool
responder_execute(struct soft_qp *qp, struct soft_link *link, const struct soft_frame *frame,
    struct soft_cursor *source, struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	const struct soft_send send = {
		.opcode = (enum ibv_wr_opcode)frame->opcode,
		.flags = frame->flags & SOFT_FRAME_SOLICITED ? IBV_SEND_SOLICITED : 0,
		.imm_data = frame->imm_data,
		.length = frame->total,
		.remote_addr = frame->address,
		.rkey = frame->rkey,
		.compare_add = frame->compare_add,
		.swap = frame->swap,
	};
	uint8_t outcome;

	/*
	 * A new epoch may start a message again; within an epoch a message is finished before the
	 * next one starts.
	 */
	if (frame->flags & SOFT_FRAME_FIRST && qp->message.active)
		return false;
	if (frame->psn != answers->expected ||
	    (!(frame->flags & SOFT_FRAME_FIRST) && !qp->message.active)) {
		answers_set_nak(qp, frame->psn,
		    SOFT_NAK_NOT_CONNECTED); /* the frame belongs to another connection */
		return true;
	}
	if (!responder_frame_fits(qp, frame))
		return false;
	if (soft_opcode_is_read(frame->opcode))
		outcome = (uint8_t)responder_execute_read(qp, &send, frame->psn, deferred);
	else
		outcome = responder_execute_part(qp, frame, &send, source, deferred);
	if (outcome != IBV_WC_SUCCESS) {
		answers->without_receive = outcome == SOFT_NAK_NOT_READY;
		answers_set_nak(qp, frame->psn, outcome);
	} else if (frame->flags & SOFT_FRAME_LAST) {
		answers->expected = (answers->expected + 1) & SOFT_PSN_MASK;
		/* The data of a read acknowledges it, and all before it. */
		answers->ack = !soft_opcode_is_read(frame->opcode);
		answers->ack_psn = frame->psn;
		if (!answers->ack)
			return true;
		if (frame->opcode != IBV_WR_RDMA_WRITE)
			answers_send_ack(qp, link);
		soft_message_end(qp, deferred);
	}
	return true;
}

/* The data of a request: that of the frame, or that of the other process. */
static bool
responder_locate_data(const struct soft_link *link, struct soft_frame *frame, const char *payload,
    struct soft_pull *pull, struct soft_cursor *source)
{
	*source = (struct soft_cursor){ .raw = (char *)(uintptr_t)payload, .foreign = true };
	if (!(frame->flags & SOFT_FRAME_PULL))
		return true;
	pull->from = &link->grantor;
	frame->length = soft_pull_parse(pull, frame, payload);
	source->pull = pull;
	return link->grantor.pid && frame->length;
}

static bool
responder_receive(struct soft_qp *qp, struct soft_link *link, const struct soft_frame *frame,
    struct soft_cursor *source, struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	bool answering = soft_responder_answers(qp, frame->from);

	if (answers->ignoring && answers->to == frame->from && answers->epoch == frame->epoch)
		return true;
	if (qp->state < IBV_QPS_RTR)
		answers->not_connected = true;
	if (answers->epoch != frame->epoch)
		qp->message.active = false;
	answers->to = frame->from;
	answers->epoch = frame->epoch;
	answers->ignoring = false;
	if (answering)
		return responder_execute(qp, link, frame, source, deferred);
	answers_set_nak(qp, frame->psn, SOFT_NAK_NOT_CONNECTED);
	return true;
}

static void
responder_nak_stray(struct soft_link *link, const struct soft_frame *frame)
{
	const struct soft_frame answer = {
		.type = SOFT_FRAME_NAK,
		.opcode = SOFT_NAK_NOT_CONNECTED,
		.qpn = frame->from,
		.from = frame->qpn,
		.psn = frame->psn,
		.epoch = frame->epoch,
	};

	/*
	 * One NAK for each message is enough, unless its first frame was for an existing queue
	 * pair.
	 */
	if (frame->flags & (SOFT_FRAME_FIRST | SOFT_FRAME_LAST) &&
	    soft_link_send_stray(link, &answer))
		soft_link_stop(link);
}

/*
 * Sends the next frame of the oldest read: 0, -EFAULT if its memory is not accessible any more,
 * or as soft_link_send().
 */
static int
answers_send_read(struct soft_qp *qp, struct soft_pending_read *read, struct soft_link *link)
    REQUIRES(soft_locks.receive) SOFT_NO_KEYS_LOCK
{
	struct soft_frame frame = answers_frame(qp, SOFT_FRAME_RESPONSE, read->psn);
	uint32_t length = read->remote.length - read->sent;
	struct iovec iov = { &read->old, length };
	int r;

	if (length > SOFT_WIRE_PAYLOAD)
		length = SOFT_WIRE_PAYLOAD;
	iov.iov_len = length;
	frame.total = read->remote.length;
	if (!read->sent)
		frame.flags |= SOFT_FRAME_FIRST;
	if (read->sent + length == read->remote.length)
		frame.flags |= SOFT_FRAME_LAST;
	soft_keys_lock_shared();
	if (read->remote.lkey != SOFT_NO_KEY && length)
		iov.iov_base = soft_key_translate(qp->pd, qp, read->remote.lkey,
		    read->remote.addr + read->sent, length, IBV_ACCESS_REMOTE_READ);
	r = iov.iov_base ? soft_link_send(link, &frame, &iov, length ? 1 : 0) : -EFAULT;
	soft_keys_unlock_shared();
	if (!r)
		read->sent += length;
	return r ? r : !!(frame.flags & SOFT_FRAME_LAST);
}

static int
answers_send_reads(struct soft_qp *qp, struct soft_link *link, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_pending_read *read;
	int r = 0, budget = BUDGET;

	while (answers->read_head != answers->read_tail) {
		if (qp->dead) {
			answers_refuse_reads(
			    qp, SOFT_NAK_NOT_CONNECTED); /* the keys of the reads may be gone */
			return 0;
		}
		read = answers_read_at(answers, answers->read_head);
		r = budget-- ? answers_send_read(qp, read, link) : -EAGAIN;
		if (r == -EFAULT) {
			soft_responder_refuse(
			    qp, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
			answers_refuse_reads(qp, IBV_WC_REM_ACCESS_ERR);
			return 0;
		}
		if (r < 0)
			return r;
		answers->read_head += (uint32_t)r;
	}
	return 0;
}

static int
answers_send_all(struct soft_qp *qp, struct soft_link *link, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_frame frame;
	int r;

	r = answers_send_reads(qp, link, deferred);
	if (!r && answers->ack) {
		frame = answers_frame(qp, SOFT_FRAME_ACK, answers->ack_psn);
		r = soft_link_send(link, &frame, NULL, 0);
		answers->ack = r != 0;
	}
	if (!r && answers->nak) {
		frame = answers_frame(qp, SOFT_FRAME_NAK, answers->nak_psn);
		frame.opcode = answers->nak_opcode;
		frame.rnr_timer = answers->nak_rnr_timer;
		r = soft_link_send(link, &frame, NULL, 0);
		answers->nak = r != 0;
	}
	if (!r && answers->ready) {
		frame = answers_frame(qp, SOFT_FRAME_READY, 0);
		r = soft_link_send(link, &frame, NULL, 0);
		answers->ready = r != 0;
	}
	return r;
}

/*
 * The limit of pending reads changes with max_dest_rd_atomic, even while some are pending, so
 * their ring has the greatest length.
 */
int
soft_remote_responder_prepare(struct soft_qp *qp, uint32_t qpn)
{
	struct soft_answers *answers = &qp->answers;

	if (soft_qpn_slot(qpn) != soft_slot_number() && !answers->reads)
		answers->reads = calloc(SOFT_MAX_RD_ATOM, sizeof *answers->reads);
	return soft_qpn_slot(qpn) == soft_slot_number() || answers->reads ? 0 : -ENOMEM;
}

void
soft_remote_responder_connect(struct soft_qp *qp)
{
	qp->sq.remote = soft_qpn_slot(qp->attr.dest_qp_num) != soft_slot_number();
	qp->answers.expected = qp->attr.rq_psn & SOFT_PSN_MASK;
	qp->answers.to = qp->attr.dest_qp_num;
}

void
soft_remote_responder_ready(struct soft_qp *qp)
{
	struct soft_link *link;
	unsigned int slot;
	bool owed;

	soft_qp_lock_receive(qp);
	slot = soft_qpn_slot(qp->answers.to);
	owed = qp->answers.without_receive || qp->answers.not_connected;
	qp->answers.without_receive = qp->answers.not_connected = false;
	qp->answers.ready |= owed;
	soft_qp_unlock_receive(qp);
	link = owed ? soft_peer_incoming(slot) : NULL;
	if (!link)
		return;
	soft_link_queue_responder(link, &qp->answers.turn, true);
	soft_link_put(link);
}

void
soft_remote_responder_link_lost(struct soft_qp *qp)
{
	struct soft_answers *answers = &qp->answers;

	soft_qp_lock_receive(qp);
	/* The next link starts the request again from its first frame, in a new epoch. */
	qp->message.active = false;
	answers->read_head = answers->read_tail;
	answers->ack = answers->nak = answers->ready = false;
	soft_qp_unlock_receive(qp);
}

bool
soft_remote_responder_request(
    struct soft_link *link, const struct soft_frame *header, const char *payload)
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	struct soft_frame copy = *header, *frame = &copy;
	struct soft_cursor source;
	struct soft_pull pull;
	struct soft_qp *qp;
	bool stranger, good, owes;

	if (soft_qpn_slot(frame->from) != link->slot ||
	    soft_qpn_slot(frame->qpn) != soft_slot_number() ||
	    !responder_locate_data(link, frame, payload, &pull, &source))
		return false;
	qp = soft_qp_table_find(frame->qpn);
	if (!qp) {
		responder_nak_stray(link, frame);
		return true;
	}
	soft_qp_lock_receive(qp);
	/* Frames of a queue pair that is not the peer, and will not be, change nothing. */
	stranger = qp->state >= IBV_QPS_RTR && qp->attr.dest_qp_num != frame->from;
	good = stranger || responder_receive(qp, link, frame, &source, &deferred);
	owes = answers_are_owed(&qp->answers);
	soft_qp_unlock_receive(qp);
	if (stranger)
		responder_nak_stray(link, frame);
	else if (good && owes)
		soft_link_queue_responder(link, &qp->answers.turn, false);
	soft_deferred_run(&deferred);
	soft_qp_put(qp);
	return good;
}

/*
 * Resets everything but the place in a list of a link.  Requests that were executed and not
 * acknowledged are acknowledged now, if the link takes it; reads that are not answered are
 * refused.
 */
void
soft_remote_responder_reset(struct soft_qp *qp)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_deferred none = SOFT_DEFER_NOTHING;
	struct soft_link *link = NULL;

	if (answers->read_head != answers->read_tail)
		answers_refuse_reads(qp, SOFT_NAK_NOT_CONNECTED);
	answers->read_head = answers->read_tail = 0;
	if (answers->ack || answers->nak)
		link = soft_peer_incoming(soft_qpn_slot(answers->to));
	if (link) {
		(void)answers_send_all(qp, link, &none);
		soft_link_notify(link);
		soft_link_put(link);
	}
	answers->ignoring = answers->without_receive = answers->not_connected = false;
	answers->ack = answers->nak = answers->ready = false;
	qp->sq.remote = false;
}

void
soft_remote_responder_answer(struct soft_qp *qp, struct soft_link *link)
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	int r = 0;

	soft_qp_lock_receive(qp);
	if (soft_qpn_slot(qp->answers.to) == link->slot)
		r = answers_send_all(qp, link, &deferred);
	soft_qp_unlock_receive(qp);
	if (r == -EAGAIN)
		soft_link_queue_responder(link, &qp->answers.turn, true);
	soft_deferred_run(&deferred);
}
