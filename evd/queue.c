/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/queue.h"

#include <string.h>

#include "evd/os.h"

int
evd_queue_init_ring(struct evd_queue *spare, unsigned int length)
{
	*spare = (struct evd_queue){ .qlen = length };
	spare->ring = os_alloc(length, sizeof *spare->ring);
	if (!spare->ring)
		return -ENOMEM;
	spare->ring_end = spare->ring + length;
	spare->ring_first = spare->ring;
	return 0;
}

int
evd_queue_init(struct evd_queue *q, unsigned int qlen, unsigned int posts, unsigned int event_size,
    bool device)
{
	*q = (struct evd_queue){ .qlen = qlen };
	if (device && evd_queue_init_ring(q, qlen))
		return -ENOMEM;
	if (posts && evd_posted_init(&q->posted, posts, event_size)) {
		evd_queue_fini(q);
		return -ENOMEM;
	}
	q->depth = qlen;
	q->next_seq = 1;
	return 0;
}

void
evd_queue_fini(struct evd_queue *q)
{
	os_free(q->ring);
	evd_posted_fini(&q->posted);
	*q = (struct evd_queue){ 0 };
}

/* An index is less than twice the length, so one subtraction wraps it. */
static unsigned int
queue_wrap(unsigned int index, unsigned int length)
{
	return index >= length ? index - length : index;
}

static struct evd_item *
queue_ring_at(const struct evd_queue *q, unsigned int i)
{
	return &q->ring[queue_wrap((unsigned int)(q->ring_first - q->ring) + i, q->qlen)];
}

/* ---- the ring ---- */

bool
evd_batch_hold(struct evd_batch *batch, struct evd_hold *hold)
{
	if (hold->count == hold->capacity) {
		batch->refused = true;
		return false;
	}
	hold->items[queue_wrap(hold->head + hold->count, hold->capacity)].record =
	    batch->next->record;
	hold->count++;
	batch->held++;
	return true;
}

/* ---- posted events, and the holds that they release ---- */

static struct evd_item *
queue_hold_at(const struct evd_hold *hold, unsigned int i)
{
	return &hold->items[queue_wrap(hold->head + i, hold->capacity)];
}

void
evd_queue_release(struct evd_queue *q, struct evd_hold *hold)
{
	hold->active = false;
	for (; hold->numbered < hold->count; hold->numbered++) {
		queue_hold_at(hold, hold->numbered)->order = q->next_seq++ << 1;
		q->released_count++;
	}
	if (hold->numbered && !hold->listed) {
		hold->next = q->released;
		hold->listed = true;
		q->released = hold;
	}
	evd_queue_note_depth(q);
}

bool
evd_queue_open(struct evd_queue *q, bool device_empty)
{
	const struct evd_posted_progress progress = {
		.polled = q->polled, .depth = q->depth, .device_empty = device_empty
	};
	struct evd_posted *entry;
	bool signalled = false;

	while ((entry = evd_posted_open(&q->posted, &progress, &q->next_seq))) {
		signalled |= !entry->unsignalled;
		if (!entry->hold)
			continue;
		signalled |= entry->hold->count != 0;
		evd_queue_release(q, entry->hold);
	}
	return signalled;
}

/*
 * Every ordered event is added as closed and opens here, at once if it need not wait.  So holds are
 * released in one place only.
 */
static struct evd_posted *
queue_post_ordered(struct evd_queue *q, const struct evd_order *order)
{
	struct evd_order own = *order;
	struct evd_posted *entry;

	own.barrier = order->barrier && q->ring != NULL;
	entry = evd_posted_add_closed(&q->posted, &own, q->polled);
	if (!entry && own.hold)
		/* the event is lost, its held completions are not */
		evd_queue_release(q, own.hold);
	(void)evd_queue_open(q, false);
	return entry;
}

struct evd_posted *
evd_queue_post(struct evd_queue *q, const struct evd_order *order, bool is_short)
{
	struct evd_posted *entry;

	if (!order->endpoint)
		return evd_queue_post_free(q, is_short);
	entry = queue_post_ordered(q, order);
	if (entry)
		entry->is_short = is_short;
	evd_queue_note_depth(q);
	return entry;
}

/* ---- change of length ---- */

static void
queue_copy_ring(struct evd_queue *to, const struct evd_queue *from)
{
	for (unsigned int i = 0; i < from->ring_count; i++)
		to->ring[i] = *queue_ring_at(from, i);
}

void
evd_queue_lengthen_ring(struct evd_queue *q, struct evd_queue *spare)
{
	struct evd_item *const old = q->ring;

	queue_copy_ring(spare, q);
	q->qlen = spare->qlen;
	q->ring = q->ring_first = spare->ring;
	q->ring_end = spare->ring_end;
	spare->ring = old;
}

