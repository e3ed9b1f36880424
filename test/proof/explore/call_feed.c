/* SPDX-License-Identifier: BSD-3-Clause */
/* call_feed -- events that enter an EVD, and purges */
#include "call.h"
#include "left.h"
#include "peek.h"
#include "world.h"

void
call_complete(struct stage_evd *e, const struct action *a)
{
	for (int i = 0; i < a->n; i++) {
		if (a->verb == DO_BURST)
			device_show(&e->cq, a->ep);
		else
			device_complete(&e->cq, a->ep);
	}
	for (int i = 0; a->verb == DO_BURST && i < a->n; i++)
		device_decide(&e->cq);
}

static unsigned int
stream_for(enum verb verb, int actor, int ep)
{
	if (verb == DO_BARRIER)
		return STREAM_BARRIER + (unsigned int)ep;
	if (verb == DO_ESTABLISHED)
		return STREAM_ESTABLISHED + (unsigned int)ep;
	return STREAM_ACTOR + (unsigned int)actor;
}

void
call_post(struct stage_evd *e, enum verb verb, int actor, int ep)
{
	/* Each actor posts one kind of event: the EVD counts each kind by itself. */
	static const enum evd_stream kinds[ACTORS] = {
		EVD_STREAM_SOFTWARE,
		EVD_STREAM_REQUEST,
		EVD_STREAM_ASYNC,
		EVD_STREAM_SOFTWARE,
		EVD_STREAM_COMPLETION,
		EVD_STREAM_REQUEST,
		EVD_STREAM_ASYNC,
		EVD_STREAM_SOFTWARE,
	};
	const enum evd_stream kind = verb == DO_POST ? kinds[actor] : EVD_STREAM_CONNECTION;
	const unsigned int stream = stream_for(verb, actor, ep);
	const struct call c = call_begins(e);
	struct stage_life *l = &e->lives[c.serial];
	const unsigned int number = l->produced[stream]++;
	const struct evd_order order = {
		.endpoint = &e->holds[ep],
		.barrier = verb == DO_BARRIER,
		.hold = verb == DO_ESTABLISHED ? &e->holds[ep] : NULL,
	};
	struct stage_entry *entry;
	struct device_event event;
	bool full, short_of;
	uint64_t id;
	int r;

	id = event_id((unsigned int)e->index, c.serial, stream, number);
	device_event(&event, id, &l->cell);
	entry = entry_begins(l, id);
	entry->after = (uint8_t)l->produced[STREAM_CQ + ep];
	if (verb == DO_ESTABLISHED) {
		l->establishing |= (uint8_t)(1u << ep);
		l->escaped &= (uint8_t) ~(1u << ep);
	}
	if (verb == DO_POST)
		r = evd_post(call_ref(&c), kind, &event);
	else
		r = evd_post_ordered(call_ref(&c), kind, &event, &order);
	call_ends_with(&c, "post", r);
	full = left_evd()->alive && left_evd()->posted >= left_evd()->qlen;
	short_of = left_evd()->alive && left_evd()->room == 0 && world_faults & FAULT_ALLOC;
	entry_ends(entry, r != 0);
	if (verb == DO_ESTABLISHED) {
		l->establishing &= (uint8_t) ~(1u << ep);
		if (r == 0 && l->escaped >> ep & 1)
			violation("order: a completion of %c overtakes its ESTABLISHED", 'e' + ep);
	}
	if (r) {
		if (l->delivered[stream] >> number & 1)
			violation("post failed with %d and its event was delivered", r);
		l->produced[stream]--;
		if (verb == DO_ESTABLISHED)
			l->unheld |= 1u << ep;
	} else {
		l->posts[kind]++;
	}
	call_result(
	    "post", r, call_gone(&c, r) || (r == -ENOSPC && full) || (r == -ENOMEM && short_of));
}

/* Only the first call that finds the overflow reports it. */
void
call_overflow(struct stage_evd *e)
{
	const struct call c = call_begins(e);
	const bool first = evd_mark_overflow(call_ref(&c));

	call_ends();
	if (c.late && first)
		violation("identity: the overflow of an EVD is reported after it was freed");
	if (!first || !call_current(&c))
		return;
	if (e->overflowed)
		violation("the overflow of EVD %c is reported twice", 'a' + e->index);
	e->overflowed = true;
}

/* The completions of the device are polled, whatever the sink is. */
void
call_refresh(struct stage_evd *e)
{
	const struct call c = call_begins(e);
	const int r = evd_refresh(call_ref(&c));

	call_ends_with(&c, "refresh", r);
	call_result("refresh", r, call_gone(&c, r));
}

