/* SPDX-License-Identifier: BSD-3-Clause */
/* rnic -- the device: queue pairs and asynchronous events; what of libibverbs dapl/ uses */
#include "rnic.h"

#include <string.h>

#include "dapl/ep/ep.h"

#include "context.h"
#include "rnic_mw.h"
#include "rnic_queue.h"
#include "rnic_srq.h"
#include "world.h"

#define QPS 24
#define REQUESTS 16
#define NOTES 8
#define OBJECT_QP(qp) OBJECT_DEVICE(31)

struct request {
	uint64_t id, cookie;
	enum ibv_wc_opcode opcode;
	uint32_t key; /* of a window: the one that a bind gives it, or an invalidation takes */
};

struct rnic_qp {
	struct ibv_qp ibv;
	bool open, finishes;
	bool shared; /* receives from the shared receive queue */
	bool taking; /* has taken a buffer of it, which it flushes in the error state */
	bool last;   /* that was done, and is said */
	struct ring {
		struct request requests[REQUESTS];
		unsigned int first, n;
	} rings[2];	      /* requests, receives */
	unsigned int most[2]; /* how many of each there may be */
};

static struct ibv_context context;
static struct ibv_device device;
static struct ibv_pd pd;
static struct rnic_qp qps[QPS];
static unsigned int n_qps;
static struct ibv_async_event notes[NOTES];
static unsigned int n_notes;
static const void *unacked[NOTES]; /* the queue pairs and queues of events that were read */
static bool stopped, silent, windows;
static unsigned int fails_by;

static const struct os_site here = { "the device", 0 };

struct ibv_context *
rnic_context(void)
{
	return &context;
}

const void *
rnic_owner(const struct ibv_qp *qp)
{
	return ((const struct dapl_ep_qp_context *)qp->qp_context)->ep;
}

/* ---- queue pairs ---- */

bool
rnic_is_open(const struct ibv_qp *qp)
{
	return ((const struct rnic_qp *)qp)->open;
}

/* As devices may do: the number of a queue pair that was destroyed belongs to the next one. */
static uint32_t
free_number(void)
{
	uint32_t number = 1;
	unsigned int i = 0;

	while (i < n_qps) {
		if (qps[i].open && qps[i].ibv.qp_num == number) {
			number++;
			i = 0;
		} else {
			i++;
		}
	}
	return number;
}

unsigned int
rnic_most_in(const struct ibv_cq *cq)
{
	unsigned int most = 0;
	bool shared = false;

	for (unsigned int i = 0; i < n_qps; i++) {
		if (!qps[i].open)
			continue;
		/* It takes buffers only when it is connected. */
		shared |= qps[i].shared && qps[i].taking && qps[i].ibv.recv_cq == cq;
		most += qps[i].ibv.send_cq == cq ? qps[i].most[0] : 0;
		most += qps[i].ibv.recv_cq == cq ? qps[i].most[1] : 0;
	}
	return most + (shared ? rnic_srq_left() : 0);
}

static int
enter(struct ibv_qp *ibv, int ring, uint64_t id, enum ibv_wc_opcode opcode, uint32_t key)
{
	const uint64_t cookie = binds_cookie(judge_cookie(), opcode);
	struct rnic_qp *qp = (struct rnic_qp *)ibv;
	struct ring *r = &qp->rings[ring];

	sched_point(OP_DEVICE, OBJECT_QP(qp), &here);
	if (!qp->open)
		violation("a request is posted to a queue pair that was destroyed");
	if (r->n >= qp->most[ring])
		violation("more is posted to a queue pair than it was made for");
	if (r->n == REQUESTS)
		violation("the scenario posts too much");
	r->requests[(r->first + r->n++) % REQUESTS] = (struct request){ id, cookie, opcode, key };
	judge_posted(cookie);
	sched_touch(OP_DEVICE, OBJECT_QP(qp));
	sched_changed();
	return 0;
}

