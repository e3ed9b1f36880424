/* SPDX-License-Identifier: BSD-3-Clause */
#include "post.h"

#include "fail.h"

#include <sched.h>

static inline uint32_t
post_capacity(const struct endpoint *endpoint)
{
	return 2 * endpoint->end->load->depth + 16;
}

/*
 * Takes completions of requests.  A ping takes one for each message that it sends; a stream takes
 * them when there may be many.  If the queue is full it waits: the other side has the message, so
 * its completion is near.
 */
static void
post_reap(struct endpoint *endpoint)
{
	const struct load *load = endpoint->end->load;

	if (load->traffic == TRAFFIC_PING || endpoint->outstanding > load->depth)
		endpoint->outstanding -= (uint32_t)endpoint->end->engine->reap(endpoint->wire);
	while (endpoint->outstanding + 2 > post_capacity(endpoint)) {
		const uint64_t n = endpoint->end->engine->reap(endpoint->wire);

		if (!n)
			sched_yield();
		endpoint->outstanding -= (uint32_t)n;
	}
}

/* Counts a request.  Returns the cookie of its completion; 0: it has none, to save the time. */
static inline uint64_t
post_count(struct endpoint *endpoint)
{
	const struct load *load = endpoint->end->load;
	const uint32_t silent =
	    load->traffic == TRAFFIC_PING || load->depth < 8 ? 1 : load->depth / 4;
	uint32_t n;

	endpoint->outstanding++;
	if (++endpoint->silent < silent)
		return 0;
	n = endpoint->silent;
	endpoint->silent = 0;
	return n;
}

static void
post_send(struct endpoint *endpoint, size_t at, uint32_t length)
{
	const struct end *end = endpoint->end;
	const struct piece piece = { endpoint->memory + at, length, end->region.key };
	const uint64_t cookie = post_count(endpoint);

	end->engine->send(endpoint->wire, &piece, cookie, !cookie);
	post_reap(endpoint);
}

void
post_message(struct endpoint *endpoint, unsigned int flags, uint64_t value)
{
	const struct end *end = endpoint->end;
	const struct load *load = end->load;
	const uint32_t slot = (uint32_t)(endpoint->sent % load->depth);
	const size_t at = endpoint_send_at(endpoint, slot);
	const struct header header = {
		.number = (uint32_t)endpoint->sent,
		.endpoint = (uint16_t)endpoint->number,
		.flags = (uint16_t)flags,
		.value = value,
	};
	struct remote to;

	message_fill(endpoint->memory + at, load->size, &header);
	endpoint->sent++;
	if (load->operation == OPERATION_SEND) {
		post_send(endpoint, at, load->size);
		return;
	}
	to.address = endpoint->peer + endpoint_target_at(endpoint, slot);
	to.key = end->peer.key;
	endpoint->outstanding++;
	endpoint->silent++;
	endpoint->unannounced++;
	end->engine->write(endpoint->wire,
	    &(struct piece){ endpoint->memory + at, load->size, end->region.key }, &to, 0, true);
}

void
post_notice(struct endpoint *endpoint, uint64_t messages)
{
	const size_t at =
	    endpoint_notice_at(endpoint, (uint32_t)(endpoint->notices % endpoint->end->receives));
	const struct header header = {
		.number = (uint32_t)endpoint->notices++,
		.endpoint = (uint16_t)endpoint->number,
		.value = messages,
	};

	endpoint->unannounced = 0;
	message_fill(endpoint->memory + at, sizeof header, &header);
	post_send(endpoint, at, sizeof header);
}

void
post_read(struct endpoint *endpoint, uint64_t due)
{
	const struct end *end = endpoint->end;
	const struct load *load = end->load;
	const uint32_t slot = (uint32_t)(endpoint->sent % load->depth);
	const size_t at = endpoint_send_at(endpoint, slot);
	const struct remote from = { endpoint->peer + endpoint_target_at(endpoint, slot),
		end->peer.key };

	/* What the check after the read has to find different. */
	message_fill(endpoint->memory + at, load->size,
	    &(struct header){ .number = ~slot, .endpoint = (uint16_t)endpoint->number });
	endpoint->posted[slot] = endpoint->sent++;
	endpoint->stamps[slot] = due;
	end->engine->read(endpoint->wire,
	    &(struct piece){ endpoint->memory + at, load->size, end->region.key }, &from,
	    (uint64_t)endpoint->number << 32 | slot);
}

