/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * posted -- the events of a merged queue that software posted
 *
 * An event that can be taken has a sequence number and stands in the list of open ones, which is in the
 * order of the numbers.  A barrier, and what its endpoint posted after it, has none yet: it stands in the
 * list of closed ones, in the order of posting.  A closed event delays no event of another endpoint, and
 * none that belongs to no endpoint.
 *
 * Guarded by the trigger lock of the EVD.
 */
#ifndef REARM_EVD_POSTED_H
#define REARM_EVD_POSTED_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

struct evd_hold;
struct evd_order;

struct evd_posted {
	DAT_EVENT event;
	uint64_t seq;
	uint64_t mark; /* completions polled when it was posted */
	const void *endpoint;
	struct evd_hold *hold; /* ends when the event gets its number */
	bool barrier;
	unsigned int next; /* in its list; see struct evd_posted_list */
};

/* Links are indices plus one, so that 0 ends a list and the entries can move to another array. */
struct evd_posted_list {
	unsigned int first, last, count;
};

struct evd_posted_queue {
	struct evd_posted *entries;
	unsigned int free; /* the first of the entries that are in no list */
	struct evd_posted_list open, closed;
};

/* What decides whether closed events can open. */
struct evd_posted_progress {
	uint64_t polled;    /* completions ever polled from the device */
	unsigned int depth; /* of the device queue */
	bool device_empty;  /* it was seen empty just now */
};

int evd_posted_init(struct evd_posted_queue *p, unsigned int length);
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
	return p->open.first ? &p->entries[p->open.first - 1] : NULL;
}

/*
 * Queues an event that no other keeps closed, with its number; NULL when there is no room.  The caller
 * writes the event.
 */
struct evd_posted *evd_posted_add(struct evd_posted_queue *p, uint64_t seq);

/* Queues a closed event, likewise. */
struct evd_posted *evd_posted_add_closed(
    struct evd_posted_queue *p, const struct evd_order *order, uint64_t polled);

/*
 * Opens the next closed event that need not wait any longer, and numbers it; NULL when none is left.
 * The caller ends its hold before it opens another.
 */
struct evd_posted *evd_posted_open(
    struct evd_posted_queue *p, const struct evd_posted_progress *progress, uint64_t *next_seq);

/* Takes the oldest open event out.  It stays readable until something is posted. */
const DAT_EVENT *evd_posted_take(struct evd_posted_queue *p);

/* Every closed event waits from here on for as many completions as the device queue holds now. */
void evd_posted_mark(struct evd_posted_queue *p, uint64_t polled);

/* The hold does not end with any event that is queued. */
void evd_posted_forget(struct evd_posted_queue *p, const struct evd_hold *hold);

void evd_posted_purge(struct evd_posted_queue *p,
    bool (*match)(const DAT_EVENT *event, const void *key), const void *key);

/* Moves all of `from`, which must fit, into the fresh queue `to`. */
void evd_posted_move(struct evd_posted_queue *to, struct evd_posted_queue *from);

#endif
