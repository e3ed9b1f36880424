/* SPDX-License-Identifier: BSD-3-Clause */
/* srq_member -- the endpoints of a shared receive queue */
#include "dapl/srq/srq_entry.h"

/*
 * All buffers of the queue may complete on one EVD, whatever number of members it has: the room is
 * promised once for an EVD.
 */
static bool
srq_feeds(const struct dapl_srq *srq, const struct dapl_evd *evd)
{
	const struct dapl_srq_member *m = srq->members;

	while (m && m->evd != evd)
		m = m->peer;
	return m != NULL;
}

/* Calls `change` once for each EVD. */
static void
srq_for_each_evd(struct dapl_srq *srq, void (*change)(struct dapl_evd *evd, int n), int n)
{
	const struct dapl_srq_member *earlier;

	for (struct dapl_srq_member *m = srq->members; m; m = m->peer) {
		earlier = srq->members;
		while (earlier->evd != m->evd)
			earlier = earlier->peer;
		if (earlier == m)
			change(m->evd, n);
	}
}

void
dapl_srq_get_room(struct dapl_srq *srq, int n)
{
	srq_for_each_evd(srq, dapl_evd_cq_get_room, n);
}

void
dapl_srq_put_room(struct dapl_srq *srq, int n)
{
	srq_for_each_evd(srq, dapl_evd_cq_put_room, n);
}

static void
srq_drain_evd(struct dapl_evd *evd, int n) DAPL_NO_LIST_LOCK
{
	(void)n;
	(void)dapl_evd_drain(dapl_evd_ref(evd));
}

void
dapl_srq_poll(struct dapl_srq *srq)
{
	srq_for_each_evd(srq, srq_drain_evd, 0);
}

int
dapl_srq_lengthen_holds(struct dapl_srq *srq, DAT_COUNT depth)
{
	int r = 0;

	for (struct dapl_srq_member *m = srq->members; m && !r; m = m->peer)
		if (m->hold)
			r = evd_hold_reserve(dapl_evd_ref(m->evd), m->hold, (unsigned int)depth);
	return r;
}

int
dapl_srq_lengthen_hold(struct dapl_srq *srq, struct dapl_evd *evd, struct evd_hold *hold)
{
	return evd_hold_reserve(dapl_evd_ref(evd), hold, (unsigned int)srq->depth);
}

int
dapl_srq_attach(struct dapl_srq *srq, struct dapl_srq_member *member, struct dapl_evd *evd,
    struct evd_hold *hold, uint32_t qp_num)
{
	struct dapl_srq_member **bucket = &srq->buckets[qp_num % DAPL_SRQ_BUCKETS];
	int r;

	r = hold ? dapl_srq_lengthen_hold(srq, evd, hold) : 0;
	if (r)
		return r;
	if (!srq_feeds(srq, evd))
		dapl_evd_cq_get_room(evd, srq->depth);
	member->evd = evd;
	member->hold = hold;
	member->qp_num = qp_num;
	member->peer = srq->members;
	srq->members = member;
	dapl_srq_lock(srq);
	member->next = *bucket;
	*bucket = member;
	dapl_srq_unlock(srq);
	return 0;
}

/* No completion of the member is queued any more. */
static void
srq_release_entries(struct dapl_srq *srq, const struct dapl_srq_member *member)
    REQUIRES(dapl_locks.srq)
{
	for (uint32_t i = 0; i < srq->size && srq->taken > 0; i++)
		if (srq->entries[i].member == member)
			dapl_srq_entry_retract(srq, i);
}

void
dapl_srq_detach(struct dapl_srq *srq, struct dapl_srq_member *member)
{
	struct dapl_srq_member **p = &srq->members;
	struct dapl_evd *evd = member->evd;

	if (!evd)
		return;
	while (*p != member)
		p = &(*p)->peer;
	*p = member->peer;
	member->evd = NULL;
	dapl_srq_lock(srq);
	p = &srq->buckets[member->qp_num % DAPL_SRQ_BUCKETS];
	while (*p != member)
		p = &(*p)->next;
	*p = member->next;
	srq_release_entries(srq, member);
	dapl_srq_unlock(srq);
	if (!srq_feeds(srq, evd))
		dapl_evd_cq_put_room(evd, srq->depth);
}
