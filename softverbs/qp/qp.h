/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp -- queue pair, reliable and connected or of unreliable datagrams
 *
 * The send lock guards the requester (the send queue).  The receive lock guards the responder (the
 * receive queue, and the execution of the peer's requests).  The state is written under both, in
 * that order, and read under either.  A requester holds its own send lock and the peer's receive
 * lock, and never a second lock of the same kind.  The effect of a failed request on the peer's
 * send queue is therefore deferred until the requester's locks are released (struct soft_deferred,
 * in qp_error.h).
 */
#ifndef SOFT_QP_H
#define SOFT_QP_H

#include "copy.h"
#include "rq.h"
#include "softverbs/cq/cq.h"
#include "softverbs/device/mutex.h"
#include "softverbs/device/topology.h"
#include "softverbs/wire/handlers.h"

struct soft_batch;
struct soft_srq;
struct soft_mw;

/* A send or write that is being received. */
struct soft_message {
	bool active;
	bool solicited;
	enum ibv_wr_opcode opcode;
	__be32 imm_data; /* or the key to invalidate */
	uint32_t length, received;
	struct ibv_sge remote; /* of a write: its target */
	struct soft_cursor target;
};

/*
 * What a bind names.  The window and the region may be freed before it is executed, so it has
 * their keys and serial numbers.
 */
struct soft_bind {
	uint64_t address;
	uint64_t length;
	uint32_t window, window_serial;
	uint32_t region, region_serial; /* 0: none */
	unsigned int access;
};

/* A send work request in the ring; segments or inline data follow it. */
struct soft_send {
	uint64_t wr_id;
	union {
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
		};
		struct soft_bind bind;
		struct {
			uint32_t to, qkey;
			bool here, global; /* as those of the address handle */
			uint16_t route;
			uint8_t gids[2], sl;
		} datagram;
	};
	uint32_t rkey; /* of a bind: the window's next */
	uint32_t length;
	__be32 imm_data; /* or the key to invalidate */
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	bool signaled;
	bool executed;		 /* a bind or invalidation that completes after those before it */
	uint64_t due;		 /* not before this time, as messages take longer; 0: at once */
	bool judged;		 /* `fate` is set */
	enum ibv_wc_status fate; /* with which a rule lets it complete; see fate.h */
	bool asked_to_pull;	 /* a read: its answer may be addresses */
	enum ibv_wc_opcode completion;
	struct ibv_sge sge[];
};

/* A read or atomic: the answer has data. */
static inline bool
soft_opcode_is_read(unsigned int opcode)
{
	return opcode - IBV_WR_RDMA_READ <= IBV_WR_ATOMIC_FETCH_AND_ADD - IBV_WR_RDMA_READ;
}

