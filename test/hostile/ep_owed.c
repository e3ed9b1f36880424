/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_owed -- the events that an endpoint must still bring if no further call is made */
#include <stdio.h>

#include "adapter.h"
#include "ep.h"
#include "evd.h"
#include "peer.h"

static unsigned int
missing_in(const struct transfers *transfers)
{
	unsigned int n = 0;

	for (int i = 0; i < STREAM_RING; i++)
		n += transfers->stream.ring[i].state == RECORD_ACCEPTED &&
		     !transfers->stream.ring[i].silent;
	return n;
}

unsigned int
ep_missing(const struct ep *ep)
{
	return missing_in(&ep->receives) + missing_in(&ep->requests);
}

/* The state of the other end. */
struct other {
	bool known;
	bool over; /* its side of the connection has ended */
	bool up;
	uint32_t receives, sends; /* accepted on this connection */
};

/* The caller has neither lock. */
static struct other
look_at_other(const struct mate *mate, uint64_t serial, uint32_t generation)
{
	struct life *life = mate->foreign ? NULL : life_find(LIFE_EP, mate->serial);
	struct ep *ep = ep_of(life);
	struct other other = { .known = mate->known && !mate->foreign };

	/* The connections of a process end with it. */
	if (mate->known && mate->foreign && peer_has_ended(mate->process))
		return (struct other){ .known = true, .over = true };

	if (!other.known)
		return other;
	if (!life || !life_use_stale(life, mate->serial)) {
		other.over = true;
		return other;
	}
	pthread_mutex_lock(&life->lock);
	other.over = life_end(life) || ep->generation != mate->generation || ep->phase == EP_OVER ||
		     ep->disconnected;
	other.known = !ep->fuzzy && !ep->broken;
	other.up = ep->phase == EP_UP && !ep->failed && !ep->disconnecting &&
		   !ep->disconnect_succeeded && ep->mate.known && ep->mate.serial == serial &&
		   ep->mate.generation == generation && !life_may_be_ending(life);
	other.receives = ep->receives.accepted;
	other.sends = ep->requests.sends;
	pthread_mutex_unlock(&life->lock);
	life_unuse(life);
	return other;
}

/* Locked.  Receives that a send at the other end has reached. */
static unsigned int
receives_due(const struct ep *ep, const struct other *other)
{
	unsigned int n = 0;

	for (int i = 0; i < STREAM_RING; i++) {
		const struct record *record = &ep->receives.stream.ring[i];

		n += record->state == RECORD_ACCEPTED && record->generation == ep->generation &&
		     record->index <= other->sends;
	}
	return n;
}

/* Locked.  Requests before the first send that finds no receive. */
static unsigned int
requests_due(const struct ep *ep, const struct other *other)
{
	const struct stream *stream = &ep->requests.stream;
	uint32_t number = stream->last > STREAM_RING ? stream->last - STREAM_RING + 1 : 1;
	unsigned int n = 0;

	for (; number <= stream->last; number++) {
		const struct record *record = &stream->ring[number % STREAM_RING];

		if (record->number != number || record->generation != ep->generation ||
		    record->state == RECORD_REFUSED)
			continue;
		if (record->index > other->receives)
			break;
		n += record->state == RECORD_ACCEPTED && !record->silent && !record->unsignalled;
	}
	return n;
}

/* Locked.  Requests that wake no sink when they succeed are not counted. */
static unsigned int
signalled_missing(const struct ep *ep, const struct evd *evd)
{
	unsigned int n = 0;

	for (int i = 0; i < STREAM_RING; i++) {
		const struct record *a = &ep->receives.stream.ring[i];
		const struct record *b = &ep->requests.stream.ring[i];

		n +=
		    evd == ep->recv && a->state == RECORD_ACCEPTED && !a->silent && !a->unsignalled;
		n += evd == ep->request && b->state == RECORD_ACCEPTED && !b->silent &&
		     !b->unsignalled;
	}
	return n;
}

unsigned int
ep_owes(struct ep *ep, const struct evd *evd)
{
	const DAT_COMPLETION_FLAGS usual = adapter_of(ep->life.home)->ep_attr.recv_completion_flags;
	struct other other;
	struct mate mate;
	unsigned int n = 0;
	uint32_t generation;

	pthread_mutex_lock(&ep->life.lock);
	mate = ep->mate;
	generation = ep->generation;
	pthread_mutex_unlock(&ep->life.lock);
	other = look_at_other(&mate, atomic_load(&ep->life.serial), generation);

	pthread_mutex_lock(&ep->life.lock);
	if (ep->fuzzy || ep->broken || life_may_be_ending(&ep->life) || ep->disconnecting) {
		n = 0;
	} else if (ep->phase == EP_OVER) {
		n = signalled_missing(ep, evd);
	} else if ((ep->phase == EP_CONNECTING || ep->phase == EP_UP) && ep->disconnected) {
		n = signalled_missing(ep, evd) + (evd == ep->connect);
	} else if (ep->phase == EP_UP && other.known && other.over) {
		n = evd == ep->connect;
	} else if (ep->phase == EP_UP && other.known && other.up && !ep->failed &&
		   !ep->disconnect_succeeded) {
		if (evd == ep->recv && ep->recv_flags == usual)
			n += receives_due(ep, &other);
		if (evd == ep->request)
			n += requests_due(ep, &other);
	}
	pthread_mutex_unlock(&ep->life.lock);
	return n;
}

void
ep_print(const struct ep *ep)
{
	static const char *const phases[] = { "idle", "connecting", "connected", "over" };

	fprintf(stderr,
	    "  connection %u: %s%s%s, %u attempts, %u established, %u ended, "
	    "established @%llu, first receive @%llu, disconnected @%llu, over @%llu\n",
	    ep->generation, phases[ep->phase], ep->active ? ", active" : "",
	    ep->fuzzy ? ", reset too early once" : "", ep->attempts, ep->established, ep->endings,
	    (unsigned long long)ep->established_taken, (unsigned long long)ep->first_receive,
	    (unsigned long long)ep->disconnected, (unsigned long long)ep->over_taken);
	fprintf(stderr, "  receives on %s, requests on %s, connections on %s, depth %d\n",
	    life_name_text(life_name(&ep->recv->life)),
	    life_name_text(life_name(&ep->request->life)),
	    life_name_text(life_name(&ep->connect->life)), (int)ep->depth);
	fprintf(stderr, "  %u receives posted, %u wait; %u requests posted, %u wait\n",
	    ep->receives.stream.last, missing_in(&ep->receives), ep->requests.stream.last,
	    missing_in(&ep->requests));
	if (ep->mate.known)
		fprintf(stderr, "  the other end is EP#%llu (%u)%s\n",
		    (unsigned long long)ep->mate.serial, ep->mate.generation,
		    ep->mate.foreign ? " of the other process" : "");
}

const struct life *
ep_mate(const struct ep *ep)
{
	return ep->mate.known && !ep->mate.foreign ? life_find(LIFE_EP, ep->mate.serial) : NULL;
}
