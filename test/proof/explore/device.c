/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <string.h>

#include "world.h"

static const struct os_site here = { "the device", 0 };

void
device_cq_open(struct device_cq *cq, int index, struct device_channel *channel)
{
	memset(cq, 0, sizeof *cq);
	cq->index = index;
	cq->channel = channel;
	cq->depth = DEVICE_DEPTH;
	cq->alive = true;
}

bool
device_set_depth(struct device_cq *cq, unsigned int depth)
{
	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	if (!cq->alive || cq->count > depth)
		return false;
	cq->depth = depth;
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
	return true;
}

static int8_t *
event_at(struct device_channel *channel, unsigned int i)
{
	return &channel->events[(channel->first + i) % DEVICE_DEPTH];
}

static void
skip_destroyed(struct device_channel *channel)
{
	while (channel->n_events && *event_at(channel, 0) < 0) {
		channel->first++;
		channel->n_events--;
	}
}

/* The errors of one that is lost wake, too. */
static void
show_events(const struct device_channel *channel)
{
	world_channel_set(channel->fd, channel->n_events + channel->lost);
}

static bool
acknowledged(void *arg)
{
	struct device_cq *cq = arg;

	return cq->acks == cq->gets;
}

void
device_cq_destroy(struct device_cq *cq)
{
	struct device_channel *channel = cq->channel;

	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	if (!cq->alive)
		violation("a completion queue is destroyed twice");
	cq->alive = false;
	cq->armed = DEVICE_UNARMED;
	/* Unread events are dropped with the queue. */
	for (unsigned int i = 0; i < channel->n_events; i++)
		if (*event_at(channel, i) == cq->index)
			*event_at(channel, i) = -1;
	skip_destroyed(channel);
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
	show_events(channel);
	sched_until(acknowledged, cq, OP_DEVICE, OBJECT_DEVICE(cq->index));
}

/* ---- the device's moves ---- */

static void
raise_event(struct device_cq *cq)
{
	cq->armed = DEVICE_UNARMED;
	cq->raised++;
	*event_at(cq->channel, cq->channel->n_events++) = (int8_t)cq->index;
	show_events(cq->channel);
	trace_note("raises an event");
}

static uint32_t
bit_of(unsigned int number)
{
	return 1u << number % 32;
}

/* Of the last `n` that became visible. */
static bool
has(const struct device_cq *cq, unsigned int n, enum device_armed kind)
{
	for (unsigned int i = 1; i <= n; i++)
		if (kind == DEVICE_ARMED || !(cq->unsolicited & bit_of(cq->shown - i)))
			return kind != DEVICE_UNARMED;
	return false;
}

bool
device_has(const struct device_cq *cq, enum device_armed kind)
{
	return has(cq, cq->count, kind);
}

bool
device_will_raise(const struct device_cq *cq)
{
	return has(cq, cq->undecided, cq->armed);
}

void
device_push(struct device_cq *cq, uint64_t id, bool solicited)
{
	const uint32_t bit = bit_of(cq->shown);

	cq->unsolicited = solicited ? cq->unsolicited & ~bit : cq->unsolicited | bit;
	if (cq->count == DEVICE_DEPTH)
		violation("the scenario overruns the device");
	cq->queue[(cq->head + cq->count) % DEVICE_DEPTH] = (struct device_record){ id, ~id };
	cq->count++;
	cq->shown++;
	cq->undecided++;
	trace_note("completion %u is visible", (unsigned int)(id & 0xffff));
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
}

static void
decide(struct device_cq *cq)
{
	const bool unsolicited = cq->unsolicited & bit_of(cq->shown - cq->undecided);

	cq->undecided--;
	if (cq->armed == DEVICE_ARMED || (cq->armed && !unsolicited))
		raise_event(cq);
	else
		trace_note("%s: no event", cq->armed ? "not solicited" : "not armed");
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
}

void
device_show(struct device_cq *cq, int ep)
{
	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	if (cq->alive && cq->count < cq->depth && !(cq->idle >> ep & 1)) {
		const uint64_t id = cq->next_id(cq, ep);

		device_push(cq, id, !cq->solicited || cq->solicited(cq, id));
	}
}

