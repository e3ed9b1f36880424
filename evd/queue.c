/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/queue.h"

#include <string.h>

#include "evd/evd.h"
#include "evd/os.h"

int
evd_queue_init_ring(struct evd_queue *spare, unsigned int length, size_t raw_size)
{
	*spare = (struct evd_queue){ .qlen = length, .raw_size = raw_size };
	spare->raw = os_alloc(length, raw_size);
	spare->ring_seq = os_alloc(length, sizeof *spare->ring_seq);
	spare->ring_unsignalled = os_alloc(length, sizeof *spare->ring_unsignalled);
	if (spare->raw && spare->ring_seq && spare->ring_unsignalled)
		return 0;
	evd_queue_fini(spare);
	return -ENOMEM;
}

int
evd_queue_init(struct evd_queue *q, unsigned int qlen, size_t raw_size)
{
	*q = (struct evd_queue){ .qlen = qlen };
	if (raw_size && evd_queue_init_ring(q, qlen, raw_size))
		return -ENOMEM;
	if (evd_posted_init(&q->posted, qlen)) {
		evd_queue_fini(q);
		return -ENOMEM;
	}
	q->depth = qlen;
	q->next_seq = 1;
	return 0;
}

int
evd_queue_reserve(struct evd_queue *q, unsigned int reserved)
{
	evd_posted_fini(&q->posted);
	q->reserved = reserved;
	if (evd_posted_init(&q->posted, q->qlen + reserved) == 0)
		return 0;
	evd_queue_fini(q);
	return -ENOMEM;
}

void
evd_queue_fini(struct evd_queue *q)
{
	os_free(q->raw);
	os_free(q->ring_seq);
	os_free(q->ring_unsignalled);
	evd_posted_fini(&q->posted);
	*q = (struct evd_queue){ 0 };
}

/* An index is less than twice the length, so one subtraction wraps it. */
static unsigned int
ring_wrap(unsigned int index, unsigned int length)
{
	return index >= length ? index - length : index;
}

static unsigned char *
ring_at(const struct evd_queue *q, unsigned int index)
{
	return q->raw + (size_t)index * q->raw_size;
}

static void
queue_note_depth(struct evd_queue *q)
{
	unsigned int load = evd_queue_load(q);

	if (load > q->max_depth)
		q->max_depth = load;
}

/* ---- the ring ---- */

unsigned int
evd_queue_room(struct evd_queue *q, unsigned int max, void **batch)
{
	unsigned int tail = ring_wrap(q->ring_head + q->ring_count, q->qlen);
	unsigned int room = q->qlen - q->ring_count;

	if (room > q->qlen - tail)
		room = q->qlen - tail;
	*batch = ring_at(q, tail);
	return room < max ? room : max;
}

static void
queue_append(struct evd_queue *q, const void *record, bool unsignalled)
{
	unsigned int tail = ring_wrap(q->ring_head + q->ring_count, q->qlen);

	ASSUME(q->ring_count < q->qlen);
	/* Earlier records of the batch may have been dropped: close the gap. */
	if (ring_at(q, tail) != record)
		memcpy(ring_at(q, tail), record, q->raw_size);
	q->ring_seq[tail] = q->next_seq++;
	q->ring_unsignalled[tail] = unsignalled;
	q->ring_count++;
	q->unsignalled += unsignalled;
}

void
evd_queue_append(struct evd_queue *q, const void *record)
{
	queue_append(q, record, false);
}

void
evd_queue_append_unsignalled(struct evd_queue *q, const void *record)
{
	queue_append(q, record, true);
}

/* ---- posted events, and the holds that they release ---- */

void
evd_queue_release(struct evd_queue *q, struct evd_hold *hold)
{
	hold->active = false;
	for (; hold->numbered < hold->count; hold->numbered++) {
		hold->seq[ring_wrap(hold->head + hold->numbered, hold->capacity)] = q->next_seq++;
		q->released_count++;
	}
	if (hold->numbered && !hold->listed) {
		hold->next = q->released;
		hold->listed = true;
		q->released = hold;
	}
	queue_note_depth(q);
}

/* Opens every closed event that need not wait any longer, and releases its hold. */
static void
queue_open_posted(struct evd_queue *q, bool device_empty)
{
	const struct evd_posted_progress progress = {
		.polled = q->polled, .depth = q->depth, .device_empty = device_empty
	};
	struct evd_posted *entry;

	while ((entry = evd_posted_open(&q->posted, &progress, &q->next_seq)))
		if (entry->hold)
			evd_queue_release(q, entry->hold);
}

void
evd_queue_polled(struct evd_queue *q, unsigned int n, bool device_empty)
{
	q->polled += n;
	if (q->posted.closed.count)
		queue_open_posted(q, device_empty);
	queue_note_depth(q);
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

	own.barrier = order->barrier && q->raw_size != 0;
	entry = evd_posted_add_closed(&q->posted, &own, q->polled);
	if (!entry && own.hold)
		evd_queue_release(
		    q, own.hold); /* the event is lost, its held completions are not */
	queue_open_posted(q, false);
	return entry;
}

DAT_EVENT *
evd_queue_post(struct evd_queue *q, const struct evd_order *order)
{
	struct evd_posted *entry;

	if (order->endpoint)
		entry = queue_post_ordered(q, order);
	else
		entry = evd_posted_add(&q->posted, q->next_seq++);
	queue_note_depth(q);
	return entry ? &entry->event : NULL;
}

/* ---- change of length ---- */

static void
queue_copy_ring(struct evd_queue *to, const struct evd_queue *from)
{
	unsigned int at;

	for (unsigned int i = 0; i < from->ring_count; i++) {
		at = ring_wrap(from->ring_head + i, from->qlen);
		memcpy(ring_at(to, i), ring_at(from, at), from->raw_size);
		to->ring_seq[i] = from->ring_seq[at];
		to->ring_unsignalled[i] = from->ring_unsignalled[at];
	}
}