static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	*bad = wr;
	if (wr->opcode == IBV_WR_BIND_MW)
		return enter(qp, 0, wr->wr_id, IBV_WC_BIND_MW, wr->bind_mw.rkey);
	if (wr->opcode == IBV_WR_LOCAL_INV)
		return enter(qp, 0, wr->wr_id, IBV_WC_LOCAL_INV, wr->invalidate_rkey);
	return enter(qp, 0, wr->wr_id, IBV_WC_SEND, 0);
}

static int
post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	*bad = wr;
	return enter(qp, 1, wr->wr_id, IBV_WC_RECV, 0);
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *in, struct ibv_qp_init_attr *attr)
{
	struct rnic_qp *qp;
	uint32_t number;

	sched_point(OP_DEVICE, OBJECT_QP(qps), &here);
	errno = ENOMEM;
	if (world_fails(FAULT_VERBS, &here))
		return NULL;
	if (n_qps == QPS)
		violation("the scenario makes too many queue pairs");
	number = free_number();
	qp = &qps[n_qps++];
	memset(qp, 0, sizeof *qp);
	qp->open = true;
	qp->ibv = (struct ibv_qp){ .context = in->context,
		.qp_context = attr->qp_context,
		.pd = in,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.qp_num = number,
		.state = IBV_QPS_RESET,
		.qp_type = attr->qp_type };
	qp->most[0] = attr->cap.max_send_wr;
	qp->most[1] = attr->cap.max_recv_wr;
	qp->shared = attr->srq != NULL;
	if (attr->send_cq)
		rnic_queue_check(attr->send_cq);
	if (attr->recv_cq)
		rnic_queue_check(attr->recv_cq);
	context_release(qp);
	sched_touch(OP_DEVICE, OBJECT_QP(qp));
	return &qp->ibv;
}

/*
 * The endpoint has given up a queue pair that it is about to destroy: what becomes of its requests
 * does not matter.
 */
static bool
is_given_up(const struct rnic_qp *qp)
{
	const struct dapl_ep_qp_context *of = qp->ibv.qp_context;

	return of->ep->generation != of->generation;
}

bool
rnic_has_request(uint32_t window)
{
	for (unsigned int i = 0; i < n_qps; i++) {
		const struct ring *r = &qps[i].rings[0];

		for (unsigned int n = 0; qps[i].open && n < r->n; n++)
			if (r->requests[(r->first + n) % REQUESTS].key >> 8 == window &&
			    !is_given_up(&qps[i]))
				return true;
	}
	return false;
}

static bool
is_acknowledged(void *of)
{
	for (unsigned int i = 0; i < NOTES; i++)
		if (unacked[i] == of)
			return false;
	return true;
}

void
rnic_drop_notes(void *of)
{
	for (unsigned int i = 0; i < n_notes; i++)
		if (notes[i].element.qp == of)
			notes[i--] = notes[--n_notes];
	world_channel_set(context.async_fd, n_notes);
	sched_touch(OP_DEVICE, OBJECT_QP(of));
	sched_until(is_acknowledged, of, OP_DEVICE, OBJECT_QP(of));
	context_acquire(of);
}

int
ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct rnic_qp *qp = (struct rnic_qp *)ibv;

	sched_point(OP_DEVICE, OBJECT_QP(qp), &here);
	if (!qp->open)
		violation("a queue pair is destroyed twice");
	qp->open = false;
	qp->rings[0].n = qp->rings[1].n = 0;
	rnic_mw_check_left(ibv);
	rnic_drop_notes(qp);
	return 0;
}

void
rnic_set_state(struct ibv_qp *ibv, enum ibv_qp_state state)
{
	((struct rnic_qp *)ibv)->taking |= state == IBV_QPS_RTS;
	ibv->state = state;
	sched_touch(OP_DEVICE, OBJECT_QP(ibv));
	sched_changed();
}

int
ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	sched_point(OP_DEVICE, OBJECT_QP(ibv), &here);
	if (!((struct rnic_qp *)ibv)->open)
		violation("a queue pair is modified after it was destroyed");
	if (mask & IBV_QP_STATE && ibv->state != IBV_QPS_ERR)
		rnic_set_state(ibv, attr->qp_state);
	return 0;
}

/* ---- completions ---- */