void
device_decide(struct device_cq *cq)
{
	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	if (cq->alive && cq->undecided)
		decide(cq);
}

void
device_complete(struct device_cq *cq, int ep)
{
	device_show(cq, ep);
	if (cq->strict) {
		if (cq->alive)
			decide(cq);
		return;
	}
	device_decide(cq);
}

void
device_spurious(struct device_cq *cq)
{
	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	if (cq->alive && cq->armed)
		raise_event(cq);
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
}

void
device_lose(struct device_channel *channel)
{
	channel->lost = true;
	show_events(channel);
}

int
device_read(struct device_channel *channel, const struct os_site *site)
{
	int index = -1;

	sched_point(OP_DEVICE, OBJECT_FD(channel->fd), site);
	if (channel->n_events && !channel->lost) {
		index = *event_at(channel, 0);
		channel->first++;
		channel->n_events--;
		skip_destroyed(channel);
		sched_touch(OP_DEVICE, OBJECT_DEVICE(index));
		trace_note("reads an event");
	}
	show_events(channel);
	return index;
}

/* ---- what the dispatcher calls ---- */

static struct device_cq *
alive(void *source, const char *what)
{
	struct device_cq *cq = source;

	if (!cq->alive)
		violation("%s of a destroyed completion queue", what);
	return cq;
}

static struct evd_device_result
result(int value)
{
	return (struct evd_device_result){ value };
}

/* Lets a completion that was polled enter the EVD, or drops it. */
static void
cq_admit(struct device_cq *cq, struct evd_batch *batch, const struct device_record *record)
{
	struct evd_hold *hold;

	if (cq->drops && cq->drops(cq, record->id))
		return;
	memcpy(evd_batch_record(batch), record, sizeof *record);
	if (cq->holds && cq->holds(cq, record->id, &hold))
		(void)evd_batch_hold(batch, hold);
	else if (cq->unsignalled && cq->unsignalled(cq, record->id))
		evd_batch_queue_unsignalled(batch);
	else
		evd_batch_queue(batch);
}

/* Whether a completion becomes an event now that wakes a sink and has no effect. */
static bool
cq_is_plain(struct device_cq *cq, uint64_t id)
{
	struct evd_hold *hold;

	return !cq->effect && !(cq->drops && cq->drops(cq, id)) &&
	       !(cq->holds && cq->holds(cq, id, &hold)) &&
	       !(cq->unsignalled && cq->unsignalled(cq, id));
}

/*
 * Polls; if `events` is not NULL, up to *made completions become events at once, the first ones, as
 * far as they are plain.
 */
static struct evd_device_result
cq_poll_to(void *source, struct evd_batch *batch, struct device_event *events, unsigned int *made)
{
	const unsigned int most = events ? *made : 0;
	const int max = (int)batch->room;
	struct device_cq *cq = source;
	int n = 0, fault = 0;

	if (events)
		*made = 0;
	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	(void)alive(source, "poll");
	if (world_faults & (FAULT_POLL | FAULT_EXCESS))
		fault = sched_fault(2, &here);
	if (fault)
		return result(world_faults & FAULT_EXCESS ? max + 1 : -EIO);
	for (; n < max && cq->count; n++) {
		const struct device_record *record = &cq->queue[cq->head];

		if (events && *made < most && cq_is_plain(cq, record->id)) {
			device_event(&events[(*made)++], record->id, cq->evd);
		} else {
			events = NULL;
			cq_admit(cq, batch, record);
		}
		cq->head = (cq->head + 1) % DEVICE_DEPTH;
		cq->count--;
	}
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
	trace_note("polls %d", n);
	return result(n);
}

static struct evd_device_result
cq_poll(void *source, struct evd_batch *batch)
{
	return cq_poll_to(source, batch, NULL, NULL);
}

static struct evd_device_result
cq_poll_into(void *source, struct evd_batch *batch, void *events, unsigned int *made)
{
	return cq_poll_to(source, batch, events, made);
}

