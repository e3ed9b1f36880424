/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a link: frames, which go to the handlers of their types. */
#include "link.h"
#include "peer.h"
#include "soft/device/settings.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool
link_handle_frame(struct soft_link *link, const struct soft_frame *frame, const char *payload)
{
	struct soft_wire_cm cm;

	switch (frame->type) {
	case SOFT_FRAME_CM:
		memcpy(&cm, payload, sizeof cm);
		return soft_handlers->message(link, &cm);
	case SOFT_FRAME_REQUEST:
		return !link->outgoing && soft_handlers->request(link, frame, payload);
	default:
		return link->outgoing && soft_handlers->response(link, frame, payload);
	}
}

/* Handles every whole frame of the input. */
static enum soft_link_taken
link_handle_input(struct soft_link *link)
{
	struct soft_frame frame;
	size_t at = 0;

	while (link->filled - at >= sizeof frame) {
		memcpy(&frame, link->input + at, sizeof frame);
		if (frame.length > SOFT_WIRE_PAYLOAD)
			return SOFT_TOOK_NONSENSE;
		if (link->filled - at < sizeof frame + frame.length)
			break;
		if (!soft_frame_valid(&frame))
			return SOFT_TOOK_NONSENSE;
		if (frame.type == SOFT_FRAME_HELLO) {
			soft_debug("link of slot %u closed: another hello", link->slot);
			return SOFT_TOOK_THE_END;
		}
		if (!link_handle_frame(link, &frame, link->input + at + sizeof frame))
			return SOFT_TOOK_NONSENSE;
		at += sizeof frame + frame.length;
	}
	memmove(link->input, link->input + at, link->filled - at);
	link->filled -= at;
	return SOFT_TOOK_INPUT;
}

/* The bytes that wait in the socket: what comes while we read is not what we came for. */
static int
link_bytes_waiting(const struct soft_link *link)
{
	int n;

	return ioctl(link->watch.fd, FIONREAD, &n) ? 0 : n;
}

enum soft_link_taken
soft_link_take(struct soft_link *link)
{
	const size_t room = 2 * SOFT_FRAME_MAX - link->filled;
	ssize_t n;

	if (link->over)
		return link->over;
	n = read(link->watch.fd, link->input + link->filled, room);
	(void)atomic_load_explicit(&soft_link_writes, memory_order_acquire);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return SOFT_TOOK_NOTHING;
	if (n <= 0)
		return link->over = SOFT_TOOK_THE_END;
	link->filled += (size_t)n;
	n = link_handle_input(link);
	if (n != SOFT_TOOK_INPUT)
		link->over = (enum soft_link_taken)n;
	return (enum soft_link_taken)n;
}

void
soft_link_take_answers(unsigned int slot)
{
	struct soft_link *link = soft_peer_answering(slot);
	enum soft_link_taken taken = SOFT_TOOK_INPUT;

	if (!link)
		return;
	/* One frame at most is in the way of a read that could take two. */
	for (int left = link_bytes_waiting(link); left > 0 && taken == SOFT_TOOK_INPUT;
	     left -= (int)SOFT_FRAME_MAX)
		taken = soft_link_take(link);
	if (taken == SOFT_TOOK_NONSENSE)
		soft_link_shutdown(link);
	soft_link_put(link);
}
