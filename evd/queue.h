/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue -- the merged queue of an EVD
 *
 * Three kinds of item wait here: completions taken from the device (the stash: raw records,
 * converted only when they leave), posted events (see posted.h), and completions whose hold was
 * released.  Each got a sequence number when it entered; the lowest leaves first.
 *
 * Three rules put the items of one endpoint in order.  None of them delays, numbers or releases what
 * belongs to another endpoint, or to none.
 *   - A barrier gets its number when the device queue was seen empty after the post, or when as many
 *     completions as the device queue can hold were polled since.  Until then it is closed: it does
 *     not count.
 *   - What an endpoint posts while an event of it is closed gets its number after that event.
 *   - A hold ends when the event it waits for has its number; what it kept gets the next numbers.
 *
 * Everything here is guarded by the trigger lock of the EVD that embeds the queue.
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
	unsigned int qlen;  /* records that fit in the stash */
	unsigned int depth; /* of the device queue: qlen, or more if it grew */
	size_t raw_size;
	uint64_t next_seq;
	uint64_t polled; /* completions ever taken from the device */

	unsigned char *raw; /* the stash: qlen records */
	uint64_t *ring_seq;
	bool *ring_unsignalled; /* it is queued, and wakes nobody */
	unsigned int ring_head, ring_count;
	unsigned int unsignalled; /* of those in the stash */

	struct evd_posted_queue posted; /* as many events as the stash had records at first */

	struct evd_hold *released;
	unsigned int released_count;

	unsigned int max_depth;
};

enum evd_item { EVD_ITEM_NONE, EVD_ITEM_RAW, EVD_ITEM_RELEASED, EVD_ITEM_POSTED };

int evd_queue_init(struct evd_queue *q, unsigned int qlen, size_t raw_size);
void evd_queue_fini(struct evd_queue *q);

/* Everything that waits, whether it counts or not; but for what an active hold keeps. */
static inline unsigned int
evd_queue_load(const struct evd_queue *q)
{
	return q->ring_count + evd_posted_count(&q->posted) + q->released_count;
}

/* Moves all that `from` holds, which must fit, into the fresh queue `to`; `from` is left empty. */
void evd_queue_move(struct evd_queue *to, struct evd_queue *from);

/*
 * A longer stash.  It is made without the lock, as that of `spare`, a queue of nothing else: 0 or -ENOMEM.
 * With the lock it becomes that of the queue, and nothing that is queued changes its place; `spare` is left
 * with the shorter one, for evd_queue_fini().
 */
int evd_queue_init_ring(struct evd_queue *spare, unsigned int length, size_t raw_size);
void evd_queue_lengthen_ring(struct evd_queue *q, struct evd_queue *spare);

/* The device queue holds `depth` completions now, and held no more when it became shallower. */
void evd_queue_set_depth(struct evd_queue *q, unsigned int depth);

/* What dequeue would hand out now. */
static inline unsigned int
evd_queue_count(const struct evd_queue *q)
{
	return q->ring_count + q->posted.open.count + q->released_count;
}

/*
 * What of it is worth waking for.  A full stash is, whatever it holds: the device may keep back
 * what makes a noise.
 */
static inline unsigned int
evd_queue_signalled(const struct evd_queue *q)
{
	return evd_queue_count(q) - (q->ring_count < q->qlen ? q->unsignalled : 0);
}

/* Something is queued behind a barrier that polling the device would open. */
static inline bool
evd_queue_has_closed(const struct evd_queue *q)
{
	return q->posted.closed.count != 0;
}

/*
 * Room for a batch polled straight into the stash: at most `max` records, contiguous.  0 when the
 * stash is full.  evd_queue_append() then accepts record i of the batch, in order (the other one, a
 * record that is to wake nobody); evd_queue_polled() ends it.
 */
unsigned int evd_queue_room(struct evd_queue *q, unsigned int max, void **batch);
void evd_queue_append(struct evd_queue *q, const void *record);
void evd_queue_append_unsignalled(struct evd_queue *q, const void *record);
void evd_queue_polled(struct evd_queue *q, unsigned int n, bool device_empty);

/*
 * The place of one more posted event, for the caller to write; NULL when qlen are queued, and then a
 * hold of the order ends at once.
 */
DAT_EVENT *evd_queue_post(struct evd_queue *q, const struct evd_order *order);

/* -ENOSPC when the hold is full. */
int evd_queue_hold(struct evd_hold *hold, const void *record);
/* Ends the hold: what it kept gets numbers. */
void evd_queue_release(struct evd_queue *q, struct evd_hold *hold);

/*
 * The oldest item: *record for the raw kinds, *event for a posted one; both stay valid until the
 * lock is dropped or something is queued, though the item has left.
 */
enum evd_item evd_queue_take(struct evd_queue *q, const void **record, const DAT_EVENT **event);

/* Drops matching items; see evd_purge(). */
void evd_queue_purge(struct evd_queue *q, struct evd_hold *hold,
    bool (*match_raw)(const void *raw, const void *key),
    bool (*match_event)(const DAT_EVENT *event, const void *key), const void *key);

#endif
