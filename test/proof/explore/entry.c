/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry -- the events produced for an EVD, and their order
 *
 * An event that entered before another one began to enter must leave before it. A completion enters
 * when it is polled, some time after it became visible; a posted event that enters in between may
 * leave first. Within an endpoint, a receive waits for ESTABLISHED, and the end of the connection
 * waits for the completions. No event waits for an event of another endpoint.
 */
#include "stage.h"

struct stage_entry *
entry_begins(struct stage_life *l, uint64_t id)
{
	struct stage_entry *entry = &l->entries[l->n_entries];

	if (l->n_entries == ENTRIES)
		violation("the scenario produces too many events");
	l->n_entries++;
	*entry = (struct stage_entry){ .id = id, .from = sched.steps, .to = UINT32_MAX };
	return entry;
}

void
entry_ends(struct stage_entry *entry, bool refused)
{
	entry->to = sched.steps;
	entry->out |= refused; /* it may have left already */
}

static bool
is_completion(uint64_t id)
{
	return stream_of(id) < STREAM_ACTOR;
}

static bool
is_barrier(uint64_t id)
{
	const unsigned int stream = stream_of(id);

	return stream >= STREAM_BARRIER && stream < STREAM_ESTABLISHED;
}

/* A barrier of the endpoint, which was posted before this event was, waits still. */
static bool
behind_barrier(
    const struct stage_evd *e, const struct stage_life *l, const struct stage_entry *entry)
{
	for (unsigned int i = 0; i < l->n_entries; i++) {
		const struct stage_entry *other = &l->entries[i];

		if (!other->out && is_barrier(other->id) && other->from <= entry->from &&
		    !stage_is_gone(e, other->id) &&
		    stream_ep(stream_of(other->id)) == stream_ep(stream_of(entry->id)))
			return true;
	}
	return false;
}

bool
entry_is_dropped(const struct stage_evd *e, uint64_t id)
{
	return (e->purged && id & 1) || stage_is_gone(e, id);
}

static bool
is_held(const struct stage_evd *e, uint64_t id)
{
	return is_completion(id) && e->spec->holds >> stream_ep(stream_of(id)) & 1;
}

/* The one that came first, and has not left, may do so after the other one. */
static bool
may_come_after(const struct stage_evd *e, const struct stage_life *l,
    const struct stage_entry *first, const struct stage_entry *other)
{
	if (entry_is_dropped(e, first->id) || is_held(e, first->id))
		return true;
	/* What is posted for an endpoint leaves in the order of posting, whatever waits. */
	if (!is_completion(first->id) && !is_completion(other->id) &&
	    stream_ep(stream_of(first->id)) == stream_ep(stream_of(other->id)))
		return false;
	if (is_completion(first->id))
		return !is_completion(other->id);
	return stream_ep(stream_of(first->id)) >= 0 && behind_barrier(e, l, first);
}

struct stage_entry *
entry_find(struct stage_life *l, uint64_t id)
{
	for (unsigned int i = 0; i < l->n_entries; i++)
		if (l->entries[i].id == id && !l->entries[i].out)
			return &l->entries[i];
	return NULL;
}

void
entry_delivered(struct stage_evd *e, struct stage_life *l, uint64_t id)
{
	struct stage_entry *it = entry_find(l, id);

	if (!it)
		violation("EVD %c delivers event %u.%u, which was refused", 'a' + e->index,
		    stream_of(id), (unsigned int)(id & 0xffff));
	it->out = true;
	if (!e->spec->sole || l != stage_life(e))
		return;
	for (unsigned int i = 0; i < l->n_entries; i++) {
		const struct stage_entry *first = &l->entries[i];

		if (!first->out && first->to < it->from && !may_come_after(e, l, first, it))
			violation("order: event %u.%u of EVD %c overtakes %u.%u", stream_of(id),
			    (unsigned int)(id & 0xffff), 'a' + e->index, stream_of(first->id),
			    (unsigned int)(first->id & 0xffff));
	}
}

/*
 * How much of what had entered before `step` is queued at least, of completions at most `most`; a
 * connection's end does not count until the device was seen empty.
 */
int
entry_queued(const struct stage_evd *e, uint32_t step, int most, bool with_ends)
{
	const struct stage_life *l = &e->lives[e->serial];
	int completions = 0, posts = 0;

	for (unsigned int i = 0; i < l->n_entries; i++) {
		const struct stage_entry *it = &l->entries[i];
		const int ep = stream_ep(stream_of(it->id));

		if (it->out || it->to >= step || entry_is_dropped(e, it->id))
			continue;
		if (is_held(e, it->id) &&
		    !(l->delivered[STREAM_ESTABLISHED + ep] >> e->gone[STREAM_ESTABLISHED + ep]))
			continue;
		if (is_completion(it->id))
			completions++;
		else
			posts += with_ends || ep < 0 || !behind_barrier(e, l, it);
	}
	return (completions < most ? completions : most) + posts;
}

static int
delivered(const struct stage_life *l)
{
	int n = 0;

	for (unsigned int s = 0; s < STREAMS; s++)
		n += __builtin_popcountll(l->delivered[s]);
	return n;
}

int
entry_delivered_of(const struct stage_evd *e)
{
	return delivered(&e->lives[e->serial]);
}

int
entry_most(const struct stage_evd *e, int gone)
{
	const struct stage_life *l = &e->lives[e->serial];
	int n = -gone;

	for (unsigned int s = 0; s < STREAMS; s++)
		n += l->produced[s];
	return n;
}