/* In one step: the oldest request of a ring is done, and seen in its completion queue. */
static struct device_cq *
complete(struct rnic_qp *qp, int ring, enum ibv_wc_status status)
{
	struct ibv_cq *cq = ring ? qp->ibv.recv_cq : qp->ibv.send_cq;
	struct ring *r = &qp->rings[ring];
	struct request taken = { .key = 0 };
	const struct request *request = &taken;
	/*
	 * As devices do: few fields of a failed completion are valid, and it counts as solicited.
	 */
	struct ibv_wc wc = { .status = status, .qp_num = qp->ibv.qp_num, .byte_len = 0xdead };

	if (ring && qp->shared) {
		taken.opcode = IBV_WC_RECV;
		rnic_srq_take(&taken.id, &taken.cookie);
		judge_taken(taken.cookie, rnic_owner(&qp->ibv),
		    ((struct dapl_ep_qp_context *)qp->ibv.qp_context)->generation);
	} else {
		request = &r->requests[r->first++ % REQUESTS];
		r->n--;
	}
	if (request->key && status == IBV_WC_SUCCESS && !is_given_up(qp))
		rnic_mw_execute(&qp->ibv, request->opcode == IBV_WC_BIND_MW, request->key);
	wc.wr_id = request->id;
	if (!status)
		wc.opcode = request->opcode;
	if (ring)
		wc.byte_len = judge_length(request->cookie);
	judge_completed(request->cookie, status);
	trace_note("queue pair %u: a %s %s", qp->ibv.qp_num, ring ? "receive" : "request",
	    status == IBV_WC_SUCCESS	  ? "completes" :
	    status == IBV_WC_WR_FLUSH_ERR ? "is flushed" :
					    "fails");
	rnic_queue_push(cq, &qp->ibv, &wc, status || (ring && judge_solicits(request->cookie)));
	if (status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR)
		rnic_set_state(&qp->ibv, IBV_QPS_ERR);
	sched_touch(OP_DEVICE, OBJECT_QP(qp));
	return rnic_cq(cq);
}

static void
move(struct rnic_qp *qp, int ring, enum ibv_wc_status status)
{
	sched_point(OP_DEVICE, OBJECT_QP(qp), &here);
	if (!qp->open || qp->ibv.state != IBV_QPS_RTS ||
	    !(ring && qp->shared ? rnic_srq_left() : qp->rings[ring].n))
		return;
	device_decide(complete(qp, ring, status));
}

/* What is outstanding is flushed in the error state; requests that are to be finished are done. */
static struct rnic_qp *
to_flush(int *ring)
{
	for (unsigned int i = 0; i < n_qps; i++)
		for (*ring = 0; *ring < 2; ++*ring)
			if (qps[i].open && qps[i].rings[*ring].n &&
			    (qps[i].ibv.state == IBV_QPS_ERR ||
				(qps[i].finishes && *ring == 0 && qps[i].ibv.state == IBV_QPS_RTS)))
				return &qps[i];
	return NULL;
}

/*
 * Ends with the shared receive queue: in the error state it flushes the buffer of a message that
 * has begun to come, and takes none any more.
 */
static struct rnic_qp *
to_end(void)
{
	for (unsigned int i = 0; i < n_qps; i++)
		if (qps[i].open && qps[i].shared && !qps[i].last && qps[i].ibv.state == IBV_QPS_ERR)
			return &qps[i];
	return NULL;
}

static void raise_note(enum ibv_event_type type, struct ibv_qp *qp, struct ibv_cq *cq);

static void
end(struct rnic_qp *qp)
{
	if (qp->taking && rnic_srq_left()) {
		qp->taking = false;
		device_decide(complete(qp, 1, IBV_WC_WR_FLUSH_ERR));
		return;
	}
	qp->last = true;
	if (!silent)
		raise_note(IBV_EVENT_QP_LAST_WQE_REACHED, &qp->ibv, NULL);
	sched_touch(OP_DEVICE, OBJECT_QP(qp));
}

static bool
has_work(void *arg)
{
	int ring;

	(void)arg;
	return stopped || to_flush(&ring) || to_end() || connection_has_answer();
}

