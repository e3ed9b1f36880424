/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote_requester.h"
#include "fate.h"
#include "key.h"
#include "mw.h"
#include "qp_error.h"
#include "qp_table.h"
#include "timeout.h"
#include "sq.h"
#include "stall.h"
#include "trouble.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/grant.h"
#include "softverbs/wire/peer.h"

/* Frames that a queue pair sends before others get their turn. */
#define BUDGET 32

/* Fewer bytes are sent: to read another process takes a call and two switches of threads. */
#define PULL_MIN 8192

/* Points the vector at `length` bytes of the request's data; -1 if a key forbids it. */
static int
remote_send_gather(const struct soft_qp *qp, const struct soft_send *send, uint32_t offset,
    uint32_t length, struct iovec *iov) REQUIRES_SHARED(soft_locks.keys)
{
	uint32_t piece;
	int n = 0;

	if (send->flags & IBV_SEND_INLINE) {
		iov[0] = (struct iovec){ (char *)(uintptr_t)send->sge + offset, length };
		return 1;
	}
	for (int i = 0; i < send->num_sge && length; i++) {
		const struct ibv_sge *sge = &send->sge[i];

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		piece = sge->length - offset < length ? sge->length - offset : length;
		iov[n].iov_base = soft_key_translate(
		    qp->pd, NULL, sge->lkey, sge->addr + offset, piece, SOFT_ACCESS_LOCAL_READ);
		iov[n].iov_len = piece;
		if (!iov[n++].iov_base)
			return -1;
		length -= piece;
		offset = 0;
	}
	return n;
}

/* Makes the addresses of the data the payload of the frame. */
static int
remote_send_addresses(struct soft_sq *sq, struct soft_frame *frame, struct iovec *iov, int n,
    struct soft_wire_segment *segments) REQUIRES(soft_locks.send) REQUIRES_SHARED(soft_locks.keys)
{
	soft_grant_touch(iov, n);
	for (int i = 0; i < n; i++)
		segments[i] =
		    (struct soft_wire_segment){ (uintptr_t)iov[i].iov_base, iov[i].iov_len };
	if (!sq->granted)
		soft_grant_begin();
	frame->flags |= SOFT_FRAME_PULL;
	frame->compare_add = soft_grant_number();
	if (!sq->granted || !sq->grant)
		sq->grant = frame->compare_add;
	sq->granted = true;
	iov[0] = (struct iovec){ segments, (size_t)n * sizeof *segments };
	return 1;
}

/* Whether the answer may be the address of the data. */
static bool
requester_can_pull(const struct soft_sq *sq, const struct soft_send *send,
    const struct soft_link *link) REQUIRES(soft_locks.send)
{
	return send->opcode == IBV_WR_RDMA_READ && send->length >= PULL_MIN && link->pulls &&
	       !sq->carrying;
}

