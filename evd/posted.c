/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/posted.h"

#include "evd/evd.h"
#include "evd/os.h"

/* ---- lists ---- */

static struct evd_posted *
posted_at(const struct evd_posted_queue *p, unsigned int link)
{
	return &p->entries[link - 1];
}

static void
posted_append(struct evd_posted_queue *p, struct evd_posted_list *list, unsigned int link)
{
	posted_at(p, link)->next = 0;
	if (list->last)
		posted_at(p, list->last)->next = link;
	else
		list->first = link;
	list->last = link;
	list->count++;
	list->unsignalled += posted_at(p, link)->unsignalled;
}

/* Removes the entry after `before`; 0: the first entry. */
static unsigned int
posted_remove_after(struct evd_posted_queue *p, struct evd_posted_list *list, unsigned int before)
{
	unsigned int link = before ? posted_at(p, before)->next : list->first;

	ASSUME(list->count > 0 && link != 0);
	if (before)
		posted_at(p, before)->next = posted_at(p, link)->next;
	else
		list->first = posted_at(p, link)->next;
	if (list->last == link)
		list->last = before;
	list->count--;
	list->unsignalled -= posted_at(p, link)->unsignalled;
	return link;
}

static unsigned int
posted_get_free(struct evd_posted_queue *p)
{
	unsigned int link = p->free;

	if (link)
		p->free = posted_at(p, link)->next;
	return link;
}

static void
posted_put_free(struct evd_posted_queue *p, unsigned int link)
{
	posted_at(p, link)->next = p->free;
	p->free = link;
}

int
evd_posted_init(struct evd_posted_queue *p, unsigned int length)
{
	*p = (struct evd_posted_queue){
		.entries = os_alloc(length, sizeof *p->entries),
		.length = length,
	};
	if (!p->entries)
		return -ENOMEM;
	for (unsigned int link = length; link > 0; link--)
		posted_put_free(p, link);
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
evd_posted_add(struct evd_posted_queue *p, uint64_t seq)
{
	unsigned int link = posted_get_free(p);

	if (!link)
		return NULL;
	posted_at(p, link)->seq = seq;
	posted_at(p, link)->endpoint = NULL;
	posted_at(p, link)->unsignalled = false;
	posted_append(p, &p->open, link);
	return posted_at(p, link);
}

struct evd_posted *
evd_posted_add_closed(struct evd_posted_queue *p, const struct evd_order *order, uint64_t polled)
{
	unsigned int link = posted_get_free(p);
	struct evd_posted *entry;

	if (!link)
		return NULL;
	entry = posted_at(p, link);
	entry->endpoint = order->endpoint;
	entry->barrier = order->barrier;
	entry->unsignalled = order->unsignalled;
	entry->hold = order->hold;
	entry->mark = polled;
	posted_append(p, &p->closed, link);
	return entry;
}

/* True if an earlier event of the same endpoint is still closed. */
static bool
posted_is_behind(const struct evd_posted_queue *p, unsigned int link)
{
	const void *endpoint = posted_at(p, link)->endpoint;

	if (!endpoint)
		return false;
	for (unsigned int l = p->closed.first; l != link; l = posted_at(p, l)->next)
		if (posted_at(p, l)->endpoint == endpoint)
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
	unsigned int before = 0, link;

	for (link = p->closed.first; link; link = posted_at(p, link)->next) {
		if (!posted_must_wait(posted_at(p, link), progress) && !posted_is_behind(p, link))
			break;
		before = link;
	}
	if (!link)
		return NULL;
	posted_append(p, &p->open, posted_remove_after(p, &p->closed, before));
	posted_at(p, link)->seq = (*next_seq)++;
	return posted_at(p, link);
}

const DAT_EVENT *
evd_posted_take(struct evd_posted_queue *p)
{
	unsigned int link = posted_remove_after(p, &p->open, 0);

	posted_put_free(p, link);
	return &posted_at(p, link)->event;
}

void
evd_posted_mark(struct evd_posted_queue *p, uint64_t polled)
{
	for (unsigned int link = p->closed.first; link; link = posted_at(p, link)->next)
		posted_at(p, link)->mark = polled;
}

void
evd_posted_forget(struct evd_posted_queue *p, const struct evd_hold *hold)
{
	for (unsigned int link = p->closed.first; link; link = posted_at(p, link)->next)
		if (posted_at(p, link)->hold == hold)
			posted_at(p, link)->hold = NULL;
}

/* What is removed: the events for which match() returns true, or those of one endpoint. */
struct posted_purge {
	bool (*match)(const DAT_EVENT *event, const void *key);
	const void *key;
	const void *endpoint;
	DAT_EVENT_NUMBER number;
};

static bool
posted_is_purged(const struct evd_posted *entry, const struct posted_purge *purge)
{
	if (purge->match)
		return purge->match(&entry->event, purge->key);
	return entry->endpoint == purge->endpoint && entry->event.event_number == purge->number;
}

static void
posted_purge_list(
    struct evd_posted_queue *p, struct evd_posted_list *list, const struct posted_purge *purge)
{
	unsigned int before = 0, link = list->first, next;

	for (; link; link = next) {
		next = posted_at(p, link)->next;
		if (posted_is_purged(posted_at(p, link), purge))
			posted_put_free(p, posted_remove_after(p, list, before));
		else
			before = link;
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
    struct evd_posted_queue *p, bool (*match)(const DAT_EVENT *, const void *), const void *key)
{
	const struct posted_purge purge = { .match = match, .key = key };

	posted_purge(p, &purge);
}

void
evd_posted_purge_endpoint(struct evd_posted_queue *p, const void *endpoint, DAT_EVENT_NUMBER number)
{
	const struct posted_purge purge = { .endpoint = endpoint, .number = number };

	posted_purge(p, &purge);
}

static void
posted_move_list(struct evd_posted_queue *to, struct evd_posted_list *to_list,
    struct evd_posted_queue *from, struct evd_posted_list *from_list)
{
	while (from_list->first) {
		unsigned int old = posted_remove_after(from, from_list, 0);
		unsigned int fresh = posted_get_free(to);

		ASSUME(fresh != 0);
		*posted_at(to, fresh) = *posted_at(from, old);
		posted_append(to, to_list, fresh);
		posted_put_free(from, old);
	}
}

void
evd_posted_move(struct evd_posted_queue *to, struct evd_posted_queue *from)
{
	posted_move_list(to, &to->open, from, &from->open);
	posted_move_list(to, &to->closed, from, &from->closed);
}