/* What the device had is polled, and stays queued, however much it is. */
void
call_empty(struct stage_evd *e)
{
	const struct call c = call_begins(e);
	const unsigned int shown = e->cq.shown;
	const int r = evd_drain(call_ref(&c));

	call_ends_with(&c, "empty", r);
	if (r == 0 && call_current(&c) && e->cq.shown - e->cq.count < shown)
		violation(
		    "empty: of %u completions %u are still in the device", shown, e->cq.count);
	call_result("empty", r, call_gone(&c, r));
}

static bool
match_event(const void *event, const void *key)
{
	(void)key;
	return device_event_id(event) & 1;
}

static bool
match_record(const struct evd_record *record, const void *key)
{
	(void)key;
	return ((const struct device_record *)(const void *)record)->id & 1;
}

void
call_purge(struct stage_evd *e)
{
	const struct call c = call_begins(e);

	e->purged |= call_current(&c);
	sched_touch(OP_EVENT, OBJECT_DEVICE(e->index)); /* which drops from now on */
	evd_purge(call_ref(&c), NULL, match_record, match_event, NULL);
	call_ends();
}

struct leaver {
	struct stage_evd *evd;
	int ep;
};

static bool
match_ep(uint64_t id, const struct leaver *leaver)
{
	return stream_ep(stream_of(id)) == leaver->ep && stage_is_gone(leaver->evd, id);
}

static bool
match_ep_event(const void *event, const void *leaver)
{
	return match_ep(device_event_id(event), leaver);
}

static bool
match_ep_record(const struct evd_record *record, const void *leaver)
{
	return match_ep(((const struct device_record *)(const void *)record)->id, leaver);
}

/* Nothing of a connection that is over is queued any more but what was posted since. */
static void
check_left(const struct leaver *leaver, uint32_t since)
{
	const struct evd *evd = &leaver->evd->evd;
	const struct stage_entry *entry;
	const void *event;

	if (evd->lock.owner || !evd->alive)
		return;
	for (unsigned int i = 0; (event = peek_posted(evd, i)); i++) {
		entry = entry_find(stage_life(leaver->evd), device_event_id(event));
		if (entry && entry->to < since && match_ep_event(event, leaver))
			violation("an event of %c is queued on EVD %c, which it left",
			    'e' + leaver->ep, 'a' + leaver->evd->index);
	}
}

/*
 * As a provider does it: the queue pair is destroyed, from then on its completions are known to be
 * old, and what is queued is purged.  `again`: another queue pair takes its place.
 */
void
call_leave(struct stage_evd *e, int ep, bool again)
{
	const struct leaver leaver = { e, ep };
	const struct call c = call_begins(e);
	const uint32_t since = sched.steps;
	struct stage_life *l = stage_life(e);
	const unsigned int streams[] = { STREAM_CQ, STREAM_BARRIER, STREAM_ESTABLISHED };

	if (call_current(&c)) {
		e->departed = true;
		e->cq.idle |= 1u << ep;
		e->gone_at[ep] = 0;
		l->unheld &= ~(1u << ep);
		for (unsigned int i = 0; i < sizeof streams / sizeof *streams; i++)
			e->gone[streams[i] + (unsigned int)ep] =
			    again ? l->produced[streams[i] + (unsigned int)ep] : UINT16_MAX;
	}
	sched_touch(OP_EVENT, OBJECT_DEVICE(e->index));
	evd_purge(call_ref(&c), &e->holds[ep], match_ep_record, match_ep_event, &leaver);
	if (call_current(&c)) {
		e->gone_at[ep] = stage_locked_at(e);
		check_left(&leaver, since);
	}
	if (again && e->holds[ep].capacity)
		evd_hold_begin(call_ref(&c), &e->holds[ep]);
	call_ends();
	if (again && call_current(&c))
		e->cq.idle &= ~(1u << ep);
}

/*
 * Its queue pairs come and go, and the device's queue follows.  The dispatcher knows the depth that
 * there may be at every moment: the greater one before the device has it, the lesser one after.
 */
void
call_depth(struct stage_evd *e, unsigned int depth)
{
	const struct call c = call_begins(e);
	const unsigned int was = e->cq.depth;

	if (e->base != BASE_SOFTWARE && depth > was)
		evd_set_depth(call_ref(&c), depth);
	if (e->base != BASE_SOFTWARE && !c.late && device_set_depth(&e->cq, depth) && depth < was)
		evd_set_depth(call_ref(&c), depth);
	call_ends();
}