/* Sends the next frame of request `next`: 0, or -EFAULT, or as soft_link_send(). */
static int
requester_send_frame(struct soft_qp *qp, struct soft_send *send, struct soft_link *link)
    REQUIRES(soft_locks.send) SOFT_NO_KEYS_LOCK
{
	struct soft_sq *sq = &qp->sq;
	struct soft_wire_segment segments[SOFT_MAX_SGE];
	struct iovec iov[SOFT_MAX_SGE];
	uint32_t length = soft_opcode_is_read(send->opcode) ? 0 : send->length - sq->offset;
	struct soft_frame frame = {
		.type = SOFT_FRAME_REQUEST,
		.opcode = (uint8_t)send->opcode,
		.flags = sq->offset ? 0 : SOFT_FRAME_FIRST,
		.qpn = qp->attr.dest_qp_num,
		.from = qp->ibv.qp_num,
		.port = (uint16_t)qp->route,
		.psn = (sq->psn + sq->unanswered) & SOFT_PSN_MASK,
		.total = send->length,
		.imm_data = send->imm_data,
		.rkey = send->rkey,
		.address = send->remote_addr,
		.compare_add = send->compare_add,
		.swap = send->swap,
		.epoch = sq->epoch,
	};
	bool last;
	int n, r;

	if (length > SOFT_WIRE_PAYLOAD)
		length = SOFT_WIRE_PAYLOAD;
	last = soft_opcode_is_read(send->opcode) || sq->offset + length == send->length;
	send->asked_to_pull = requester_can_pull(sq, send, link);
	if (send->asked_to_pull)
		frame.flags |= SOFT_FRAME_PULL;
	if (last)
		frame.flags |= SOFT_FRAME_LAST;
	if (send->flags & IBV_SEND_SOLICITED)
		frame.flags |= SOFT_FRAME_SOLICITED;
	if (send->judged)
		soft_fate_change_frame(send, &frame);
	soft_keys_lock_shared();
	n = length ? remote_send_gather(qp, send, sq->offset, length, iov) : 0;
	if (n > 0 && length >= PULL_MIN && link->pulled && !sq->carrying &&
	    !(send->flags & IBV_SEND_INLINE))
		n = remote_send_addresses(sq, &frame, iov, n, segments);
	r = n < 0 ? -EFAULT : soft_link_send(link, &frame, iov, n);
	soft_keys_unlock_shared();
	if (r)
		return r;
	sq->offset += length;
	if (last) {
		sq->next++;
		sq->offset = 0;
		sq->unanswered++;
		sq->reading += soft_opcode_is_read(send->opcode);
		sq->pulling += send->asked_to_pull;
	}
	return 0;
}

/* True if the request may be sent now; a fault is stored in sq->fault. */
static bool
requester_may_send(struct soft_qp *qp, struct soft_send *send) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	if (sq->offset)
		return true;
	sq->fault = soft_sq_check(qp, send);
	if (sq->fault != IBV_WC_SUCCESS)
		return false;
	/* An invalidation with a fence waits for everything before it. */
	if (send->flags & IBV_SEND_FENCE &&
	    (sq->reading || (send->opcode == IBV_WR_LOCAL_INV && sq->head != sq->next)))
		return false;
	/*
	 * The consumer at the other end may end the connection when it sees a completion, and
	 * expects that the reads before it are done then.
	 */
	if (sq->pulling && soft_opcode_takes_receive(send->opcode))
		return false;
	return !soft_opcode_is_read(send->opcode) || sq->reading < qp->attr.max_rd_atomic;
}

/* There is no link: the other process has ended, or a link cannot be opened now. */
static void
requester_without_link(struct soft_qp *qp, int error) REQUIRES(soft_locks.send)
{
	soft_sq_go_back(qp);
	if (error == ECONNREFUSED || error == ENOENT)
		soft_sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
	else
		soft_sq_stall_for_link(qp);
}

/* Completes binds and invalidations that were executed and have become the oldest requests. */
static void
requester_complete_executed(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	while (sq->head != sq->next && soft_opcode_is_local(soft_sq_at(sq, sq->head)->opcode))
		if (soft_sq_complete(qp, IBV_WC_SUCCESS))
			soft_qp_error_locked(qp, IBV_EVENT_QP_FATAL);
}

/* The oldest request, a message, and the executed requests between it and the next message. */
static void
requester_complete_oldest(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	qp->sq.psn = (qp->sq.psn + 1) & SOFT_PSN_MASK;
	qp->sq.unanswered--;
	if (soft_sq_complete(qp, IBV_WC_SUCCESS))
		soft_qp_error_locked(qp, IBV_EVENT_QP_FATAL);
	requester_complete_executed(qp);
}

/* Completes the oldest `n` messages; false if a read among them was not answered. */
static bool
requester_complete_messages(struct soft_qp *qp, uint32_t n) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	while (qp->state != IBV_QPS_ERR && n--) {
		if (soft_opcode_is_read(soft_sq_at(sq, sq->head)->opcode))
			return false;
		requester_complete_oldest(qp);
	}
	return true;
}

