/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp -- reliable connected queue pair
 *
 * The requester (send queue) has the send lock, the responder (receive queue, and what the
 * other side does to us) the receive lock.  The state is written under both, in that
 * order, and read under either.  A requester holds its own send lock and the peer's
 * receive lock; it never takes a second lock of the same kind, so what a failed request
 * does to the peer's send queue is put off until its own locks are released
 * (soft_aftermath).
 */
#ifndef SOFT_QP_H
#define SOFT_QP_H

#include "copy.h"
#include "soft/cq/cq.h"

struct soft_srq;
struct soft_qp;

/* A receive work request, taken out of its queue. */
struct soft_receive {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[SOFT_MAX_SGE];
};

/* A send or write that is being received. */
struct soft_message {
	bool active;
	bool solicited;
	enum ibv_wr_opcode opcode;
	__be32 imm_data;
	uint32_t length, received;
	struct ibv_sge remote; /* of a write: where it goes */
	struct soft_cursor target;
};

/* A ring of receive work requests: of a queue pair or of an SRQ, whose lock guards it. */
struct soft_rq {
	char *ring;
	size_t stride;
	uint32_t mask;
	uint32_t size;
	uint32_t max_sge;
	uint32_t head, tail; /* run freely */
};

int soft_rq_init(struct soft_rq *rq, uint32_t size, uint32_t max_sge);
void soft_rq_destroy(struct soft_rq *rq);

/* 0, -EINVAL or -ENOMEM. */
int soft_rq_put(struct soft_rq *rq, const struct ibv_recv_wr *wr);
bool soft_rq_take(struct soft_rq *rq, struct soft_receive *receive);

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
	struct ibv_sge sge[];
};

enum soft_stall {
	SOFT_RUNNING,
	SOFT_STALLED_RECEIVE, /* the peer has no receive posted */
	SOFT_STALLED_PEER,    /* the peer says that it is not there */
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
	uint64_t deadline;     /* of the timer; an earlier expiry is an old one */
	struct soft_timer timer;
	struct soft_qp *peer; /* in this process, holds a reference */

	/* Of a peer in another process; see remote.h: */
	bool remote;
	uint32_t next;	   /* first request not sent whole */
	uint32_t offset;   /* bytes of it that are sent */
	uint32_t psn;	   /* of the oldest request */
	uint32_t epoch;	   /* grows when requests are sent again or given up */
	uint32_t reading;  /* reads and atomics sent and not answered */
	uint32_t received; /* bytes of the oldest read that came */
	bool listening;	   /* the timer is for silence; see silence.h */
	uint32_t heard, heard_before; /* answers, now and when the timer was set */
	uint64_t silent_since;
	struct soft_cursor target; /* where the next go */
	enum ibv_wc_status fault;  /* of request `next`: it cannot be sent */
	bool draining;		   /* SQ_DRAINED is owed */
	bool queued;		   /* in a link's list */
	TAILQ_ENTRY(soft_qp) link;
};

/* A read or atomic that a process at the other end of a link waits for. */
struct soft_pending_read {
	uint32_t psn;
	uint32_t sent; /* bytes */
	struct ibv_sge remote;
	uint64_t old; /* of an atomic, whose key is SOFT_NO_KEY */
};
#define SOFT_NO_KEY 0

/* What a queue pair has to tell a requester in another process; see remote.h. */
struct soft_answers {
	uint32_t expected; /* psn of the next request */
	uint32_t epoch;	   /* of the requester */
	uint32_t to;	   /* its number */
	bool deaf;	   /* a request was refused: nothing of this epoch counts */
	bool starving;	   /* for want of a receive: READY is owed when one is posted */
	bool snubbed;	   /* as not connected yet: READY is owed when it is */

	bool ack, nak, ready; /* to be sent, after the reads */
	uint8_t nak_opcode;
	uint8_t nak_rnr_timer;
	uint32_t ack_psn, nak_psn;
	struct soft_pending_read *reads; /* SOFT_MAX_RD_ATOM of them */
	uint32_t read_head, read_tail;	 /* run freely */

