/* SPDX-License-Identifier: BSD-3-Clause */
/* device_qp -- queue pairs: what is posted, and its completion */
#include "device_object.h"

struct device_qp *device_qp_table[DEVICE_QPS_MAX];
_Atomic uint64_t device_posts;

static void
ring_push(struct device_ring *ring, uint64_t wr_id)
{
	if (!ring->wr_id)
		ring->wr_id = device_map(DEVICE_QP_RING * sizeof *ring->wr_id);
	if (ring->tail - ring->head == DEVICE_QP_RING)
		__builtin_trap(); /* more than any engine allows */
	ring->wr_id[ring->tail++ % DEVICE_QP_RING] = wr_id;
}

int
device_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct device_qp *qp = device_qp_table[ibv->handle];

	(void)bad;
	device_lock(&qp->lock);
	for (; wr; wr = wr->next)
		ring_push(&qp->receives, wr->wr_id);
	device_unlock(&qp->lock);
	device_posts++;
	return 0;
}

int
device_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct device_qp *qp = device_qp_table[ibv->handle];

	(void)bad;
	device_lock(&qp->lock);
	for (; wr; wr = wr->next)
		if (qp->all_signalled || wr->send_flags & IBV_SEND_SIGNALED)
			ring_push(&qp->sends, wr->wr_id);
	device_unlock(&qp->lock);
	device_posts++;
	return 0;
}

/* False if nothing is posted. */
static bool
qp_take(struct device_qp *qp, struct device_ring *ring, uint64_t *wr_id)
{
	bool found;

	device_lock(&qp->lock);
	found = ring->head != ring->tail;
	if (found)
		*wr_id = ring->wr_id[ring->head++ % DEVICE_QP_RING];
	device_unlock(&qp->lock);
	return found;
}

void
device_complete_receives(unsigned int number, unsigned int n)
{
	struct device_cq *cq = device_cq_table[number];
	unsigned int missed = 0;
	struct device_qp *qp;
	uint64_t wr_id;

	while (n) {
		qp = cq->next_receiver ? cq->next_receiver : cq->receivers;
		if (!qp || missed > DEVICE_QPS_MAX)
			__builtin_trap(); /* fewer are posted */
		cq->next_receiver = qp->next_receiver;
		if (!qp_take(qp, &qp->receives, &wr_id)) {
			missed++;
			continue;
		}
		device_cq_push(cq, wr_id, qp->qp->qp_num, IBV_WC_RECV);
		n--;
	}
	device_cq_notify(cq);
}

void
device_complete_sends(unsigned int number, unsigned int n)
{
	struct device_cq *cq = device_cq_table[number];
	unsigned int missed = 0;
	struct device_qp *qp;
	uint64_t wr_id;

	while (n) {
		qp = cq->next_sender ? cq->next_sender : cq->senders;
		if (!qp || missed > DEVICE_QPS_MAX)
			__builtin_trap(); /* fewer are posted */
		cq->next_sender = qp->next_sender;
		if (!qp_take(qp, &qp->sends, &wr_id)) {
			missed++;
			continue;
		}
		device_cq_push(cq, wr_id, qp->qp->qp_num, IBV_WC_SEND);
		n--;
	}
	device_cq_notify(cq);
}
