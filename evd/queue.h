/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue -- the merged queue of an EVD
 *
 * The queue has three kinds of items: completions polled from the device (the ring: raw records,
 * which are converted when they leave), posted events (posted.h), and completions of released
 * holds.  Each item gets a sequence number when it enters.  The item with the lowest number leaves
 * first.
 *
 * Three rules order the items of one endpoint.  They do not delay, number or release items of other
 * endpoints, or items that belong to no endpoint.
 *
 *   - A barrier gets its number when, after the post, the device queue was seen empty or as many
 *     completions were polled as the device queue can hold.  Until then it is closed: it does not
 *     count.
 *   - What an endpoint posts while one of its events is closed gets its number after that event.
 *   - A hold is released when the event that it waits for has its number.  The completions in it
 *     get the next numbers.
 *
 * Guarded by the trigger lock of the EVD that embeds the queue.
 */
#ifndef REARM_EVD_QUEUE_H
#define REARM_EVD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

#include "evd/posted.h"

struct evd_hold;

struct evd_queue {
	unsigned int qlen;  /* length of the ring, in records */
	unsigned int depth; /* of the device queue: qlen, or more if it has grown */
	size_t raw_size;
	uint64_t next_seq;
	uint64_t polled; /* completions polled so far */

	unsigned char *raw; /* the ring: qlen records */
	uint64_t *ring_seq;
	bool *ring_unsignalled; /* the record is queued, but wakes no sink */
	unsigned int ring_head, ring_count;
	unsigned int unsignalled; /* number of unsignalled records in the ring */

	/* Its length is at least the first length of the ring and what is reserved above that. */
	struct evd_posted_queue posted;
	unsigned int reserved;

	struct evd_hold *released;
	unsigned int released_count;

	unsigned int max_depth;
};

enum evd_item { EVD_ITEM_NONE, EVD_ITEM_RAW, EVD_ITEM_RELEASED, EVD_ITEM_POSTED };

int evd_queue_init(struct evd_queue *q, unsigned int qlen, size_t raw_size);
/* Gives a new queue room for so many posted events above its length; on -ENOMEM it is gone. */
int evd_queue_reserve(struct evd_queue *q, unsigned int reserved);
void evd_queue_fini(struct evd_queue *q);

/* All items, whether they count or not, except the contents of active holds. */
static inline unsigned int
evd_queue_load(const struct evd_queue *q)
{
	return q->ring_count + evd_posted_count(&q->posted) + q->released_count;
}

/* Moves all items of `from`, which must fit, to the new queue `to`.  `from` is then empty. */
void evd_queue_move(struct evd_queue *to, struct evd_queue *from);

/*
 * Makes the ring longer, in two steps.  evd_queue_init_ring() is called without the lock: it
 * allocates the ring of `spare`, a queue that has nothing else; 0 or -ENOMEM.
 * evd_queue_lengthen_ring() is called with the lock: it exchanges the rings and moves the records,
 * which keep their order.  The caller passes `spare`, with the old ring, to evd_queue_fini().
 */
int evd_queue_init_ring(struct evd_queue *spare, unsigned int length, size_t raw_size);
void evd_queue_lengthen_ring(struct evd_queue *q, struct evd_queue *spare);

/*
 * Sets the number of completions that the device queue can hold.  Before the caller reduces it, the
 * device queue must have been shortened.
 */
void evd_queue_set_depth(struct evd_queue *q, unsigned int depth);

/* Items that can be taken now. */
static inline unsigned int
evd_queue_count(const struct evd_queue *q)
{
	return q->ring_count + q->posted.open.count + q->released_count;
}

/*
 * The items that can be taken and that wake a sink.  If the ring is full these are all its items,
 * because the device may hold back a signalled completion.
 */
static inline unsigned int
evd_queue_signalled(const struct evd_queue *q)
{
	return evd_queue_count(q) - q->posted.open.unsignalled -
	       (q->ring_count < q->qlen ? q->unsignalled : 0);
}

/* True if an event is closed, so that polling the device can open it. */
static inline bool
evd_queue_has_closed(const struct evd_queue *q)
{
	return q->posted.closed.count != 0;
}

/*
 * Returns the room for a batch that is polled straight into the ring: at most `max` adjacent
 * records, 0 if the ring is full.  The caller then calls evd_queue_append() or
 * evd_queue_append_unsignalled() for each record that stays, in order, and ends the batch with
 * evd_queue_polled().
 */
unsigned int evd_queue_room(struct evd_queue *q, unsigned int max, void **batch);
void evd_queue_append(struct evd_queue *q, const void *record);
void evd_queue_append_unsignalled(struct evd_queue *q, const void *record);
void evd_queue_polled(struct evd_queue *q, unsigned int n, bool device_empty);

/*
 * Returns the place for one more posted event, which the caller writes.  NULL if qlen are queued;
 * then the hold of `order` is released at once.
 */
DAT_EVENT *evd_queue_post(struct evd_queue *q, const struct evd_order *order);

/*
 * Makes a hold as long as `spare`, an empty one, in which it leaves its old memory.
 */
void evd_hold_lengthen(struct evd_hold *hold, struct evd_hold *spare);
/* -ENOSPC when the hold is full. */
int evd_queue_hold(struct evd_hold *hold, const void *record);
/* Releases the hold: the completions in it get numbers. */
void evd_queue_release(struct evd_queue *q, struct evd_hold *hold);

/*
 * Removes the oldest item and returns its kind: *record for a completion, *event for a posted
 * event.  Its memory stays valid until the lock is dropped or an item is queued.
 */
enum evd_item evd_queue_take(struct evd_queue *q, const void **record, const DAT_EVENT **event);

/* Removes posted events; see evd_purge_endpoint(). */
void evd_queue_purge_endpoint(struct evd_queue *q, const void *endpoint, DAT_EVENT_NUMBER number);

/* Removes matching items; see evd_purge(). */
void evd_queue_purge(struct evd_queue *q, struct evd_hold *hold,
    bool (*match_raw)(const void *raw, const void *key),
    bool (*match_event)(const DAT_EVENT *event, const void *key), const void *key);

#endif
