/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"

#include "clock.h"
#include "fail.h"
#include "message.h"
#include "post.h"

static inline void
flow_count(_Atomic uint64_t *count)
{
	/* The lock of the endpoint: one thread counts, others read. */
	atomic_store_explicit(
	    count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* How many messages may come before an endpoint confirms them, or be written before a notice. */
static inline uint32_t
flow_half(const struct endpoint *endpoint)
{
	return (endpoint->end->load->depth + 1) / 2;
}

void
flow_prepare(struct end *end)
{
	const struct load *load = end->load;

	if (load->operation != OPERATION_READ)
		return;
	for (uint32_t i = 0; i < load->endpoints; i++)
		for (uint32_t slot = 0; slot < load->depth; slot++)
			message_fill(
			    end->endpoints[i].memory + endpoint_target_at(&end->endpoints[i], slot),
			    load->size,
			    &(struct header){ .number = slot, .endpoint = (uint16_t)i });
}

static uint64_t
flow_due(const struct endpoint *endpoint)
{
	const struct load *load = endpoint->end->load;

	return endpoint->end->epoch +
	       (uint64_t)((double)(endpoint->sent * load->endpoints + endpoint->number) * 1e9 /
			  load->rate);
}

/* Sends the next message, which was due at that time. */
static void
flow_next(struct endpoint *endpoint, uint64_t due)
{
	struct end *end = endpoint->end;
	const bool measured = endpoint->sent >= endpoint->warm_up;
	const uint64_t until = atomic_load_explicit(&end->until, memory_order_relaxed);
	unsigned int flags = 0;

	if (measured) {
		flags |= MESSAGE_MEASURED;
		if (endpoint->sent == endpoint->warm_up)
			end_begin(end, due);
	}
	if (endpoint->quota ? endpoint->sent + 1 == endpoint->quota : until && due >= until) {
		flags |= MESSAGE_LAST;
		endpoint->last_sent = true;
	}
	if (measured && end->load->traffic == TRAFFIC_STREAM &&
	    end->load->operation != OPERATION_READ)
		flow_count(&endpoint->measured);
	if (end->load->operation == OPERATION_READ)
		post_read(endpoint, due);
	else
		post_message(endpoint, flags, due);
}

static inline bool
flow_may_send(const struct endpoint *endpoint)
{
	return !endpoint->last_sent &&
	       endpoint->sent - endpoint->confirmed < endpoint->end->load->depth &&
	       post_has_room(endpoint);
}

/* Sends what may be sent. */
static void
flow_fill(struct endpoint *endpoint, uint64_t now)
{
	const struct load *load = endpoint->end->load;
	uint64_t due = now;

	for (bool again = false; flow_may_send(endpoint); again = true) {
		if (load->rate > 0) {
			due = flow_due(endpoint);
			if (due > now)
				break;
		} else if (again) {
			due = clock_now();
		}
		flow_next(endpoint, due);
		if (endpoint->unannounced >= flow_half(endpoint))
			post_notice(endpoint, endpoint->sent);
	}
	if (endpoint->unannounced)
		post_notice(endpoint, endpoint->sent);
}

void
flow_start(struct end *end)
{
	for (uint32_t i = 0; i < end->load->endpoints; i++) {
		endpoint_lock(&end->endpoints[i]);
		flow_fill(&end->endpoints[i], clock_now());
		endpoint_unlock(&end->endpoints[i]);
	}
}

uint64_t
flow_pace(struct end *end)
{
	uint64_t first = UINT64_MAX, due, now;

	for (uint32_t i = 0; i < end->load->endpoints; i++) {
		struct endpoint *endpoint = &end->endpoints[i];

		endpoint_lock(endpoint);
		now = clock_now();
		flow_fill(endpoint, now);
		due = endpoint->last_sent ? UINT64_MAX : flow_due(endpoint);
		endpoint_unlock(endpoint);
		if (due <= now)
			due = 0;
		if (due < first)
			first = due;
	}
	return first;
}

/* The endpoint has nothing more to send or to receive. */
static void
flow_leave(struct endpoint *endpoint, uint64_t now)
{
	if (endpoint->over)
		fail("endpoint %u: a message came after the last one", endpoint->number);
	endpoint->over = true;
	end_leave(endpoint->end, now ? now : clock_now());
}

static void
flow_measure(struct endpoint *endpoint, uint64_t since, uint64_t now)
{
	histogram_add(endpoint->latencies, now > since ? now - since : 0);
}

/* A message of the client has come. */
static void
flow_serve(struct endpoint *endpoint, const struct header *header, uint64_t number, uint64_t *now)
{
	struct end *end = endpoint->end;

	if (header->flags & MESSAGE_MEASURED) {
		if (end->load->traffic == TRAFFIC_STREAM && !*now)
			*now = clock_now();
		if (!endpoint->measured)
			end_begin(end, *now ? *now : clock_now());
		flow_count(&endpoint->measured);
		if (end->load->traffic == TRAFFIC_STREAM && end->same_clock)
			flow_measure(endpoint, header->value, *now);
	}
	if (header->flags & MESSAGE_LAST) {
		endpoint->last = number;
		endpoint->last_known = true;
	}
	if (end->load->traffic == TRAFFIC_PING)
		post_message(endpoint, header->flags, header->value);
}

/* The answer of the server has come. */
static void
flow_answer(struct endpoint *endpoint, const struct header *header, uint64_t now)
{
	if (endpoint->confirmed == endpoint->sent)
		fail("endpoint %u: an answer to no message", endpoint->number);
	endpoint->confirmed++;
	if (!(header->flags & MESSAGE_MEASURED))
		return;
	flow_count(&endpoint->measured);
	flow_measure(endpoint, header->value, now);
}

static void
flow_message(struct endpoint *endpoint, const struct header *header, uint64_t number, uint64_t *now)
{
	endpoint->arrived++;
	if (endpoint->end->server)
		flow_serve(endpoint, header, number, now);
	else
		flow_answer(endpoint, header, *now);
}

/* Messages that were written, up to what the notice says. */
static void
flow_written(struct endpoint *endpoint, const struct header *notice, uint64_t *now)
{
	struct header header;
	uint64_t number;

	if (notice->value > endpoint->arrived + endpoint->end->load->depth)
		fail("endpoint %u: a notice of more messages than were allowed", endpoint->number);
	while (endpoint->arrived < notice->value) {
		number = endpoint->arrived;
		header = post_check_written(endpoint, number);
		flow_message(endpoint, &header, number, now);
	}
}

/* Upcalls that run at the same time may handle the last event before others. */
static inline bool
flow_is_settled(const struct endpoint *endpoint)
{
	return endpoint->received == endpoint->top;
}

/* What the server does after it has handled messages. */
static void
flow_conclude(struct endpoint *endpoint, uint64_t now)
{
	const bool all = endpoint->last_known && endpoint->arrived == endpoint->last + 1;

	if (endpoint->end->load->traffic == TRAFFIC_STREAM &&
	    endpoint->arrived - endpoint->answered >= (all ? 1 : flow_half(endpoint))) {
		endpoint->answered = endpoint->arrived;
		post_notice(endpoint, endpoint->arrived);
	} else if (endpoint->unannounced) {
		post_notice(endpoint, endpoint->sent);
	}
	if (all && flow_is_settled(endpoint))
		flow_leave(endpoint, now);
}

/* What the client does: it sends more. */
static void
flow_continue(struct endpoint *endpoint, uint64_t now)
{
	flow_fill(endpoint, now);
	if (endpoint->last_sent && endpoint->confirmed == endpoint->sent &&
	    flow_is_settled(endpoint))
		flow_leave(endpoint, now);
}

static void
flow_confirm(struct endpoint *endpoint, const struct header *header)
{
	if (header->value > endpoint->sent)
		fail("endpoint %u: %llu messages are confirmed, and %llu were sent",
		    endpoint->number, (unsigned long long)header->value,
		    (unsigned long long)endpoint->sent);
	/* Upcalls that run at the same time may handle confirmations in any order. */
	if (header->value > endpoint->confirmed)
		endpoint->confirmed = header->value;
}

static void
flow_receive(struct endpoint *endpoint, const struct completion *completion)
{
	const struct end *end = endpoint->end;
	const struct load *load = end->load;
	uint64_t now = end->server ? 0 : clock_now();
	struct header header;
	uint64_t number;

	header = post_take(endpoint, completion, &number);
	if (load->operation == OPERATION_WRITE && (end->server || load->traffic == TRAFFIC_PING))
		flow_written(endpoint, &header, &now);
	else if (end->server || load->traffic == TRAFFIC_PING)
		flow_message(endpoint, &header, number, &now);
	else
		flow_confirm(endpoint, &header);
	if (end->server)
		flow_conclude(endpoint, now);
	else
		flow_continue(endpoint, now);
	post_again(endpoint, completion);
}

static void
flow_read(struct endpoint *endpoint, const struct completion *completion)
{
	const uint64_t now = clock_now();
	uint64_t number, since;

	number = post_check_read(endpoint, completion, &since);
	endpoint->arrived++;
	endpoint->confirmed++;
	if (number >= endpoint->warm_up) {
		flow_count(&endpoint->measured);
		flow_measure(endpoint, since, now);
	}
	flow_continue(endpoint, now);
}

void
flow_event(struct end *end, const struct completion *completion)
{
	const uint64_t number = completion->cookie >> 32;
	struct endpoint *endpoint;

	/* The connections are being closed. */
	if (end_is_over(end))
		return;
	if (completion->error)
		fail("the %s has lost the connection to the %s: %s",
		    end->server ? "server" : "client", end->server ? "client" : "server",
		    completion->error);
	if (number >= end->load->endpoints)
		fail("a completion of an endpoint that does not exist");
	endpoint = &end->endpoints[number];
	endpoint_lock(endpoint);
	flow_count(&endpoint->handled);
	if (end->load->operation == OPERATION_READ)
		flow_read(endpoint, completion);
	else
		flow_receive(endpoint, completion);
	endpoint_unlock(endpoint);
}