void
evd_queue_move(struct evd_queue *to, struct evd_queue *from)
{
	queue_copy_ring(to, from);
	evd_posted_move(&to->posted, &from->posted);
	to->ring_count = from->ring_count;
	to->unsignalled = from->unsignalled;
	to->released = from->released;
	to->released_count = from->released_count;
	to->depth = from->depth;
	to->reserved = from->reserved;
	to->next_seq = from->next_seq;
	to->polled = from->polled;
	to->max_depth = from->max_depth;
	from->ring_count = from->unsignalled = from->released_count = 0;
	from->released = NULL;
}

void
evd_queue_set_depth(struct evd_queue *q, unsigned int depth)
{
	/*
	 * A barrier waits for completions that are among the `depth` in the device queue, whatever
	 * number was polled since its post.
	 */
	if (depth < q->depth)
		evd_posted_mark(&q->posted, q->polled);
	q->depth = depth;
}

/* ---- holds ---- */

int
evd_hold_init(struct evd_hold *hold, unsigned int capacity)
{
	*hold = (struct evd_hold){ .capacity = capacity };
	hold->items = os_alloc(capacity, sizeof *hold->items);
	return hold->items ? 0 : -ENOMEM;
}

void
evd_hold_fini(struct evd_hold *hold)
{
	os_free(hold->items);
	*hold = (struct evd_hold){ 0 };
}

void
evd_hold_lengthen(struct evd_hold *hold, struct evd_hold *spare)
{
	struct evd_item *const old = hold->items;

	for (unsigned int i = 0; i < hold->count; i++)
		spare->items[i] = *queue_hold_at(hold, i);
	hold->capacity = spare->capacity;
	hold->items = spare->items;
	hold->head = 0;
	spare->items = old;
}

static void
queue_unlist_released(struct evd_queue *q, struct evd_hold *hold)
{
	struct evd_hold **p = &q->released;

	while (*p != hold)
		p = &(*p)->next;
	*p = hold->next;
	hold->listed = false;
}

/* ---- take ---- */

enum evd_kind
evd_queue_take(
    struct evd_queue *q, const struct evd_record **record, const struct evd_posted **posted)
{
	enum evd_kind kind = EVD_NOTHING;
	const struct evd_posted *first = evd_posted_first(&q->posted);
	struct evd_hold *oldest = NULL;
	uint64_t order = UINT64_MAX;

	if (first && (q->ring_count | q->released_count) == 0) {
		*posted = evd_posted_take(&q->posted);
		return EVD_POSTED;
	}
	if (q->ring_count) {
		kind = EVD_COMPLETION;
		order = q->ring_first->order;
	}
	if (first && first->seq << 1 < order) {
		kind = EVD_POSTED;
		order = first->seq << 1;
	}
	for (struct evd_hold *h = q->released; h; h = h->next) {
		if (queue_hold_at(h, 0)->order < order) {
			kind = EVD_RELEASED;
			order = queue_hold_at(h, 0)->order;
			oldest = h;
		}
	}

	switch (kind) {
	case EVD_COMPLETION:
		*record = evd_queue_take_completion(q);
		break;
	case EVD_POSTED:
		*posted = evd_posted_take(&q->posted);
		break;
	case EVD_RELEASED:
		*record = &queue_hold_at(oldest, 0)->record;
		oldest->head = queue_wrap(oldest->head + 1, oldest->capacity);
		oldest->count--;
		oldest->numbered--;
		q->released_count--;
		if (oldest->numbered == 0)
			queue_unlist_released(q, oldest);
		break;
	case EVD_NOTHING:
		break;
	}
	return kind;
}

/* ---- purge; the remaining items keep their order ---- */

static void
queue_purge_ring(struct evd_queue *q,
    bool (*match)(const struct evd_record *record, const void *key), const void *key)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < q->ring_count; i++) {
		const struct evd_item *item = queue_ring_at(q, i);

		if (match(&item->record, key)) {
			q->unsignalled -= (unsigned int)(item->order & EVD_ITEM_UNSIGNALLED);
			continue;
		}
		if (kept != i)
			*queue_ring_at(q, kept) = *item;
		kept++;
	}
	q->ring_count = kept;
	if (!kept)
		q->ring_first = q->ring;
}

bool
evd_queue_purge(struct evd_queue *q, struct evd_hold *hold,
    bool (*match_record)(const struct evd_record *record, const void *key),
    bool (*match_event)(const void *event, const void *key), const void *key)
{
	if (hold) {
		if (hold->listed) {
			q->released_count -= hold->numbered;
			queue_unlist_released(q, hold);
		}
		evd_posted_forget(&q->posted, hold);
		hold->active = false;
		hold->count = hold->numbered = 0;
	}
	if (match_record && q->ring)
		queue_purge_ring(q, match_record, key);
	if (!match_event)
		return false;
	evd_posted_purge(&q->posted, match_event, key);
	return evd_queue_open(q, false); /* events that waited only for a purged barrier */
}

bool
evd_queue_purge_endpoint(
    struct evd_queue *q, const void *endpoint, bool (*match)(const void *event))
{
	evd_posted_purge_endpoint(&q->posted, endpoint, match);
	return evd_queue_open(q, false);
}