void *
rnic_flusher(void *arg)
{
	struct rnic_qp *qp;
	int ring;

	for (;;) {
		sched_until(has_work, arg, OP_DEVICE, OBJECT_QP(qps));
		if (stopped)
			return NULL;
		sched_point(OP_DEVICE, OBJECT_QP(qps), &here);
		qp = to_flush(&ring);
		if (!qp && to_end())
			end(to_end());
		else if (!qp)
			connection_give_answer();
		else
			device_decide(complete(qp, ring,
			    qp->ibv.state == IBV_QPS_ERR ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS));
	}
}

void
rnic_stop(void)
{
	stopped = true;
	sched_changed();
}

static struct rnic_qp *
qp_of(const void *of)
{
	for (unsigned int i = n_qps; i-- > 0;)
		if (qps[i].open && rnic_owner(&qps[i].ibv) == of)
			return &qps[i];
	return NULL;
}

void
rnic_finish(const void *of)
{
	struct rnic_qp *qp = qp_of(of);

	if (!qp)
		return;
	qp->finishes = true;
	sched_touch(OP_DEVICE, OBJECT_QP(qp));
	sched_changed();
}

static void
raise_note(enum ibv_event_type type, struct ibv_qp *qp, struct ibv_cq *cq)
{
	struct ibv_async_event *note = &notes[n_notes];

	if (!connection_open())
		return;
	if (n_notes == NOTES)
		violation("the scenario raises too many asynchronous events");
	n_notes++;
	*note = (struct ibv_async_event){ .event_type = type };
	if (qp)
		note->element.qp = qp;
	else
		note->element.cq = cq;
	world_channel_set(context.async_fd, n_notes);
}

static const enum ibv_wc_status failures[] = {
	IBV_WC_RETRY_EXC_ERR,
	IBV_WC_LOC_LEN_ERR,
	IBV_WC_LOC_QP_OP_ERR,
	IBV_WC_LOC_PROT_ERR,
	IBV_WC_LOC_ACCESS_ERR,
	IBV_WC_BAD_RESP_ERR,
	IBV_WC_REM_ACCESS_ERR,
	IBV_WC_REM_INV_REQ_ERR,
	IBV_WC_REM_OP_ERR,
	IBV_WC_REM_ABORT_ERR,
	IBV_WC_RNR_RETRY_EXC_ERR,
	IBV_WC_RESP_TIMEOUT_ERR,
	IBV_WC_GENERAL_ERR,
	IBV_WC_FATAL_ERR,
};
_Static_assert(sizeof failures / sizeof *failures == RNIC_FAILURES, "rnic.h counts them");

void
rnic_fail_by(unsigned int way)
{
	fails_by = way;
}

void
rnic_move(const void *of, enum rnic_move what)
{
	struct rnic_qp *qp;

	sched_see(OP_DEVICE, OBJECT_QP(qps));
	qp = qp_of(of);
	if (!qp)
		return;
	switch (what) {
	case RNIC_RECEIVES:
		move(qp, 1, IBV_WC_SUCCESS);
		break;
	case RNIC_SENDS:
		move(qp, 0, IBV_WC_SUCCESS);
		break;
	case RNIC_FAILS:
		move(qp, 0, failures[fails_by % RNIC_FAILURES]);
		break;
	case RNIC_RECEIVE_FAILS:
		move(qp, 1, failures[fails_by % RNIC_FAILURES]);
		break;
	case RNIC_BREAKS:
		sched_point(OP_DEVICE, OBJECT_QP(qp), &here);
		if (!qp->open)
			break;
		judge_broke(of, ((struct dapl_ep_qp_context *)qp->ibv.qp_context)->generation);
		rnic_set_state(&qp->ibv, IBV_QPS_ERR);
		raise_note(IBV_EVENT_QP_FATAL, &qp->ibv, NULL);
		break;
	}
}

void
rnic_cq_fails(struct ibv_cq *cq)
{
	sched_point(OP_DEVICE, OBJECT_QP(cq), &here);
	if (!rnic_cq(cq)->alive)
		return;
	rnic_queue_lose(cq);
	raise_note(IBV_EVENT_CQ_ERR, NULL, cq);
}

