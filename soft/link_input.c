/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes over a link: frames, each handed to who deals with its kind. */
#include "link.h"
#include "peer.h"
#include "remote.h"

#include <string.h>
#include <unistd.h>

static bool
handle(struct soft_link *link, const struct soft_frame *frame, const char *payload)
{
	struct soft_cm_message message;
	struct soft_wire_hello hello;
	struct soft_wire_cm cm;

	if (!soft_frame_valid(frame))
		return false;
	if (!link->slot || frame->type == SOFT_FRAME_HELLO) {
		if (frame->type != SOFT_FRAME_HELLO || link->slot)
			return false;
		memcpy(&hello, payload, sizeof hello);
		return soft_peer_greeted(link, &hello);
	}
	switch (frame->type) {
	case SOFT_FRAME_CM:
		memcpy(&cm, payload, sizeof cm);
		if (!soft_wire_unpack_cm(&message, &cm, link->slot))
			return false;
		message.called = !link->outgoing;
		if (message.called)
			soft_link_take_answers(link->slot);
		pthread_mutex_lock(&soft_cm_lock);
		soft_cm_deliver(&message);
		pthread_mutex_unlock(&soft_cm_lock);
		return true;
	case SOFT_FRAME_REQUEST:
		return !link->outgoing && soft_remote_request(link, frame, payload);
	default:
		return link->outgoing && soft_remote_response(link, frame, payload);
	}
}

/* Handles every whole frame of the input: false if one is malformed. */
static bool
handle_input(struct soft_link *link)
{
	struct soft_frame frame;
	size_t at = 0;

	while (link->filled - at >= sizeof frame) {
		memcpy(&frame, link->input + at, sizeof frame);
		if (frame.length > SOFT_WIRE_PAYLOAD)
			return false;
		if (link->filled - at < sizeof frame + frame.length)
			break;
		if (!handle(link, &frame, link->input + at + sizeof frame))
			return false;
		at += sizeof frame + frame.length;
	}
	memmove(link->input, link->input + at, link->filled - at);
	link->filled -= at;
	return true;
}

enum soft_link_taken
soft_link_take(struct soft_link *link)
{
	const size_t room = 2 * SOFT_FRAME_MAX - link->filled;
	ssize_t n = read(link->watch.fd, link->input + link->filled, room);

	(void)atomic_load_explicit(&soft_link_writes, memory_order_acquire);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return SOFT_TOOK_NOTHING;
	if (n <= 0)
		return SOFT_TOOK_THE_END;
	link->filled += (size_t)n;
	return handle_input(link) ? SOFT_TOOK_INPUT : SOFT_TOOK_NONSENSE;
}

void
soft_link_take_answers(unsigned int slot)
{
	struct soft_link *link = soft_peer_answering(slot);
	enum soft_link_taken taken = SOFT_TOOK_INPUT;

	if (!link)
		return;
	while (taken == SOFT_TOOK_INPUT)
		taken = soft_link_take(link);
	if (taken == SOFT_TOOK_NONSENSE)
		soft_link_kill(link);
	soft_link_put(link);
}