/* Reports to the responder, when there is room, whether the oldest read was pulled. */
static void
requester_confirm(struct soft_qp *qp, bool pulled) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	sq->confirming = true;
	sq->refused = !pulled;
	sq->confirmed = sq->psn;
}

/* 0, or as soft_link_send(). */
static int
requester_send_confirmation(struct soft_qp *qp, struct soft_link *link) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;
	struct soft_frame frame = {
		.type = SOFT_FRAME_PULLED,
		.opcode = sq->refused ? SOFT_NOT_PULLED : SOFT_PULLED,
		.qpn = qp->attr.dest_qp_num,
		.from = qp->ibv.qp_num,
		.psn = sq->confirmed,
		.epoch = sq->epoch,
	};
	int r = soft_link_send(link, &frame, NULL, 0);

	if (!r)
		sq->confirming = false;
	else if (r == -EAGAIN)
		soft_link_queue_requester(link, &sq->turn);
	return r;
}

/* Whether a part of the data of the oldest request, `length` bytes, is the next one. */
static bool
requester_data_fits(struct soft_qp *qp, const struct soft_frame *frame, uint32_t length)
    REQUIRES(soft_locks.send)
{
	const struct soft_sq *sq = &qp->sq;
	const struct soft_send *send = soft_sq_at(&qp->sq, sq->head);

	return soft_opcode_is_read(send->opcode) && frame->total == send->length &&
	       !(frame->flags & SOFT_FRAME_FIRST) == (sq->received > 0) &&
	       length <= send->length - sq->received &&
	       (!(frame->flags & SOFT_FRAME_LAST) || sq->received + length == send->length) &&
	       (frame->flags & SOFT_FRAME_LAST || length);
}

/* The oldest read is complete. */
static void
requester_end_read(struct soft_qp *qp, const struct soft_frame *frame) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	sq->received = 0;
	sq->reading--;
	sq->pulling -= soft_sq_at(sq, sq->head)->asked_to_pull;
	if (frame->flags & SOFT_FRAME_PULL)
		requester_confirm(qp, true);
	requester_complete_oldest(qp);
}

static bool
requester_receive_data(struct soft_qp *qp, struct soft_link *link, const struct soft_frame *frame,
    const char *payload) REQUIRES(soft_locks.send)
{
	struct soft_cursor source = { .raw = (char *)(uintptr_t)payload, .foreign = true };
	struct soft_sq *sq = &qp->sq;
	const struct soft_send *send = soft_sq_at(sq, sq->head);
	uint32_t length = frame->length;
	struct soft_pull pull;

	if (frame->flags & SOFT_FRAME_PULL) {
		pull.from = &link->grantor;
		length = soft_pull_parse(&pull, frame, payload);
		source.pull = &pull;
		if (!length || !send->asked_to_pull)
			return false;
	}
	if (!requester_data_fits(qp, frame, length))
		return false;
	if (!sq->received)
		sq->target = (struct soft_cursor){
			.sge = send->sge,
			.left = send->num_sge,
			.pd = qp->pd,
			.access = IBV_ACCESS_LOCAL_WRITE,
		};
	switch (soft_copy(&sq->target, &source, length)) {
	case SOFT_COPIED:
		sq->rereading = false;
		sq->received += length;
		if (frame->flags & SOFT_FRAME_LAST)
			requester_end_read(qp, frame);
		break;
	case SOFT_SOURCE_FAULT:
		if (!soft_pull_works(&link->grantor, pull.number))
			link->pulls = false;
		sq->received = 0;
		sq->rereading = true;
		requester_confirm(qp, false);
		break;
	default:
		soft_sq_fail(qp, IBV_WC_LOC_PROT_ERR);
	}
	return true;
}

/*
 * Whether the answer was sent before the responder knew that the oldest read could not be pulled.
 * What it sends then begins with the data of the read, or refuses it.
 */