/* A message that completes a receive of the peer. */
static inline bool
soft_opcode_takes_receive(unsigned int opcode)
{
	return opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND ||
	       opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

/* A bind or invalidation: the requester executes it, and the peer does not know of it. */
static inline bool
soft_opcode_is_local(unsigned int opcode)
{
	return opcode - IBV_WR_LOCAL_INV <= IBV_WR_BIND_MW - IBV_WR_LOCAL_INV;
}

enum soft_stall {
	SOFT_RUNNING,
	SOFT_STALLED_RECEIVE, /* the peer has no receive posted */
	SOFT_STALLED_PEER,    /* the peer is in error, or not connected yet */
	SOFT_STALLED_LINK,    /* no link to its process can be had */
	SOFT_STALLED_DELAY,   /* until the oldest request that was not sent is due */
};

struct soft_sq {
	struct soft_mutex lock;
	char *ring;
	size_t stride;
	uint32_t mask;
	uint32_t size;
	uint32_t max_sge;
	uint32_t max_read_sge;
	uint32_t max_inline;
	bool atomics;				   /* the device has them */
	uint32_t head GUARDED_BY(soft_locks.send); /* run freely */
	uint32_t tail GUARDED_BY(soft_locks.send);
	bool sig_all;
	/* A checker counts here the requests without a completion that were posted in a row. */
	uint32_t unsignaled GUARDED_BY(soft_locks.send);
	/*
	 * And here those that were posted since the poll of this number, and whether one of these
	 * has a completion.
	 */
	uint32_t unpolled GUARDED_BY(soft_locks.send);
	uint32_t polls GUARDED_BY(soft_locks.send);
	bool unpolled_signaled GUARDED_BY(soft_locks.send);

	enum soft_stall stall GUARDED_BY(soft_locks.send);
	/* Whether the oldest request has stalled on the peer, on a receive; the tries left then. */
	bool tried GUARDED_BY(soft_locks.send);
	bool rnr_tried GUARDED_BY(soft_locks.send);
	bool rnr_made GUARDED_BY(soft_locks.send); /* by an incident, at one of the tries */
	unsigned int tries GUARDED_BY(soft_locks.send);
	unsigned int rnr_tries GUARDED_BY(soft_locks.send);
	/* When it stalled on a receive first; whether that was reported in this connection. */
	uint64_t starved_since GUARDED_BY(soft_locks.send);
	bool starved_told GUARDED_BY(soft_locks.send);
	/*
	 * When the timer expires; a timer function that runs earlier belongs to an older setting.
	 */
	uint64_t deadline GUARDED_BY(soft_locks.send);
	struct soft_timer timer;
	struct soft_qp *peer GUARDED_BY(soft_locks.send); /* in this process, holds a reference */

	/*
	 * Used if the peer is in another process: how far the requests were sent.  See
	 * remote_requester.h.
	 */
	bool remote GUARDED_BY(soft_locks.send);
	uint32_t next GUARDED_BY(soft_locks.send);	 /* first request not sent whole */
	uint32_t offset GUARDED_BY(soft_locks.send);	 /* bytes of it that are sent */
	uint32_t psn GUARDED_BY(soft_locks.send);	 /* of the oldest message */
	uint32_t unanswered GUARDED_BY(soft_locks.send); /* messages sent whole */
	/* Incremented when requests are sent again or given up. */
	uint32_t epoch GUARDED_BY(soft_locks.send);
	/* number of reads and atomics that were sent and not answered */
	uint32_t reading GUARDED_BY(soft_locks.send);
	/* number of bytes of the oldest read that have arrived */
	uint32_t received GUARDED_BY(soft_locks.send);
	/*
	 * The peer may read our memory for requests that were sent, with that number of the grant.
	 */
	bool granted GUARDED_BY(soft_locks.send);
	uint64_t grant GUARDED_BY(soft_locks.send);
	/* The oldest request could not be pulled: until it is answered, data is sent. */
	bool carrying GUARDED_BY(soft_locks.send);
	/* Number of reads that were sent, not answered, and may be pulled. */
	uint32_t pulling GUARDED_BY(soft_locks.send);
	/*
	 * The oldest request, a read, could not be pulled: all answers before its data are ignored.
	 */
	bool rereading GUARDED_BY(soft_locks.send);
	/*
	 * The responder is to hear that reads through `confirmed` were pulled, or that it was not.
	 */
	bool confirming GUARDED_BY(soft_locks.send);
	bool refused GUARDED_BY(soft_locks.send);
	uint32_t confirmed GUARDED_BY(soft_locks.send);
	/* The timer is for a timeout; see timeout.h. */
	bool for_timeout GUARDED_BY(soft_locks.send);
	/* Number of answers that came: now, and when the timer was set. */
	uint32_t answers_heard GUARDED_BY(soft_locks.send);
	uint32_t answers_before GUARDED_BY(soft_locks.send);
	uint64_t waiting_since GUARDED_BY(soft_locks.send);
	/* where the next bytes of a read are stored */
	struct soft_cursor target GUARDED_BY(soft_locks.send);
	/* Of request `next`: it cannot be sent. */
	enum ibv_wc_status fault GUARDED_BY(soft_locks.send);
	bool draining GUARDED_BY(soft_locks.send); /* SQ_DRAINED must be raised */
	struct soft_turn turn;			   /* in a list of the link */
};

/* A read or atomic that a process at the other end of a link waits for. */
struct soft_pending_read {
	uint32_t psn;
	uint32_t sent; /* bytes */
	struct ibv_sge remote;
	uint64_t old; /* for an atomic, the old value; then `remote.lkey` is SOFT_NO_KEY */
	bool pulled;  /* the requester is given the address of the data */
	bool offered; /* it has it, and has not confirmed that it pulled the data */
};
#define SOFT_NO_KEY 0

/* The answers that a queue pair owes a requester in another process; see answers.h. */
struct soft_answers {
	uint32_t expected;    /* psn of the next request */
	uint32_t epoch;	      /* of the requester */
	uint32_t to;	      /* its number */
	bool ignoring;	      /* a request was refused: later ones of this epoch are ignored */
	bool without_receive; /* a send found no receive: posting the next receive sends READY */
	bool not_connected;   /* a request came too early: connecting sends READY */

	bool ack, nak, ready; /* to be sent, after the reads */
	uint8_t nak_opcode;
	uint8_t nak_rnr_timer;
	uint32_t ack_psn, nak_psn;
	struct soft_pending_read *reads; /* SOFT_MAX_RD_ATOM of them */
	/* Run freely: the oldest that may have to be sent again, the next to be sent, the end. */
	uint32_t read_head, read_next, read_tail;
	bool granted;	/* there are offered reads */
	bool last_acks; /* the last message that was executed is answered with an acknowledgement */

	struct soft_turn turn; /* in a list of the link */
};

struct soft_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex; /* begins with it */
	};
	struct soft_batch *batch; /* for requests that are built call by call, or NULL */
	struct soft_context *context;
	struct ibv_pd *pd; /* not a parent domain of it */
	struct soft_async_source async;
	atomic_uint refs;

	struct soft_sq sq;

	struct soft_mutex rq_lock;
	struct soft_rq rq GUARDED_BY(soft_locks.receive);
	struct soft_srq *srq;
	atomic_bool refused; /* a rule let a call fail that would have posted a receive */
	/* Taken for a message that is not complete. */
	struct soft_receive current GUARDED_BY(soft_locks.receive);
	bool has_current GUARDED_BY(soft_locks.receive);
	struct soft_message message GUARDED_BY(soft_locks.receive);
	struct soft_answers answers GUARDED_BY(soft_locks.receive);
	/* A request failed here: no answers until the error state is left. */
	bool refusing GUARDED_BY(soft_locks.receive);
	/* Requester waiting for a receive here; holds a reference. */
	struct soft_qp *starved GUARDED_BY(soft_locks.receive);
	TAILQ_ENTRY(soft_qp) srq_link;
	/* In srq->starved; guarded by the lock of the SRQ. */
	bool srq_waiting GUARDED_BY(soft_locks.srq);
	bool established GUARDED_BY(soft_locks.receive); /* COMM_EST was raised */

	LIST_HEAD(, soft_mw) windows GUARDED_BY(soft_locks.keys); /* of type 2, bound on it */

	enum ibv_qp_state state; /* written under both locks */
	/*
	 * Its own port, the first until it has one, and the number of that of its peer: 0 in the
	 * plain topology, SOFT_PORT_NOWHERE if its address leads to none.  Written under both
	 * locks.
	 */
	const struct soft_device_port *port;
	unsigned int route;
	uint32_t moves;		 /* of both, when it was connected; written under both locks */
	unsigned int made;	 /* which one of the process it is; 0 without rules of incidents */
	bool dead;		 /* destroyed; written under both locks */
	struct ibv_qp_attr attr; /* as ibv_modify_qp() set them; written under both locks */
	struct ibv_qp_init_attr init;
};

