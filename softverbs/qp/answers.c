/* SPDX-License-Identifier: BSD-3-Clause */
#include "answers.h"
#include "key.h"
#include "responder.h"
#include "trouble.h"
#include "softverbs/device/changes.h"
#include "softverbs/wire/grant.h"
#include "softverbs/wire/link.h"

/* Frames that a queue pair answers with before others get their turn. */
#define BUDGET 32

/* A sequence number is at or before another if it is less than half of their range behind it. */
#define HALF ((SOFT_PSN_MASK + 1) / 2)

static struct soft_pending_read *
answers_read_at(const struct soft_answers *answers, uint32_t i)
{
	return &answers->reads[i % SOFT_MAX_RD_ATOM];
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

bool
soft_answers_are_owed(const struct soft_qp *qp)
{
	const struct soft_answers *answers = &qp->answers;

	return answers->ack || answers->nak || answers->ready ||
	       answers->read_next != answers->read_tail;
}

void
soft_answers_refuse(struct soft_qp *qp, uint32_t psn, uint8_t opcode)
{
	struct soft_answers *answers = &qp->answers;

	answers->nak = true;
	answers->nak_psn = psn;
	answers->nak_opcode = opcode;
	answers->nak_rnr_timer = soft_responder_rnr_timer(qp);
	answers->ignoring = true;
	qp->message.active = false;
}

/* ---- reads ---- */

static void
answers_end_grant(struct soft_answers *answers)
{
	answers->granted = false;
	soft_grant_end();
}

void
soft_answers_revoke(struct soft_qp *qp)
{
	if (!qp->answers.granted)
		return;
	soft_grant_revoke();
	answers_end_grant(&qp->answers);
}

/* Forgets the oldest reads that were sent, up to the first that was offered. */
static void
answers_forget_reads(struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;

	while (answers->read_head != answers->read_next &&
	       !answers_read_at(answers, answers->read_head)->offered)
		answers->read_head++;
	if (answers->granted && answers->read_head == answers->read_next &&
	    (answers->read_head == answers->read_tail ||
		!answers_read_at(answers, answers->read_head)->offered))
		answers_end_grant(answers);
}

bool
soft_answers_take_read(const struct soft_qp *qp)
{
	const struct soft_answers *answers = &qp->answers;

	return answers->read_tail - answers->read_head < qp->attr.max_dest_rd_atomic;
}

void
soft_answers_add_read(struct soft_qp *qp, const struct soft_pending_read *read)
{
	*answers_read_at(&qp->answers, qp->answers.read_tail++) = *read;
}

/*
 * Refuses the oldest read that was not sent and those after it.  Requests that were executed after
 * the read are not acknowledged, because that would also acknowledge the read, whose data the
 * requester does not have.
 */
void
soft_answers_refuse_reads(struct soft_qp *qp, uint8_t opcode)
{
	struct soft_answers *answers = &qp->answers;

	if (answers->read_next == answers->read_tail)
		return;
	/* A part of it may be offered. */
	if (answers_read_at(answers, answers->read_next)->offered)
		soft_answers_revoke(qp);
	soft_answers_refuse(qp, answers_read_at(answers, answers->read_next)->psn, opcode);
	answers->read_tail = answers->read_next;
	answers->ack = answers->last_acks = false;
}

/* Makes the address of the data the payload of the frame. */
static void
answers_offer(struct soft_qp *qp, struct soft_frame *frame, struct iovec *iov,
    struct soft_wire_segment *segment) REQUIRES(soft_locks.receive) REQUIRES_SHARED(soft_locks.keys)
{
	soft_grant_touch(iov, 1);
	if (!qp->answers.granted)
		soft_grant_begin();
	qp->answers.granted = true;
	*segment = (struct soft_wire_segment){ (uintptr_t)iov->iov_base, iov->iov_len };
	*iov = (struct iovec){ segment, sizeof *segment };
	frame->flags |= SOFT_FRAME_PULL;
	frame->compare_add = soft_grant_number();
}

/*
 * Sends the next frame of a read: 1 if it was the last, 0, -EFAULT if the memory is not accessible
 * any more, or as soft_link_send().
 */
static int
answers_send_read(struct soft_qp *qp, struct soft_pending_read *read, struct soft_link *link)
    REQUIRES(soft_locks.receive) SOFT_NO_KEYS_LOCK
{
	struct soft_frame frame = answers_frame(qp, SOFT_FRAME_RESPONSE, read->psn);
	uint32_t length = read->remote.length - read->sent;
	struct iovec iov = { &read->old, length };
	struct soft_wire_segment segment;
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
	if (iov.iov_base && read->pulled)
		answers_offer(qp, &frame, &iov, &segment);
	r = iov.iov_base ? soft_link_send(link, &frame, &iov, length ? 1 : 0) : -EFAULT;
	soft_keys_unlock_shared();
	if (r)
		return r;
	read->offered = read->pulled;
	read->sent += length;
	return !!(frame.flags & SOFT_FRAME_LAST);
}

static int
answers_send_reads(struct soft_qp *qp, struct soft_link *link, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	int r = 0, budget = BUDGET;

	while (r >= 0 && answers->read_next != answers->read_tail) {
		if (qp->dead) {
			/* The keys of the reads may be gone. */
			soft_answers_refuse_reads(qp, SOFT_NAK_NOT_CONNECTED);
			break;
		}
		r = budget-- ?
			answers_send_read(qp, answers_read_at(answers, answers->read_next), link) :
			-EAGAIN;
		if (r == -EFAULT) {
			soft_responder_refuse(
			    qp, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
			soft_answers_refuse_reads(qp, IBV_WC_REM_ACCESS_ERR);
			r = 0;
			break;
		}
		if (r > 0)
			answers->read_next++;
	}
	/*
	 * What the requester has does not count against its limit, although others wait for room.
	 */
	answers_forget_reads(qp);
	return r < 0 ? r : 0;
}

/* Answers all reads that the requester does not have again, with their data. */
static void
answers_send_again(struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_pending_read *read;

	answers->read_next = answers->read_head;
	for (uint32_t i = answers->read_head; i != answers->read_tail; i++) {
		read = answers_read_at(answers, i);
		read->sent = 0;
		read->pulled = read->offered = false;
	}
	answers->ack = answers->last_acks;
	answers->nak |= answers->ignoring;
}

bool
soft_answers_pulled(struct soft_qp *qp, uint32_t psn, bool pulled)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_pending_read *read;
	uint32_t i = answers->read_head;

	for (; i != answers->read_next; i++) {
		read = answers_read_at(answers, i);
		if (((psn - read->psn) & SOFT_PSN_MASK) >= HALF || (!pulled && read->psn == psn))
			break;
		read->offered = false;
	}
	answers_forget_reads(qp);
	if (pulled)
		return true;
	/* A read of several frames can fail before all of them are sent. */
	i = answers->read_head;
	if (i == answers->read_tail || answers_read_at(answers, i)->psn != psn ||
	    !answers_read_at(answers, i)->offered)
		return false;
	answers_send_again(qp);
	return true;
}

/* Forgets all reads that were sent, offered or not. */
static void
answers_withdraw(struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	qp->answers.read_head = qp->answers.read_next;
	soft_answers_revoke(qp);
}

void
soft_answers_begin_epoch(struct soft_qp *qp)
{
	qp->message.active = false;
	answers_withdraw(qp);
}

void
soft_answers_end_reads(struct soft_qp *qp)
{
	soft_answers_refuse_reads(qp, SOFT_NAK_NOT_CONNECTED);
	answers_withdraw(qp);
}

void
soft_answers_drop(struct soft_qp *qp)
{
	struct soft_answers *answers = &qp->answers;

	answers->read_next = answers->read_tail;
	answers->ack = answers->nak = answers->ready = false;
	answers_withdraw(qp);
}

/* ---- acknowledgements ---- */

void
soft_answers_done(struct soft_qp *qp, uint32_t psn, bool read)
{
	struct soft_answers *answers = &qp->answers;

	answers->expected = (psn + 1) & SOFT_PSN_MASK;
	/* The data of a read acknowledges it, and all before it. */
	answers->ack = answers->last_acks = !read;
	answers->ack_psn = psn;
}

/* They do not arrive: until all is well again. */
static bool
answers_are_kept(const struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	return __builtin_expect(soft_troubles(SOFT_TROUBLE_DOWN | SOFT_TROUBLE_OUT), 0) &&
	       (soft_trouble_is_down(qp) ||
		   soft_is_cut(SOFT_TROUBLE_OUT, soft_qpn_slot(qp->answers.to)));
}

void
soft_answers_send_ack(struct soft_qp *qp, struct soft_link *link)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_frame frame = answers_frame(qp, SOFT_FRAME_ACK, answers->ack_psn);

	if (answers->read_next == answers->read_tail && !answers_are_kept(qp) &&
	    !soft_link_send(link, &frame, NULL, 0))
		answers->ack = false;
}

int
soft_answers_send(struct soft_qp *qp, struct soft_link *link, struct soft_deferred *deferred)
{
	struct soft_answers *answers = &qp->answers;
	struct soft_frame frame;
	int r;

	if (answers_are_kept(qp))
		return 0;
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
