/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * posted -- the posted events of a merged queue
 *
 * An event that can be taken is open: it has a sequence number and is in the list of open events,
 * in the order of the numbers.  A barrier, and every event that its endpoint posted after it, is
 * closed: it has no number yet and is in the list of closed events, in the order of posting.  A
 * closed event does not delay events of other endpoints, or events that belong to no endpoint.
 *
 * Guarded by the trigger lock of the EVD.
 */
#ifndef REARM_EVD_POSTED_H
#define REARM_EVD_POSTED_H

#include <stdbool.h>
#include <stdint.h>

#include "evd/front.h"

struct evd_hold;

/*
 * The place of an event in the order of its endpoint.  Events of other endpoints, and events that
 * belong to no endpoint, are not affected.
 *
 * A barrier follows all completions that the device has produced, or will produce for a queue pair
 * in the error state.  It becomes available when, after the post, the device queue was seen empty
 * or as many completions were polled as it can hold.  Later events of the endpoint wait with the
 * barrier.
 *
 * A hold is released when the event gets its place in the queue; the completions in it follow the
 * event.
 */
struct evd_order {
	const void *endpoint; /* any value that is unique to the endpoint; NULL: none */
	bool barrier;
	struct evd_hold *hold; /* or NULL */
	bool unsignalled;      /* the event wakes no sink; it has an endpoint */
};

struct evd_posted {
	struct evd_posted *next; /* in its list */
	uint64_t seq;
	const void *endpoint; /* that posted it, or NULL */
	bool unsignalled;     /* wakes no sink */
	bool is_short;	      /* only the first bytes of the event count: EVD_EVENT_SHORT */
	bool barrier;
	uint64_t mark;	       /* number of completions polled when it was posted */
	struct evd_hold *hold; /* released when the event gets its number */
	uint64_t event[];      /* as large as an event of the EVD */
};

struct evd_posted_list {
	struct evd_posted *first, *last;
	unsigned int count;
	unsigned int unsignalled; /* how many of them are */
};

struct evd_posted_queue {
	struct evd_posted *entries;
	unsigned int length;	 /* number of entries */
	unsigned int event_size; /* in each of them */
	struct evd_posted *free; /* first of the unused entries */
	struct evd_posted_list open, closed;
};

/* The state of the device queue, which decides whether a closed event can open. */
struct evd_posted_progress {
	uint64_t polled;    /* completions polled so far */
	unsigned int depth; /* of the device queue */
	bool device_empty;  /* the device queue was empty at the last poll */
};

int evd_posted_init(struct evd_posted_queue *p, unsigned int length, unsigned int event_size);
void evd_posted_fini(struct evd_posted_queue *p);

static inline unsigned int
evd_posted_count(const struct evd_posted_queue *p)
{
	return p->open.count + p->closed.count;
}

/* The oldest open event, or NULL. */
static inline const struct evd_posted *
evd_posted_first(const struct evd_posted_queue *p)
{
	return p->open.first;
}

static inline void
evd_posted_append(struct evd_posted_list *list, struct evd_posted *entry)
{
	entry->next = NULL;
	if (list->last)
		list->last->next = entry;
	else
		list->first = entry;
	list->last = entry;
	list->count++;
	list->unsignalled += entry->unsignalled;
}

/*
 * Queues an open event with this number.  Returns its entry, in which the caller writes the event,
 * or NULL if there is no room.
 */
static inline struct evd_posted *
evd_posted_add(struct evd_posted_queue *p, uint64_t seq, bool is_short)
{
	struct evd_posted *entry = p->free;

	if (!entry)
		return NULL;
	p->free = entry->next;
	entry->seq = seq;
	entry->endpoint = NULL;
	entry->unsignalled = false;
	entry->is_short = is_short;
	evd_posted_append(&p->open, entry);
	return entry;
}

/* Queues a closed event, whose number is yet to come; otherwise as evd_posted_add(). */
struct evd_posted *evd_posted_add_closed(
    struct evd_posted_queue *p, const struct evd_order *order, uint64_t polled);

/*
 * Opens and numbers the next closed event that need not wait any longer; NULL if there is none.
 * The caller releases the hold of the event before the next call.
 */
struct evd_posted *evd_posted_open(
    struct evd_posted_queue *p, const struct evd_posted_progress *progress, uint64_t *next_seq);

/* Removes the oldest open event, which exists.  Its memory stays valid until the next post. */
static inline const struct evd_posted *
evd_posted_take(struct evd_posted_queue *p)
{
	struct evd_posted *entry = p->open.first;

	p->open.first = entry->next;
	if (!entry->next)
		p->open.last = NULL;
	p->open.count--;
	p->open.unsignalled -= entry->unsignalled;
	entry->next = p->free;
	p->free = entry;
	return entry;
}

/* From now on every closed event waits for as many completions as the device queue can hold. */
void evd_posted_mark(struct evd_posted_queue *p, uint64_t polled);

/* No queued event releases this hold any more. */
void evd_posted_forget(struct evd_posted_queue *p, const struct evd_hold *hold);

void evd_posted_purge(
    struct evd_posted_queue *p, bool (*match)(const void *event, const void *key), const void *key);

/* Removes those that match and that the endpoint posted. */
void evd_posted_purge_endpoint(
    struct evd_posted_queue *p, const void *endpoint, bool (*match)(const void *event));

/* Moves all events of `from`, which must fit, to the new queue `to`. */
void evd_posted_move(struct evd_posted_queue *to, struct evd_posted_queue *from);

#endif