static inline struct soft_qp *
soft_qp_of(struct ibv_qp *qp)
{
	return soft_container_of(qp, struct soft_qp, ibv);
}

static inline void
soft_qp_lock_send(struct soft_qp *qp) ACQUIRE(soft_locks.send) SOFT_NO_RECEIVE_LOCK UNCHECKED
{
	soft_mutex_lock(&qp->sq.lock);
}

static inline void
soft_qp_unlock_send(struct soft_qp *qp) RELEASE(soft_locks.send) UNCHECKED
{
	soft_mutex_unlock(&qp->sq.lock);
}

static inline void
soft_qp_lock_receive(struct soft_qp *qp) ACQUIRE(soft_locks.receive) SOFT_NO_SRQ_LOCK UNCHECKED
{
	soft_mutex_lock(&qp->rq_lock);
}

static inline void
soft_qp_unlock_receive(struct soft_qp *qp) RELEASE(soft_locks.receive) UNCHECKED
{
	soft_mutex_unlock(&qp->rq_lock);
}

/* A queue-pair number is the slot of its process and an index. */
#define SOFT_QPN_INDEX_BITS 14

static inline unsigned int
soft_qpn_slot(uint32_t qpn)
{
	return qpn >> SOFT_QPN_INDEX_BITS;
}

/* The number of the queue pair that it is connected to; takes the receive lock. */
uint32_t soft_qp_peer(struct soft_qp *qp) SOFT_NO_RECEIVE_LOCK;

void soft_qp_get(struct soft_qp *qp);
void soft_qp_put(struct soft_qp *qp);

#endif
