/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/posted.h"

#include "evd/annotate.h"
#include "evd/os.h"

/* ---- lists ---- */

/* Removes the entry after `before`; NULL: the first entry. */
static struct evd_posted *
posted_remove_after(struct evd_posted_list *list, struct evd_posted *before)
{
	struct evd_posted *entry = before ? before->next : list->first;

	ASSUME(list->count > 0 && entry);
	if (before)
		before->next = entry->next;
	else
		list->first = entry->next;
	if (list->last == entry)
		list->last = before;
	list->count--;
	list->unsignalled -= entry->unsignalled;
	return entry;
}

static struct evd_posted *
posted_get_free(struct evd_posted_queue *p)
{
	struct evd_posted *entry = p->free;

	if (entry)
		p->free = entry->next;
	return entry;
}

static void
posted_put_free(struct evd_posted_queue *p, struct evd_posted *entry)
{
	entry->next = p->free;
	p->free = entry;
}

int
evd_posted_init(struct evd_posted_queue *p, unsigned int length, unsigned int event_size)
{
	const size_t size = sizeof *p->entries + event_size;

	*p = (struct evd_posted_queue){
		.entries = os_alloc(length, size),
		.length = length,
		.event_size = event_size,
	};
	if (!p->entries)
		return -ENOMEM;
	for (unsigned int i = length; i > 0; i--)
		posted_put_free(p, (void *)((char *)p->entries + (i - 1) * size));
	return 0;
}

void
evd_posted_fini(struct evd_posted_queue *p)
{
	os_free(p->entries);
	*p = (struct evd_posted_queue){ 0 };
}

/* ---- add, open, take ---- */

struct evd_posted *
evd_posted_add_closed(struct evd_posted_queue *p, const struct evd_order *order, uint64_t polled)
{
	struct evd_posted *entry = posted_get_free(p);

	if (!entry)
		return NULL;
	entry->endpoint = order->endpoint;
	entry->barrier = order->barrier;
	entry->unsignalled = order->unsignalled;
	entry->is_short = false;
	entry->hold = order->hold;
	entry->mark = polled;
	evd_posted_append(&p->closed, entry);
	return entry;
}

/* True if an earlier event of the same endpoint is still closed. */
static bool
posted_is_behind(const struct evd_posted_queue *p, const struct evd_posted *entry)
{
	if (!entry->endpoint)
		return false;
	for (const struct evd_posted *e = p->closed.first; e != entry; e = e->next)
		if (e->endpoint == entry->endpoint)
			return true;
	return false;
}

static bool
posted_must_wait(const struct evd_posted *entry, const struct evd_posted_progress *progress)
{
	return entry->barrier && !progress->device_empty &&
	       progress->polled - entry->mark < progress->depth;
}

struct evd_posted *
evd_posted_open(
    struct evd_posted_queue *p, const struct evd_posted_progress *progress, uint64_t *next_seq)
{
	struct evd_posted *before = NULL, *entry;

	for (entry = p->closed.first; entry; entry = entry->next) {
		if (!posted_must_wait(entry, progress) && !posted_is_behind(p, entry))
			break;
		before = entry;
	}
	if (!entry)
		return NULL;
	evd_posted_append(&p->open, posted_remove_after(&p->closed, before));
	entry->seq = (*next_seq)++;
	return entry;
}

void
evd_posted_mark(struct evd_posted_queue *p, uint64_t polled)
{
	for (struct evd_posted *e = p->closed.first; e; e = e->next)
		e->mark = polled;
}

void
evd_posted_forget(struct evd_posted_queue *p, const struct evd_hold *hold)
{
	for (struct evd_posted *e = p->closed.first; e; e = e->next)
		if (e->hold == hold)
			e->hold = NULL;
}

/* What is removed: the events for which match() returns true, or those of one endpoint. */
struct posted_purge {
	bool (*match)(const void *event, const void *key);
	const void *key;
	const void *endpoint;
	bool (*match_own)(const void *event);
};

static bool
posted_is_purged(const struct evd_posted *entry, const struct posted_purge *purge)
{
	if (purge->match)
		return purge->match(entry->event, purge->key);
	return entry->endpoint == purge->endpoint && purge->match_own(entry->event);
}

static void
posted_purge_list(
    struct evd_posted_queue *p, struct evd_posted_list *list, const struct posted_purge *purge)
{
	struct evd_posted *before = NULL, *entry = list->first, *next;

	for (; entry; entry = next) {
		next = entry->next;
		if (posted_is_purged(entry, purge))
			posted_put_free(p, posted_remove_after(list, before));
		else
			before = entry;
	}
}

static void
posted_purge(struct evd_posted_queue *p, const struct posted_purge *purge)
{
	posted_purge_list(p, &p->open, purge);
	posted_purge_list(p, &p->closed, purge);
}

void
evd_posted_purge(
    struct evd_posted_queue *p, bool (*match)(const void *, const void *), const void *key)
{
	const struct posted_purge purge = { .match = match, .key = key };

	posted_purge(p, &purge);
}

void
evd_posted_purge_endpoint(
    struct evd_posted_queue *p, const void *endpoint, bool (*match)(const void *event))
{
	const struct posted_purge purge = { .endpoint = endpoint, .match_own = match };

	posted_purge(p, &purge);
}

static void
posted_move_list(struct evd_posted_queue *to, struct evd_posted_list *to_list,
    struct evd_posted_queue *from, struct evd_posted_list *from_list)
{
	while (from_list->first) {
		struct evd_posted *old = posted_remove_after(from_list, NULL);
		struct evd_posted *fresh = posted_get_free(to);

		ASSUME(fresh);
		memcpy(fresh, old, sizeof *old + from->event_size);
		evd_posted_append(to_list, fresh);
		posted_put_free(from, old);
	}
}

void
evd_posted_move(struct evd_posted_queue *to, struct evd_posted_queue *from)
{
	posted_move_list(to, &to->open, from, &from->open);
	posted_move_list(to, &to->closed, from, &from->closed);
}
