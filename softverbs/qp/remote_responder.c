/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote_responder.h"
#include "answers.h"
#include "qp_table.h"
#include "responder.h"
#include "trouble.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/peer.h"

#include <stdlib.h>

static enum ibv_wc_status
responder_execute_read(struct soft_qp *qp, const struct soft_frame *frame,
    const struct soft_send *send, struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	const bool atomic = send->opcode != IBV_WR_RDMA_READ;
	struct soft_pending_read read = { .psn = frame->psn };
	enum ibv_wc_status status;

	/* The peer has sent more reads than were agreed; an atomic must not be executed then. */
	if (!soft_answers_take_read(qp))
		return soft_responder_refuse(
		    qp, IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, deferred);
	if (atomic)
		status = soft_responder_atomic(qp, send, &read.old, deferred);
	else
		status = soft_responder_permit(qp, send, IBV_ACCESS_REMOTE_READ, deferred);
	if (status != IBV_WC_SUCCESS)
		return status;
	read.remote =
	    (struct ibv_sge){ send->remote_addr, send->length, atomic ? SOFT_NO_KEY : send->rkey };
	read.pulled = frame->flags & SOFT_FRAME_PULL && send->length && soft_settings_pulls();
	soft_answers_add_read(qp, &read);
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
		/* The frame belongs to another connection. */
		soft_answers_refuse(qp, frame->psn, SOFT_NAK_NOT_CONNECTED);
		return true;
	}
	if (!responder_frame_fits(qp, frame))
		return false;
	if (soft_opcode_is_read(frame->opcode))
		outcome = (uint8_t)responder_execute_read(qp, frame, &send, deferred);
	else
		outcome = responder_execute_part(qp, frame, &send, source, deferred);
	if (outcome != IBV_WC_SUCCESS) {
		answers->without_receive = outcome == SOFT_NAK_NOT_READY;
		soft_answers_refuse(qp, frame->psn, outcome);
	} else if (frame->flags & SOFT_FRAME_LAST) {
		soft_answers_done(qp, frame->psn, soft_opcode_is_read(frame->opcode));
		if (soft_opcode_is_read(frame->opcode))
			return true;
		if (frame->opcode != IBV_WR_RDMA_WRITE)
			soft_answers_send_ack(qp, link);
		soft_message_end(qp, deferred);
	}
	return true;
}

/* The data of a request: that of the frame, or that of the other process. */
static bool
responder_locate_data(struct soft_link *link, struct soft_frame *frame, const char *payload,
    struct soft_pull *pull, struct soft_cursor *source)
{
	*source = (struct soft_cursor){ .raw = (char *)(uintptr_t)payload, .foreign = true };
	if (!(frame->flags & SOFT_FRAME_PULL) || soft_opcode_is_read(frame->opcode))
		return true;
	pull->from = &link->grantor;
	frame->length = soft_pull_parse(pull, frame, payload);
	source->pull = pull;
	return link->grantor.source.pid && frame->length;
}

static bool
responder_receive(struct soft_qp *qp, struct soft_link *link, const struct soft_frame *frame,
    struct soft_cursor *source, struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	bool answering = soft_responder_answers(qp, frame->from, frame->port);

	if (answers->ignoring && answers->to == frame->from && answers->epoch == frame->epoch)
		return true;
	if (qp->state < IBV_QPS_RTR || soft_trouble_refuses(qp, soft_qpn_slot(frame->from)))
		answers->not_connected = true;
	if (answers->epoch != frame->epoch)
		soft_answers_begin_epoch(qp);
	answers->to = frame->from;
	answers->epoch = frame->epoch;
	answers->ignoring = false;
	if (answering)
		return responder_execute(qp, link, frame, source, deferred);
	soft_answers_refuse(qp, frame->psn, SOFT_NAK_NOT_CONNECTED);
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
	    !soft_is_cut(SOFT_TROUBLE_OUT, link->slot) && soft_link_send_stray(link, &answer))
		soft_link_stop(link);
}

/*
 * The limit of pending reads changes with max_dest_rd_atomic, even while some are pending, so
 * their ring has the greatest length.
 */
int
soft_remote_responder_prepare(struct soft_qp *qp, uint32_t qpn)
{
	struct soft_answers *answers = &qp->answers;

	if (soft_qpn_slot(qpn) != soft_slot_number() && !answers->reads) {
		answers->reads = calloc(SOFT_MAX_RD_ATOM, sizeof *answers->reads);
		answers->read_head = answers->read_next = answers->read_tail = SOFT_COUNT_FIRST;
	}
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
soft_remote_responder_heal(struct soft_qp *qp)
{
	struct soft_link *link;
	unsigned int slot;
	bool owed;

	soft_remote_responder_ready(qp);
	soft_qp_lock_receive(qp);
	slot = soft_qpn_slot(qp->answers.to);
	owed = slot != soft_slot_number() && soft_answers_are_owed(qp);
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
	soft_qp_lock_receive(qp);
	/* The next link starts the request again from its first frame, in a new epoch. */
	qp->message.active = false;
	soft_answers_drop(qp);
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
	owes = soft_answers_are_owed(qp);
	soft_qp_unlock_receive(qp);
	if (stranger)
		responder_nak_stray(link, frame);
	else if (good && owes)
		soft_link_queue_responder(link, &qp->answers.turn, false);
	soft_deferred_run(&deferred);
	soft_qp_put(qp);
	return good;
}

/* The queue pair does not know the read: it is of another connection now, or of none. */
static void
responder_nak_unknown_read(struct soft_link *link, const struct soft_frame *frame)
{
	struct soft_frame request = *frame;

	request.flags = SOFT_FRAME_LAST;
	if (frame->opcode == SOFT_NOT_PULLED)
		responder_nak_stray(link, &request);
}

bool
soft_remote_responder_pulled(struct soft_link *link, const struct soft_frame *frame)
{
	bool known, owes;
	struct soft_qp *qp;

	if (soft_qpn_slot(frame->from) != link->slot ||
	    soft_qpn_slot(frame->qpn) != soft_slot_number())
		return false;
	qp = soft_qp_table_find(frame->qpn);
	if (!qp) {
		responder_nak_unknown_read(link, frame);
		return true;
	}
	soft_qp_lock_receive(qp);
	known = qp->answers.to == frame->from && qp->answers.epoch == frame->epoch &&
		soft_answers_pulled(qp, frame->psn, frame->opcode == SOFT_PULLED);
	owes = soft_answers_are_owed(qp);
	soft_qp_unlock_receive(qp);
	if (!known)
		responder_nak_unknown_read(link, frame);
	else if (owes)
		soft_link_queue_responder(link, &qp->answers.turn, false);
	soft_qp_put(qp);
	return true;
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

	soft_answers_refuse_reads(qp, SOFT_NAK_NOT_CONNECTED);
	if (answers->ack || answers->nak)
		link = soft_peer_incoming(soft_qpn_slot(answers->to));
	if (link) {
		(void)soft_answers_send(qp, link, &none);
		soft_link_notify(link);
		soft_link_put(link);
	}
	answers->ignoring = answers->without_receive = answers->not_connected = false;
	soft_answers_drop(qp);
}

void
soft_remote_responder_answer(struct soft_qp *qp, struct soft_link *link)
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	int r = 0;

	soft_qp_lock_receive(qp);
	if (soft_qpn_slot(qp->answers.to) == link->slot)
		r = soft_answers_send(qp, link, &deferred);
	soft_qp_unlock_receive(qp);
	if (r == -EAGAIN)
		soft_link_queue_responder(link, &qp->answers.turn, true);
	soft_deferred_run(&deferred);
}
