/* SPDX-License-Identifier: BSD-3-Clause */
#include "rnic_srq.h"

#include <errno.h>
#include <string.h>

#include "context.h"
#include "rnic_queue.h"
#include "world.h"

#define BUFFERS 32
#define OBJECT_SRQ OBJECT_DEVICE(30)

static struct {
	struct ibv_srq ibv;
	bool open;
	uint64_t ids[BUFFERS], cookies[BUFFERS];
	unsigned int first, n, most;
} srq;

static const struct os_site here = { "the shared receive queue", 0 };

unsigned int
rnic_srq_left(void)
{
	return srq.n;
}

void
rnic_srq_take(uint64_t *id, uint64_t *cookie)
{
	*id = srq.ids[srq.first % BUFFERS];
	*cookie = srq.cookies[srq.first++ % BUFFERS];
	srq.n--;
	sched_touch(OP_DEVICE, OBJECT_SRQ);
}

int
rnic_srq_post(struct ibv_srq *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)to;
	*bad = wr;
	sched_point(OP_DEVICE, OBJECT_SRQ, &here);
	if (!srq.open)
		violation("a buffer is posted to a queue that was destroyed");
	if (srq.n >= srq.most)
		violation("more is posted to a shared receive queue than it was made for");
	srq.ids[(srq.first + srq.n) % BUFFERS] = wr->wr_id;
	srq.cookies[(srq.first + srq.n) % BUFFERS] = judge_cookie();
	srq.n++;
	judge_posted(judge_cookie());
	sched_touch(OP_DEVICE, OBJECT_SRQ);
	sched_changed();
	return 0;
}

struct ibv_srq *
ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	sched_point(OP_DEVICE, OBJECT_SRQ, &here);
	if (srq.open)
		violation("the scenario makes two shared receive queues");
	srq.open = true;
	srq.most = init->attr.max_wr;
	srq.ibv =
	    (struct ibv_srq){ .context = pd->context, .srq_context = init->srq_context, .pd = pd };
	sched_touch(OP_DEVICE, OBJECT_SRQ);
	return &srq.ibv;
}

int
ibv_modify_srq(struct ibv_srq *of, struct ibv_srq_attr *attr, int mask)
{
	(void)of;
	sched_point(OP_DEVICE, OBJECT_SRQ, &here);
	if (!srq.open)
		violation("a shared receive queue is changed after it was destroyed");
	if (mask & IBV_SRQ_MAX_WR && (attr->max_wr < srq.n || attr->max_wr > BUFFERS))
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR)
		srq.most = attr->max_wr;
	sched_touch(OP_DEVICE, OBJECT_SRQ);
	return 0;
}

/* No limit is armed. */
int
ibv_query_srq(struct ibv_srq *of, struct ibv_srq_attr *attr)
{
	(void)of;
	*attr = (struct ibv_srq_attr){ .max_wr = srq.most };
	return 0;
}

int
ibv_destroy_srq(struct ibv_srq *of)
{
	(void)of;
	sched_point(OP_DEVICE, OBJECT_SRQ, &here);
	if (!srq.open)
		violation("a shared receive queue is destroyed twice");
	srq.open = false;
	sched_touch(OP_DEVICE, OBJECT_SRQ);
	return 0;
}

void
rnic_srq_check_end(void)
{
	if (srq.open)
		violation("the shared receive queue is not destroyed");
}

void
rnic_srq_reset(void)
{
	memset(&srq, 0, sizeof srq);
}