static bool
requester_ignores(const struct soft_sq *sq, const struct soft_frame *frame, uint32_t ahead)
    REQUIRES(soft_locks.send)
{
	if (!sq->rereading)
		return false;
	if (frame->type == SOFT_FRAME_NAK)
		return ahead > 0;
	return frame->type != SOFT_FRAME_RESPONSE || ahead > 0 || frame->flags & SOFT_FRAME_PULL;
}

/*
 * The oldest request is sent again, with its data.  If the grant has not changed, the kernel does
 * not let the other process read, or the memory is not there.  False if there was nothing to pull.
 */
static bool
requester_not_pulled(struct soft_qp *qp, struct soft_link *link) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	if (!sq->granted || sq->carrying)
		return false;
	if (sq->grant == soft_grant_number())
		link->pulled = false;
	sq->grant = 0;
	soft_sq_go_back(qp);
	sq->carrying = true;
	return true;
}

/* False if the oldest request cannot be refused so. */
static bool
requester_refused(struct soft_qp *qp, struct soft_link *link, const struct soft_frame *frame)
    REQUIRES(soft_locks.send)
{
	if (frame->opcode == SOFT_NAK_NOT_PULLED) {
		return requester_not_pulled(qp, link);
	} else if (frame->opcode == SOFT_NAK_NOT_READY) {
		soft_sq_go_back(qp);
		soft_sq_stall_for_receive(qp, frame->rnr_timer);
	} else if (frame->opcode == SOFT_NAK_NOT_CONNECTED) {
		soft_sq_go_back(qp);
		soft_sq_stall_for_peer(qp);
	} else {
		soft_sq_fail(qp, (enum ibv_wc_status)frame->opcode);
	}
	return true;
}

static bool
requester_response_locked(struct soft_qp *qp, struct soft_link *link,
    const struct soft_frame *frame, const char *payload) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;
	uint32_t ahead, sent = sq->unanswered;
	bool good;

	if (!sq->remote || qp->state < IBV_QPS_RTS || qp->state >= IBV_QPS_ERR ||
	    qp->attr.dest_qp_num != frame->from)
		return true; /* it answers an earlier connection of this queue pair */
	if (frame->type == SOFT_FRAME_READY) {
		if (soft_sq_keeps_stall(qp))
			return true;
		if (sq->stall)
			soft_sq_end_stall(qp);
		soft_remote_requester_run(qp);
		return true;
	}
	if (frame->epoch != sq->epoch)
		return true;
	ahead = (frame->psn - sq->psn) & SOFT_PSN_MASK;
	if (ahead >= sent && !(frame->type == SOFT_FRAME_NAK && ahead == sent && sq->offset))
		return false;
	soft_timeout_renew(qp);
	if (requester_ignores(sq, frame, ahead))
		return true;
	switch (frame->type) {
	case SOFT_FRAME_ACK:
		good = requester_complete_messages(qp, ahead + 1);
		break;
	case SOFT_FRAME_RESPONSE:
		good = requester_complete_messages(qp, ahead);
		if (good && qp->state != IBV_QPS_ERR)
			good = requester_receive_data(qp, link, frame, payload);
		break;
	case SOFT_FRAME_NAK:
		/*
		 * A process without this queue pair does not know which reads were not answered.
		 */
		good = requester_complete_messages(qp, ahead) ||
		       frame->opcode == SOFT_NAK_NOT_CONNECTED;
		if (good && qp->state != IBV_QPS_ERR)
			good = requester_refused(qp, link, frame);
		break;
	default:
		return false;
	}
	if (!sq->stall)
		/* a fence or the limit of reads may not apply any more */
		soft_remote_requester_run(qp);
	soft_sq_drained(qp);
	return good;
}

/*
 * Executes request `next`, unless that was done before the queue went back.  A failure is a fault.
 */
static void
requester_execute(struct soft_qp *qp, struct soft_send *send)
    REQUIRES(soft_locks.send) SOFT_NO_KEYS_LOCK
{
	struct soft_sq *sq = &qp->sq;

	if (!send->executed)
		sq->fault = soft_mw_execute(qp, send);
	if (sq->fault != IBV_WC_SUCCESS)
		return;
	send->executed = true;
	sq->next++;
	requester_complete_executed(qp);
}

