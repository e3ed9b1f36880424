/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp -- reliable connected queue pair
 *
 * The requester (send queue) has the send lock, the responder (receive queue, and what the
 * other side does to us) the receive lock.  The state is written under both, in that
 * order, and read under either.  A requester holds its own send lock and the peer's
 * receive lock; it never takes a second lock of the same kind, so what a failed request
 * does to the peer's send queue is deferred until its own locks are released
 * (struct soft_deferred, in qp_error.h).
 */
#ifndef SOFT_QP_H
#define SOFT_QP_H

#include "copy.h"
#include "rq.h"
#include "soft/cq/cq.h"
#include "soft/wire/handlers.h"

struct soft_srq;

/* A send or write that is being received. */
struct soft_message {
	bool active;
	bool solicited;
	enum ibv_wr_opcode opcode;
	__be32 imm_data;
	uint32_t length, received;
	struct ibv_sge remote; /* of a write: its target */
	struct soft_cursor target;
};

/* A send work request in the ring; segments or inline data follow it. */
struct soft_send {
	uint64_t wr_id;
	uint64_t remote_addr;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t rkey;
	uint32_t length;
	__be32 imm_data;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	bool signaled;
	enum ibv_wc_opcode completion;
	struct ibv_sge sge[];
};

enum soft_stall {
	SOFT_RUNNING,
	SOFT_STALLED_RECEIVE, /* the peer has no receive posted */
	SOFT_STALLED_PEER,    /* the peer is in error, or not connected yet */
	SOFT_STALLED_LINK,    /* no link to its process can be had */
};

struct soft_sq {
	pthread_mutex_t lock;
	char *ring;
	size_t stride;
	uint32_t mask;
	uint32_t size;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t head, tail; /* run freely */
	bool sig_all;

	enum soft_stall stall;
	bool tried, rnr_tried; /* the oldest request has stalled on the peer, on a receive */
	unsigned int tries, rnr_tries; /* that it has left then */
	uint64_t
	    deadline; /* of the timer; a function that runs earlier belongs to an older setting */
	struct soft_timer timer;
	struct soft_qp *peer; /* in this process, holds a reference */

	/* Of a peer in another process; see remote_requester.h: */
	bool remote;
	uint32_t next;	   /* first request not sent whole */
	uint32_t offset;   /* bytes of it that are sent */
	uint32_t psn;	   /* of the oldest request */
	uint32_t epoch;	   /* incremented when requests are sent again or given up */
	uint32_t reading;  /* reads and atomics sent and not answered */
	uint32_t received; /* bytes of the oldest read that came */
	bool for_timeout;  /* the timer is for a timeout; see timeout.h */
	uint32_t answers_heard, answers_before; /* answers, now and when the timer was set */
	uint64_t waiting_since;
	struct soft_cursor target; /* where the next go */
	enum ibv_wc_status fault;  /* of request `next`: it cannot be sent */
	bool draining;		   /* SQ_DRAINED must be raised */
	struct soft_turn turn;	   /* in a list of the link */
};

/* A read or atomic that a process at the other end of a link waits for. */
struct soft_pending_read {
	uint32_t psn;
	uint32_t sent; /* bytes */
	struct ibv_sge remote;
	uint64_t old; /* the old value, for an atomic; its key is SOFT_NO_KEY */
};
#define SOFT_NO_KEY 0

/* The answers that a queue pair owes a requester in another process; see remote_responder.h. */
struct soft_answers {
	uint32_t expected;    /* psn of the next request */
	uint32_t epoch;	      /* of the requester */
	uint32_t to;	      /* its number */
	bool ignoring;	      /* a request was refused: later ones of this epoch are ignored */
	bool without_receive; /* no receive was posted: the next one sends READY */
	bool not_connected;   /* a request came too early: connecting sends READY */

	bool ack, nak, ready; /* to be sent, after the reads */
	uint8_t nak_opcode;
	uint8_t nak_rnr_timer;
	uint32_t ack_psn, nak_psn;
	struct soft_pending_read *reads; /* SOFT_MAX_RD_ATOM of them */
	uint32_t read_head, read_tail;	 /* run freely */

	struct soft_turn turn; /* in a list of the link */
};

struct soft_qp {
	struct ibv_qp ibv;
	struct soft_context *context;
	struct soft_async_source async;
	atomic_uint refs;

	struct soft_sq sq;

	pthread_mutex_t rq_lock;
	struct soft_rq rq;
	struct soft_srq *srq;
	struct soft_receive current; /* taken for a message that is not complete */
	bool has_current;
	struct soft_message message;
	struct soft_answers answers;
	bool refusing; /* a request failed here: no answers until the error state is left */
	struct soft_qp *starved; /* requester waiting for a receive here; holds a reference */
	TAILQ_ENTRY(soft_qp) srq_link;
	bool srq_waiting; /* in srq->starved; guarded by the lock of the SRQ */
	bool established; /* COMM_EST was raised */

	enum ibv_qp_state state; /* written under both locks */
	bool dead;		 /* destroyed; ditto */
	struct ibv_qp_attr attr; /* as set by modify; ditto */
	struct ibv_qp_init_attr init;
};

static inline struct soft_qp *
soft_qp_of(struct ibv_qp *qp)
{
	return soft_container_of(qp, struct soft_qp, ibv);
}

/* A queue-pair number is the slot of its process and an index. */
#define SOFT_QPN_INDEX_BITS 14

static inline unsigned int
soft_qpn_slot(uint32_t qpn)
{
	return qpn >> SOFT_QPN_INDEX_BITS;
}

/* The number that it is connected to; takes the receive lock. */
uint32_t soft_qp_peer(struct soft_qp *qp);

void soft_qp_get(struct soft_qp *qp);
void soft_qp_put(struct soft_qp *qp);

#endif