/* Fails unless the message is the one with that number. */
static struct header
post_check(const struct endpoint *endpoint, char *bytes, uint32_t length, uint64_t number)
{
	const struct header header = message_header(bytes);
	const uint32_t *tail = message_tail(bytes, length);

	if (header.endpoint != endpoint->number)
		fail("endpoint %u: a message of endpoint %u has come", endpoint->number,
		    header.endpoint);
	if (header.number != (uint32_t)number)
		fail("endpoint %u: message %u has come in the place of %u", endpoint->number,
		    header.number, (uint32_t)number);
	if (tail && le32toh(*tail) != header.number)
		fail("endpoint %u: message %u ends with %u", endpoint->number, header.number,
		    le32toh(*tail));
	return header;
}

/*
 * Which receive or read has completed, each once, and in their order unless upcalls run at the same
 * time.
 */
static uint64_t
post_complete(struct endpoint *endpoint, uint32_t slot, uint32_t slots)
{
	uint64_t number;

	if (slot >= slots || endpoint->posted[slot] == NOT_POSTED)
		fail("endpoint %u: a completion of nothing that was posted", endpoint->number);
	number = endpoint->posted[slot];
	if (endpoint->end->load->consumer != CONSUMER_UPCALL_MANY && number != endpoint->received)
		fail("endpoint %u: completion %llu has come in the place of %llu", endpoint->number,
		    (unsigned long long)number, (unsigned long long)endpoint->received);
	endpoint->posted[slot] = NOT_POSTED;
	endpoint->received++;
	if (number >= endpoint->top)
		endpoint->top = number + 1;
	return number;
}

/* Sends of whole messages come, or headers. */
static uint32_t
post_expected(const struct end *end)
{
	const struct load *load = end->load;

	return load->operation == OPERATION_SEND && (end->server || load->traffic == TRAFFIC_PING) ?
		   load->size :
		   (uint32_t)sizeof(struct header);
}

struct header
post_take(struct endpoint *endpoint, const struct completion *completion, uint64_t *ret_number)
{
	const struct end *end = endpoint->end;
	const uint32_t slot = (uint32_t)completion->cookie, length = post_expected(end);
	const uint64_t number = post_complete(endpoint, slot, end->receives);
	char *bytes = endpoint->memory + endpoint_receive_at(endpoint, slot);
	struct header header;

	if (completion->length != length)
		fail("endpoint %u: message %llu has %zu bytes instead of %u", endpoint->number,
		    (unsigned long long)number, completion->length, length);
	header = post_check(endpoint, bytes, length, number);
	*ret_number = number;
	return header;
}

void
post_again(struct endpoint *endpoint, const struct completion *completion)
{
	const struct end *end = endpoint->end;
	const uint32_t slot = (uint32_t)completion->cookie;
	const struct piece piece = {
		.bytes = endpoint->memory + endpoint_receive_at(endpoint, slot),
		.length = end->load->size,
		.key = end->region.key,
	};

	endpoint->posted[slot] = endpoint->next_receive++;
	end->engine->receive(endpoint->wire, &piece, completion->cookie);
}

struct header
post_check_written(const struct endpoint *endpoint, uint64_t number)
{
	const struct load *load = endpoint->end->load;

	return post_check(endpoint,
	    endpoint->memory + endpoint_target_at(endpoint, (uint32_t)(number % load->depth)),
	    load->size, number);
}

uint64_t
post_check_read(struct endpoint *endpoint, const struct completion *completion, uint64_t *due)
{
	const struct load *load = endpoint->end->load;
	const uint32_t slot = (uint32_t)completion->cookie;
	const uint64_t number = post_complete(endpoint, slot, load->depth);

	post_check(endpoint, endpoint->memory + endpoint_send_at(endpoint, slot), load->size, slot);
	*due = endpoint->stamps[slot];
	return number;
}