static void
cq_convert(void *source, const struct evd_record *queued, void *event, struct evd_effect *effect)
{
	struct device_cq *cq = alive(source, "convert");
	const struct device_record *record = (const struct device_record *)(const void *)queued;

	if (record->spare != ~record->id)
		violation("a completion's record was damaged");
	device_event(event, record->id, cq->evd);
	if (cq->effect)
		*effect = (struct evd_effect){ .code = 1, .object = cq, .stamp = record->id };
}

/*
 * From an arm until its event was read there is no other arm, with one exception: a request for
 * solicited completions may be widened to all. The event of the first request may be on its way
 * then. If it is, the following arms may come too early by this one event, until the device and its
 * user agree again.
 */
static void
check_arm(struct device_cq *cq, bool solicited_only)
{
	const bool unread = cq->raised > (cq->booked ? *cq->booked : cq->gets);

	if (!cq->armed && !unread) {
		cq->blurred = false;
		return;
	}
	if (cq->asked == DEVICE_ARMED_SOLICITED && !solicited_only)
		cq->blurred |= unread;
	else if (!cq->blurred && cq->armed)
		violation("I3: an armed completion queue is armed");
	else if (!cq->blurred)
		violation("I3: a completion queue is armed with an event unread");
}

static struct evd_device_result
cq_arm(void *source, bool solicited_only)
{
	struct device_cq *cq = source;

	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	(void)alive(source, "arm");
	check_arm(cq, solicited_only);
	if (world_faults & FAULT_ARM && sched_fault(2, &here)) {
		cq->arm_faults++;
		cq->failed_after[sched.self - sched.fibers] = cq->arms;
		return result(-EIO);
	}
	cq->asked = solicited_only ? DEVICE_ARMED_SOLICITED : DEVICE_ARMED;
	/*
	 * With an event unread some devices heed another arm (the strict ones here), and some do
	 * not.
	 */
	if (cq->asked > cq->armed && (cq->strict || cq->raised == cq->gets))
		cq->armed = cq->asked;
	cq->arms++;
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
	trace_note("arms%s", solicited_only ? " for what is solicited" : "");
	return result(cq->exact && cq->count ? 1 : 0);
}

static void
cq_ack(void *source, unsigned int n)
{
	struct device_cq *cq = source;

	sched_point(OP_DEVICE, OBJECT_DEVICE(cq->index), &here);
	/* A queue that is being destroyed waits for just this. */
	if (cq->acks + n > cq->gets)
		violation("more events are acknowledged than were read");
	if (!cq->alive && cq->acks == cq->gets)
		violation("an acknowledgement for a destroyed completion queue");
	cq->acks += n;
	sched_touch(OP_DEVICE, OBJECT_DEVICE(cq->index));
	sched_changed();
}

static int
cq_read(void *source)
{
	struct device_cq *cq = alive(source, "read");
	int index = device_read(cq->channel, &here);

	if (index < 0)
		return 0;
	if (index != cq->index)
		violation("a private channel has an event of another queue");
	cq->gets++;
	return 1;
}

static void
cq_effect(void *source, const struct evd_effect *effect)
{
	struct device_cq *cq = source;

	world_check_call_out("effect");
	sched_point(OP_EVENT, OBJECT_DEVICE(cq->index), &here);
	(void)alive(source, "effect");
	if (effect->object != cq)
		violation("the effect of a completion of another queue");
}

#define OPS(is_exact, reads) \
	{ \
		.poll = cq_poll, .poll_into = cq_poll_into, .convert = cq_convert, .arm = cq_arm, \
		.ack = cq_ack, .read = (reads), .effect = cq_effect, .exact_hint = (is_exact), \
	}

const struct evd_source_ops device_ops = OPS(false, NULL);
const struct evd_source_ops device_ops_exact = OPS(true, NULL);
const struct evd_source_ops device_ops_private = OPS(false, cq_read);
const struct evd_source_ops device_ops_private_exact = OPS(true, cq_read);

uint64_t
device_event_id(const void *event)
{
	return ((const struct device_event *)event)->id;
}

void
device_event(struct device_event *event, uint64_t id, void *evd)
{
	*event = (struct device_event){ .id = id, .evd = evd };
}
