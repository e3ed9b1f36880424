/* SPDX-License-Identifier: BSD-3-Clause */
#include "peek.h"

unsigned int
peek_numbers(const struct evd *evd, uint64_t *numbers, unsigned int max)
{
	const struct evd_queue *q = &evd->queue;
	const struct evd_posted_queue *p = &q->posted;
	unsigned int n = 0;

	for (unsigned int i = 0; i < q->ring_count && n < max; i++)
		numbers[n++] =
		    q->ring[((unsigned int)(q->ring_first - q->ring) + i) % q->qlen].order >> 1;
	for (const struct evd_posted *e = p->open.first; e && n < max; e = e->next)
		numbers[n++] = e->seq;
	for (const struct evd_hold *h = q->released; h; h = h->next)
		for (unsigned int i = 0; i < h->numbered && n < max; i++)
			numbers[n++] = h->items[(h->head + i) % h->capacity].order >> 1;
	return n;
}

uint64_t
peek_next_number(const struct evd *evd)
{
	return evd->queue.next_seq;
}

const void *
peek_record(const struct evd *evd, unsigned int i)
{
	const struct evd_queue *q = &evd->queue;

	return i < q->ring_count ?
		   &q->ring[((unsigned int)(q->ring_first - q->ring) + i) % q->qlen].record :
		   NULL;
}

const void *
peek_posted(const struct evd *evd, unsigned int i)
{
	const struct evd_posted_queue *p = &evd->queue.posted;
	const struct evd_posted *e = p->open.first;

	if (i >= p->open.count) {
		i -= p->open.count;
		e = p->closed.first;
	}
	while (e && i--)
		e = e->next;
	return e ? e->event : NULL;
}

unsigned int
peek_signalled(const struct evd *evd)
{
	const struct evd_queue *q = &evd->queue;
	unsigned int unsignalled = 0;

	/* A full ring wakes the sink, whatever it contains. */
	for (unsigned int i = 0; q->ring_count < q->qlen && i < q->ring_count; i++)
		unsignalled +=
		    q->ring[((unsigned int)(q->ring_first - q->ring) + i) % q->qlen].order &
		    EVD_ITEM_UNSIGNALLED;
	return q->ring_count + q->posted.open.count + q->released_count - unsignalled;
}

unsigned int
peek_queued(const struct evd *evd)
{
	const struct evd_queue *q = &evd->queue;

	return q->ring_count + q->posted.open.count + q->released_count;
}

unsigned int
peek_closed(const struct evd *evd)
{
	return evd->queue.posted.closed.count;
}

unsigned int
peek_posts(const struct evd *evd)
{
	return evd->queue.posted.open.count + evd->queue.posted.closed.count;
}

unsigned int
peek_room(const struct evd *evd)
{
	return evd->queue.posted.length;
}

bool
peek_full(const struct evd *evd)
{
	return evd->queue.ring_count == evd->queue.qlen ||
	       (evd_is_full(evd->attention) && evd->queue.ring_count > 0);
}

bool
peek_unseen(const struct evd *evd)
{
	return evd_is_unseen(evd->attention);
}

bool
peek_busy(const struct evd *evd)
{
	return evd->job_state != EVD_JOB_IDLE;
}

bool
peek_in_call(const struct evd *evd)
{
	return evd->job_state == EVD_JOB_CALLING;
}

const struct loop *
peek_queued_on(const struct evd *evd)
{
	return evd->job.next ? evd->job.on : NULL;
}

bool
peek_deferred(const struct evd *evd)
{
	return evd->job_state == EVD_JOB_DEFERRED;
}

bool
peek_delayed(const struct evd *evd)
{
	return evd->job.place == LOOP_JOB_DELAYED;
}

bool
peek_over(const struct evd *evd)
{
	return evd->device_over;
}

bool
peek_backs_off(const struct evd *evd)
{
	return evd->job_state == EVD_JOB_BACKOFF;
}

bool
peek_failing(const struct evd *evd)
{
	return evd->backoff_ns != 0;
}

int
peek_armed(const struct evd *evd)
{
	return evd->armed == EVD_UNARMED ? 0 : evd->armed == EVD_ARMED_SOLICITED ? 1 : 2;
}

uint64_t
peek_due(const struct evd *evd)
{
	return evd->job.due;
}

bool
peek_ready(const struct evd *evd)
{
	return evd->job_state == EVD_JOB_READY;
}