void
soft_remote_requester_run(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;
	struct soft_link *link = NULL;
	struct soft_send *send;
	int budget = BUDGET, r = 0;

	if (sq->confirming && !soft_trouble_holds_requests(qp)) {
		link = soft_peer_outgoing(soft_qpn_slot(qp->attr.dest_qp_num));
		r = link ? requester_send_confirmation(qp, link) : 0;
	}
	while (!sq->stall && sq->next != sq->tail && !sq->fault && !r) {
		/* A draining queue finishes the message it has begun, also one that was refused. */
		if (qp->state != IBV_QPS_RTS &&
		    !(qp->state == IBV_QPS_SQD &&
			(sq->offset || (sq->head == sq->next && soft_sq_has_begun(sq)))))
			break;
		send = soft_sq_at(sq, sq->next);
		if (send->due && soft_trouble_delays(qp, send))
			break;
		if (!requester_may_send(qp, send))
			break;
		if (soft_opcode_is_local(send->opcode)) {
			requester_execute(qp, send);
			continue;
		}
		/* A message that was begun is sent whole; answers may come of those before it. */
		if (!sq->offset && soft_trouble_holds_requests(qp)) {
			if (sq->head == sq->next)
				soft_sq_stall_for_peer(qp);
			break;
		}
		if (!link)
			link = soft_peer_outgoing(soft_qpn_slot(qp->attr.dest_qp_num));
		if (!link) {
			requester_without_link(qp, errno);
			return;
		}
		r = budget-- ? requester_send_frame(qp, send, link) : -EAGAIN;
		if (r == -EFAULT)
			sq->fault = IBV_WC_LOC_PROT_ERR;
		else if (r == -EAGAIN)
			soft_link_queue_requester(link, &sq->turn);
		/* If the link is dead, the progress thread handles its end. */
	}
	if (link)
		soft_link_put(link);
	/* A request that cannot be sent fails when all requests before it are complete. */
	if (sq->fault && sq->head == sq->next)
		soft_sq_fail(qp, sq->fault);
	soft_timeout_start(qp);
}

void
soft_remote_requester_continue(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;
	uint32_t next, offset;

	soft_qp_lock_send(qp);
	if (sq->remote && !sq->stall) {
		next = sq->next;
		offset = sq->offset;
		soft_remote_requester_run(qp);
		/* The link has room again, so the peer reads what was sent. */
		if (sq->next != next || sq->offset != offset)
			soft_timeout_renew(qp);
	}
	soft_qp_unlock_send(qp);
}

void
soft_remote_requester_link_lost(struct soft_qp *qp, bool gone)
{
	struct soft_sq *sq = &qp->sq;

	soft_qp_lock_send(qp);
	if (!sq->remote || qp->state < IBV_QPS_RTS || qp->state >= IBV_QPS_ERR) {
		/* the queue pair waits for no answer */
	} else if (gone && sq->head != sq->tail) {
		soft_sq_go_back(qp);
		soft_sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
	} else if ((!sq->stall || sq->stall == SOFT_STALLED_DELAY) &&
		   (sq->next != sq->head || sq->offset)) {
		soft_sq_go_back(qp);
		soft_sq_stall_for_peer(qp);
	}
	soft_qp_unlock_send(qp);
}

bool
soft_remote_requester_response(
    struct soft_link *link, const struct soft_frame *frame, const char *payload)
{
	struct soft_qp *qp;
	bool good;

	if (soft_qpn_slot(frame->from) != link->slot ||
	    soft_qpn_slot(frame->qpn) != soft_slot_number())
		return false;
	qp = soft_qp_table_find(frame->qpn);
	if (!qp)
		return true; /* destroyed before its answer came */
	soft_qp_lock_send(qp);
	good = requester_response_locked(qp, link, frame, payload);
	soft_qp_unlock_send(qp);
	soft_qp_put(qp);
	return good;
}
