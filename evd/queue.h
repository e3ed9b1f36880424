/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue -- the merged queue of an EVD
 *
 * The queue has three kinds of items: completions polled from the device (the ring: records, which
 * are converted when they leave), posted events (posted.h), and completions of released holds.
 * Each item gets a sequence number when it enters.  The item with the lowest number leaves first.
 * While only completions are queued, which is the usual case, no numbers are compared.
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

#include "evd/annotate.h"
#include "evd/posted.h"

/*
 * What a source queues for one completion.  Only the source knows the contents: it writes the
 * record when it polls, and reads it when the completion leaves.
 */
struct evd_record {
	_Alignas(8) unsigned char bytes[32];
};

/* A record in the ring, or in a hold. */
struct evd_item {
	uint64_t order; /* twice the sequence number, and EVD_ITEM_UNSIGNALLED */
	struct evd_record record;
};

#define EVD_ITEM_UNSIGNALLED 1 /* the record wakes no sink */

/*
 * evd_hold -- the completions of one endpoint that wait for its ESTABLISHED
 *
 * Guarded by the trigger lock of the EVD that receives the completions.
 */
struct evd_hold {
	bool active;
	bool listed; /* in the list of released holds of the EVD */
	struct evd_hold *next;
	unsigned int capacity, head, count;
	unsigned int numbered; /* how many of them are released; they come first */
	struct evd_item *items;
};

int evd_hold_init(struct evd_hold *hold, unsigned int capacity);
void evd_hold_fini(struct evd_hold *hold); /* after evd_purge() */
/* LOCKED (for a source that polls). */
static inline bool
evd_hold_is_active(const struct evd_hold *hold)
{
	return hold->active;
}

struct evd_queue {
	unsigned int qlen;  /* length of the ring, in records, and of the posted events */
	unsigned int depth; /* of the device queue: the length, or more if it has grown */
	uint64_t next_seq;
	uint64_t polled; /* completions polled so far */

	struct evd_item *ring, *ring_end; /* NULL: the EVD has no device */
	struct evd_item *ring_first;	  /* the oldest record, if there is one */
	unsigned int ring_count;
	unsigned int unsignalled; /* number of unsignalled records in the ring */

	/*
	 * Its length is at least the first length of the ring and what is reserved above that.  It
	 * is 0 until an event is posted, if the EVD was created so.
	 */
	struct evd_posted_queue posted;
	unsigned int reserved;

	struct evd_hold *released;
	unsigned int released_count;

	unsigned int max_depth;
};

enum evd_kind { EVD_NOTHING, EVD_COMPLETION, EVD_RELEASED, EVD_POSTED };

/*
 * `posts`: the queue has room for so many posted events, or 0.  `event_size`: of each of them.
 * `device`: it has a ring.
 */
int evd_queue_init(struct evd_queue *q, unsigned int qlen, unsigned int posts,
    unsigned int event_size, bool device);
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
int evd_queue_init_ring(struct evd_queue *spare, unsigned int length);
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

/* True if there are `enough` of them, at least 1. */
static inline bool
evd_queue_has_signalled(const struct evd_queue *q, unsigned int enough)
{
	return evd_queue_count(q) != 0 && evd_queue_signalled(q) >= enough;
}

/* True if there is one for certain: a record, which need not be the oldest. */
static inline bool
evd_queue_has_signalled_record(const struct evd_queue *q)
{
	return q->ring_count > q->unsignalled;
}

/* True if an event is closed, so that polling the device can open it. */
static inline bool
evd_queue_has_closed(const struct evd_queue *q)
{
	return q->posted.closed.count != 0;
}

/*
 * A batch of completions is polled straight into the ring.  evd_queue_begin_batch() finds the room:
 * at most `max` adjacent places, 0 if the ring is full.  The source writes the record of each
 * completion at evd_batch_record(), in order, and calls one of the next three functions if the
 * completion stays; a record that is dropped is overwritten by the next one.  evd_queue_end_batch()
 * counts what stayed; `polled` is the number of completions that the device returned.
 */
struct evd_batch {
	struct evd_item *next; /* the place of the next record that stays */
	uint64_t order;	       /* its number */
	unsigned int room;     /* at most so many may be polled */
	unsigned int unsignalled, held;
	bool refused; /* a hold was full: the device completed more receives than were posted */
};

static inline struct evd_record *
evd_batch_record(struct evd_batch *batch)
{
	return &batch->next->record;
}

/* The completion is queued, and wakes the sink. */
static inline void
evd_batch_queue(struct evd_batch *batch)
{
	batch->next->order = batch->order;
	batch->order += 2;
	batch->next++;
}

/* It is queued, and wakes no sink. */
static inline void
evd_batch_queue_unsignalled(struct evd_batch *batch)
{
	batch->next->order = batch->order | EVD_ITEM_UNSIGNALLED;
	batch->order += 2;
	batch->next++;
	batch->unsignalled++;
}

/*
 * It stays in the hold, which is active, until the hold is released.  False: the hold is full, and
 * the completion is dropped.
 */
bool evd_batch_hold(struct evd_batch *batch, struct evd_hold *hold);

static inline void
evd_queue_begin_batch(struct evd_queue *q, unsigned int max, struct evd_batch *batch)
{
	struct evd_item *tail = q->ring_first;
	unsigned int room = q->qlen;

	if (q->ring_count) { /* else the ring begins at its start */
		tail += q->ring_count;
		room -= q->ring_count;
		if (tail >= q->ring_end)
			tail -= q->qlen;
		else if (room > (unsigned int)(q->ring_end - tail))
			room = (unsigned int)(q->ring_end - tail);
	}
	batch->next = tail;
	batch->order = q->next_seq << 1;
	batch->room = room < max ? room : max;
	batch->unsignalled = batch->held = 0;
	batch->refused = false;
}