void
evd_queue_lengthen_ring(struct evd_queue *q, struct evd_queue *spare)
{
	const struct evd_queue old = *q;

	queue_copy_ring(spare, q);
	q->qlen = spare->qlen;
	q->raw = spare->raw;
	q->ring_seq = spare->ring_seq;
	q->ring_unsignalled = spare->ring_unsignalled;
	q->ring_head = 0;
	spare->raw = old.raw;
	spare->ring_seq = old.ring_seq;
	spare->ring_unsignalled = old.ring_unsignalled;
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
evd_hold_init(struct evd_hold *hold, size_t raw_size, unsigned int capacity)
{
	*hold = (struct evd_hold){ .raw_size = raw_size, .capacity = capacity };
	hold->raw = os_alloc(capacity, raw_size);
	hold->seq = os_alloc(capacity, sizeof *hold->seq);
	if (hold->raw && hold->seq)
		return 0;
	evd_hold_fini(hold);
	return -ENOMEM;
}

void
evd_hold_fini(struct evd_hold *hold)
{
	os_free(hold->raw);
	os_free(hold->seq);
	*hold = (struct evd_hold){ 0 };
}

static unsigned char *
hold_at(const struct evd_hold *hold, unsigned int i)
{
	return hold->raw + (size_t)ring_wrap(hold->head + i, hold->capacity) * hold->raw_size;
}

void
evd_hold_lengthen(struct evd_hold *hold, struct evd_hold *spare)
{
	const struct evd_hold old = *hold;

	for (unsigned int i = 0; i < hold->count; i++) {
		memcpy(hold_at(spare, i), hold_at(hold, i), hold->raw_size);
		spare->seq[i] = hold->seq[ring_wrap(hold->head + i, hold->capacity)];
	}
	hold->capacity = spare->capacity;
	hold->raw = spare->raw;
	hold->seq = spare->seq;
	hold->head = 0;
	spare->raw = old.raw;
	spare->seq = old.seq;
}

int
evd_queue_hold(struct evd_hold *hold, const void *record)
{
	if (hold->count == hold->capacity)
		return -ENOSPC;
	memcpy(hold_at(hold, hold->count), record, hold->raw_size);
	hold->count++;
	return 0;
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

enum evd_item
evd_queue_take(struct evd_queue *q, const void **record, const DAT_EVENT **event)
{
	enum evd_item item = EVD_ITEM_NONE;
	const struct evd_posted *posted = evd_posted_first(&q->posted);
	struct evd_hold *oldest = NULL;
	uint64_t seq = UINT64_MAX;

	if (q->ring_count) {
		item = EVD_ITEM_RAW;
		seq = q->ring_seq[q->ring_head];
	}
	if (posted && posted->seq < seq) {
		item = EVD_ITEM_POSTED;
		seq = posted->seq;
	}
	for (struct evd_hold *h = q->released; h; h = h->next) {
		if (h->seq[h->head] < seq) {
			item = EVD_ITEM_RELEASED;
			seq = h->seq[h->head];
			oldest = h;
		}
	}

	switch (item) {
	case EVD_ITEM_RAW:
		*record = ring_at(q, q->ring_head);
		q->unsignalled -= q->ring_unsignalled[q->ring_head];
		q->ring_count--;
		/* An empty ring starts at index 0, where a whole batch has room. */
		q->ring_head = q->ring_count ? ring_wrap(q->ring_head + 1, q->qlen) : 0;
		break;
	case EVD_ITEM_POSTED:
		*event = evd_posted_take(&q->posted);
		break;
	case EVD_ITEM_RELEASED:
		*record = hold_at(oldest, 0);
		oldest->head = ring_wrap(oldest->head + 1, oldest->capacity);
		oldest->count--;
		oldest->numbered--;
		q->released_count--;
		if (oldest->numbered == 0)
			queue_unlist_released(q, oldest);
		break;
	case EVD_ITEM_NONE:
		break;
	}
	return item;
}

/* ---- purge; the remaining items keep their order ---- */

static void
queue_purge_ring(struct evd_queue *q, bool (*match)(const void *, const void *), const void *key)
{
	unsigned int kept = 0, from, to;

	for (unsigned int i = 0; i < q->ring_count; i++) {
		from = ring_wrap(q->ring_head + i, q->qlen);
		to = ring_wrap(q->ring_head + kept, q->qlen);
		if (match(ring_at(q, from), key)) {
			q->unsignalled -= q->ring_unsignalled[from];
			continue;
		}
		if (from != to) {
			memcpy(ring_at(q, to), ring_at(q, from), q->raw_size);
			q->ring_seq[to] = q->ring_seq[from];
			q->ring_unsignalled[to] = q->ring_unsignalled[from];
		}
		kept++;
	}
	q->ring_count = kept;
	if (!kept)
		q->ring_head = 0;
}

void
evd_queue_purge(struct evd_queue *q, struct evd_hold *hold,
    bool (*match_raw)(const void *raw, const void *key),
    bool (*match_event)(const DAT_EVENT *event, const void *key), const void *key)
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
	if (match_raw && q->raw)
		queue_purge_ring(q, match_raw, key);
	if (match_event) {
		evd_posted_purge(&q->posted, match_event, key);
		queue_open_posted(q, false); /* events that waited only for a purged barrier */
	}
}

void
evd_queue_purge_endpoint(struct evd_queue *q, const void *endpoint, DAT_EVENT_NUMBER number)
{
	evd_posted_purge_endpoint(&q->posted, endpoint, number);
	queue_open_posted(q, false);
}