	bool queued; /* in a link's list */
	TAILQ_ENTRY(soft_qp) link;
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

static inline struct soft_send *
soft_sq_at(struct soft_sq *sq, uint32_t i)
{
	return (struct soft_send *)(void *)(sq->ring + (i & sq->mask) * sq->stride);
}

/* What the responder wants of the requester, mostly once its locks are released. */
struct soft_aftermath {
	struct soft_qp *failed; /* the peer's queue pair, with a reference */
	int event;		/* for it, or SOFT_NO_EVENT */
	uint8_t rnr_timer;	/* with SOFT_NOT_READY: the code of the peer's wish */
};

#define SOFT_NO_EVENT	  -1
#define SOFT_NO_AFTERMATH ((struct soft_aftermath){ NULL, SOFT_NO_EVENT, 0 })

/* A queue-pair number is the slot of its process and an index. */
#define SOFT_QPN_INDEX_BITS 14

static inline unsigned int
soft_qpn_slot(uint32_t qpn)
{
	return qpn >> SOFT_QPN_INDEX_BITS;
}

/* qp_table.c: numbers */
int soft_qp_table_add(struct soft_qp *qp);
void soft_qp_table_remove(struct soft_qp *qp);
struct soft_qp *soft_qp_table_find(uint32_t qpn); /* with a reference */
void soft_qp_table_each(void (*fn)(struct soft_qp *qp, void *arg), void *arg);
void soft_qp_table_free(void);	 /* when the slot goes and numbers change */
void soft_qp_table_reset(void);	 /* in a forked child */

/* qp.c */
uint32_t soft_qp_peer(struct soft_qp *qp); /* the number it is connected to */
void soft_qp_get(struct soft_qp *qp);
void soft_qp_put(struct soft_qp *qp);

/* qp_state.c */

/* To the error state, flushing both queues; the send lock is held. */
void soft_qp_error_locked(struct soft_qp *qp, int event);

/* The same for a queue pair of which no lock is held. */
void soft_qp_error(struct soft_qp *qp, int event);

/* Raises the event that is owed once nothing sent is unanswered; the send lock is held. */
void soft_sq_drained(struct soft_qp *qp);

/* Does to the peer what its responder decided; no lock is held. */
void soft_aftermath_do(struct soft_aftermath *after);

/* send.c */
int soft_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

/* Completes the oldest request and frees its place; -EIO if the CQ is overrun. */
int soft_sq_complete(struct soft_qp *qp, enum ibv_wc_status status);
void soft_sq_flush(struct soft_qp *qp);

/* requester.c */

/* Executes what can be executed; the send lock is held. */
void soft_sq_run(struct soft_qp *qp, struct soft_aftermath *after);

/* The oldest request failed: it completes with `status`, the others are flushed. */
void soft_sq_fail(struct soft_qp *qp, enum ibv_wc_status status);

/* What the requester can tell without asking the other side. */
enum ibv_wc_status soft_sq_check(const struct soft_qp *qp, const struct soft_send *send);
void soft_sq_stall_for_receive(struct soft_qp *qp, uint8_t rnr_timer);
void soft_sq_stall_for_peer(struct soft_qp *qp);

/* No link to the peer can be had just now. */
void soft_sq_stall_for_link(struct soft_qp *qp);

/* The timer of the send queue; what it was set for before is forgotten. */
void soft_sq_set_timer(struct soft_qp *qp, uint64_t nanoseconds);

/* Takes the lock and runs; for whoever removed the cause of a stall. */
void soft_sq_kick(struct soft_qp *qp);
void soft_sq_unstall(struct soft_qp *qp); /* the send lock is held */
void soft_sq_timer(struct soft_timer *timer);

/* responder.c; but for soft_respond() the receive lock is held */
enum soft_verdict {
	SOFT_ANSWERED,	/* done, or refused with a status */
	SOFT_NOT_READY, /* no receive is posted */
	SOFT_SILENT,	/* nobody there to answer */
};

/*
 * Lets `qp` execute the request of `from`, whose send lock is held.  *status is the
 * outcome for the requester.
 */
enum soft_verdict soft_respond(struct soft_qp *qp, struct soft_qp *from,
    const struct soft_send *send, enum ibv_wc_status *status, struct soft_aftermath *after);

/* Whether requests of the queue pair number `from` are for us. */
bool soft_responder_answers(struct soft_qp *qp, uint32_t from);

/* A send or write in steps; a status other than success ends it. */
enum soft_verdict soft_message_begin(struct soft_qp *qp, const struct soft_send *send,
    enum ibv_wc_status *status, struct soft_aftermath *after);
enum ibv_wc_status soft_message_data(struct soft_qp *qp, struct soft_cursor *source,
    uint32_t length, struct soft_aftermath *after);
void soft_message_end(struct soft_qp *qp, struct soft_aftermath *after);

/* Whether the request may touch the memory that it names. */
enum ibv_wc_status soft_responder_permit(struct soft_qp *qp, const struct soft_send *send,
    unsigned int access, struct soft_aftermath *after);
enum ibv_wc_status soft_responder_atomic(struct soft_qp *qp, const struct soft_send *send,
    uint64_t *old, struct soft_aftermath *after);

/*
 * The queue pair stops answering here and now; it goes to the error state afterwards, with
 * the event.  Returns the status, which the requester gets.
 */
enum ibv_wc_status soft_responder_refuse(struct soft_qp *qp, int event, enum ibv_wc_status status,
    struct soft_aftermath *after);

/* recv.c */
int soft_qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Completes qp->current. */
int soft_receive_complete(struct soft_qp *qp, struct ibv_wc *wc, bool solicited);

/* Completes every receive with a flush error; the receive lock is held. */
void soft_rq_flush(struct soft_qp *qp);

/* After a receive was posted to `qp` or its SRQ: lets the waiting requester go on. */
void soft_qp_feed(struct soft_qp *qp);

#endif