void
rnic_device_fails(void)
{
	sched_point(OP_DEVICE, OBJECT_QP(qps), &here);
	judge_device_broke();
	raise_note(IBV_EVENT_DEVICE_FATAL, NULL, NULL);
}

/* ---- asynchronous events ---- */

/* Of a queue pair or a completion queue: either is known by its address. */
static void
note_unacked(const void *of, const void *becomes)
{
	for (unsigned int i = 0; i < NOTES; i++) {
		if (unacked[i] != of)
			continue;
		unacked[i] = becomes;
		return;
	}
	violation("too many asynchronous events are unacknowledged");
}

int
ibv_get_async_event(struct ibv_context *verbs, struct ibv_async_event *note)
{
	(void)verbs;
	sched_point(OP_DEVICE, OBJECT_FD(context.async_fd), &here);
	if (!n_notes) {
		errno = EAGAIN;
		return -1;
	}
	*note = notes[0];
	memmove(notes, notes + 1, --n_notes * sizeof *notes);
	if (note->element.qp) {
		context_acquire(note->element.qp);
		note_unacked(NULL, note->element.qp);
	}
	world_channel_set(context.async_fd, n_notes);
	sched_touch(OP_DEVICE, OBJECT_QP(qps));
	return 0;
}

void
ibv_ack_async_event(struct ibv_async_event *note)
{
	sched_point(OP_DEVICE, OBJECT_QP(qps), &here);
	if (note->element.qp) {
		context_release(note->element.qp);
		note_unacked(note->element.qp, NULL);
	}
	sched_touch(OP_DEVICE, OBJECT_QP(qps));
	sched_changed();
}

/* ---- the device itself ---- */

int
ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attr)
{
	(void)verbs;
	*attr = (struct ibv_device_attr){ .max_cqe = rnic_queue_most(),
		.max_mr_size = UINT64_MAX,
		.max_qp_wr = 64,
		.max_sge = 4,
		.max_qp_rd_atom = 4,
		.max_qp_init_rd_atom = 4,
		.max_srq = 1,
		.max_srq_wr = 64,
		.max_srq_sge = 1,
		.max_mw = windows ? 4 : 0,
		.device_cap_flags =
		    IBV_DEVICE_SRQ_RESIZE | (windows ? IBV_DEVICE_MEM_WINDOW_TYPE_2B : 0) };
	return 0;
}

#undef ibv_query_port
int
ibv_query_port(struct ibv_context *verbs, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	(void)verbs;
	(void)port;
	((struct ibv_port_attr *)attr)->max_msg_sz = 1u << 31;
	return 0;
}

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *verbs)
{
	pd.context = verbs;
	return &pd;
}

int
ibv_dealloc_pd(struct ibv_pd *of)
{
	for (unsigned int i = 0; i < n_qps; i++)
		if (qps[i].open && qps[i].ibv.pd == of)
			violation("a protection domain goes before its queue pair");
	return 0;
}

void
rnic_check_end(void)
{
	for (unsigned int i = 0; i < n_qps; i++)
		if (qps[i].open)
			violation("a queue pair is not destroyed");
	rnic_srq_check_end();
	rnic_mw_check_end();
	rnic_queue_check_end();
}

void
rnic_reset(bool queues_fixed, bool says_no_last, bool has_windows)
{
	rnic_queue_reset(queues_fixed);
	rnic_srq_reset();
	rnic_mw_reset();
	silent = says_no_last;
	windows = has_windows;
	n_qps = n_notes = 0;
	memset(unacked, 0, sizeof unacked);
	stopped = false;
	fails_by = 0;
	device.transport_type = IBV_TRANSPORT_IB;
	context.device = &device;
	context.num_comp_vectors = 1;
	context.ops.poll_cq = rnic_queue_poll;
	context.ops.req_notify_cq = rnic_queue_arm;
	context.ops.post_send = post_send;
	context.ops.post_recv = post_recv;
	context.ops.post_srq_recv = rnic_srq_post;
	context.ops.alloc_mw = rnic_mw_alloc;
	context.ops.dealloc_mw = rnic_mw_dealloc;
	context.async_fd = world_channel_open("asynchronous");
	connection_reset();
}