/*
 * Returns the entry for one more posted event, which the caller writes there.  NULL if qlen are
 * queued; then the hold of `order` is released at once.
 */
struct evd_posted *evd_queue_post(
    struct evd_queue *q, const struct evd_order *order, bool is_short);

static inline void
evd_queue_note_depth(struct evd_queue *q)
{
	const unsigned int load = evd_queue_load(q);

	if (load > q->max_depth)
		q->max_depth = load;
}

/* As evd_queue_begin_batch(), for an empty ring. */
static inline void
evd_queue_begin_first_batch(struct evd_queue *q, unsigned int max, struct evd_batch *batch)
{
	if (q->ring_count)
		__builtin_unreachable();
	evd_queue_begin_batch(q, max, batch);
}

/*
 * Opens every closed event that need not wait any longer, and releases its hold.  True if something
 * that wakes a sink opened.
 */
bool evd_queue_open(struct evd_queue *q, bool device_empty);

/*
 * Returns how many were queued.  *signalled: something that wakes a sink was queued, or opened
 * because of what was polled.
 */
static inline unsigned int
evd_queue_end_batch(struct evd_queue *q, const struct evd_batch *batch, unsigned int polled,
    bool device_empty, bool *signalled)
{
	const unsigned int queued = (unsigned int)((batch->order >> 1) - q->next_seq);

	ASSUME(q->ring_count + queued <= q->qlen);
	q->ring_count += queued;
	q->unsignalled += batch->unsignalled;
	q->next_seq = batch->order >> 1;
	q->polled += polled;
	*signalled = queued != batch->unsignalled;
	if (evd_queue_has_closed(q))
		*signalled |= evd_queue_open(q, device_empty);
	evd_queue_note_depth(q);
	return queued;
}

/* As evd_queue_post(), for an event of no endpoint, which has no order but that of its entry. */
static inline struct evd_posted *
evd_queue_post_free(struct evd_queue *q, bool is_short)
{
	struct evd_posted *entry = evd_posted_add(&q->posted, q->next_seq, is_short);

	if (!entry)
		return NULL;
	q->next_seq++;
	evd_queue_note_depth(q);
	return entry;
}

/*
 * Makes a hold as long as `spare`, an empty one, in which it leaves its old memory.
 */
void evd_hold_lengthen(struct evd_hold *hold, struct evd_hold *spare);
/* Releases the hold: the completions in it get numbers. */
void evd_queue_release(struct evd_queue *q, struct evd_hold *hold);

/* True if the oldest item is in the ring, and no other kind of item is there to compare with. */
static inline bool
evd_queue_has_only_completions(const struct evd_queue *q)
{
	return q->ring_count != 0 && (q->posted.open.count | q->released_count) == 0;
}

/* True if the oldest item is in the ring; false also if that takes more to find out. */
static inline bool
evd_queue_begins_with_completion(const struct evd_queue *q)
{
	const struct evd_posted *posted = evd_posted_first(&q->posted);

	return q->ring_count != 0 && q->released_count == 0 &&
	       (!posted || q->ring_first->order < posted->seq << 1);
}

/* True if nothing but completions is queued, and each of them wakes a sink. */
static inline bool
evd_queue_has_only_signalled(const struct evd_queue *q)
{
	return q->ring_count != 0 &&
	       (q->posted.open.count | q->released_count | q->unsignalled) == 0;
}

/* Removes the oldest record of several in the ring.  It wakes a sink. */
static inline void
evd_queue_remove_one_of_several(struct evd_queue *q)
{
	struct evd_item *const next = q->ring_first + 1;

	ASSUME(!(q->ring_first->order & EVD_ITEM_UNSIGNALLED));
	q->ring_first = next == q->ring_end ? q->ring : next;
	q->ring_count--;
}

/* Removes the only record of the ring.  It wakes a sink. */
static inline void
evd_queue_remove_last(struct evd_queue *q)
{
	ASSUME(q->ring_count == 1 && !(q->ring_first->order & EVD_ITEM_UNSIGNALLED));
	q->ring_first = q->ring; /* an empty ring begins there: see evd_queue_take_completion() */
	q->ring_count = 0;
}

/*
 * Removes the oldest record of the ring, which has one.  It stays valid as evd_queue_take() says.
 */
static inline const struct evd_record *
evd_queue_take_completion(struct evd_queue *q)
{
	struct evd_item *item = q->ring_first, *next = item + 1;

	if (item->order & EVD_ITEM_UNSIGNALLED)
		q->unsignalled--;
	q->ring_count--;
	/* An empty ring begins at its start, where a whole batch has room. */
	if (next == q->ring_end || q->ring_count == 0)
		next = q->ring;
	q->ring_first = next;
	return &item->record;
}

/*
 * Removes the oldest item and returns its kind: *record for a completion, *posted for a posted
 * event.  Its memory stays valid until the lock is dropped or an item is queued.
 */
enum evd_kind evd_queue_take(
    struct evd_queue *q, const struct evd_record **record, const struct evd_posted **posted);

/*
 * Removes posted events; see evd_purge_endpoint().  True if something that wakes a sink opened,
 * because it waited for one of them only.
 */
bool evd_queue_purge_endpoint(
    struct evd_queue *q, const void *endpoint, bool (*match)(const void *event));

/* Removes matching items; see evd_purge().  True as evd_queue_purge_endpoint(). */
bool evd_queue_purge(struct evd_queue *q, struct evd_hold *hold,
    bool (*match_record)(const struct evd_record *record, const void *key),
    bool (*match_event)(const void *event, const void *key), const void *key);

#endif
