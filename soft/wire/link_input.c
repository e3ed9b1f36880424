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
	case SOFT_FRAME_DATAGRAM:
		return !link->outgoing && soft_handlers->datagram(link, frame, payload);
	default:
		return link->outgoing && soft_handlers->response(link, frame, payload);
	}
}

/* Handles every whole frame of the input. */
static enum soft_link_input
link_handle_input(struct soft_link *link)
{
	struct soft_frame frame;
	size_t at = 0;

	while (link->filled - at >= sizeof frame) {
		memcpy(&frame, link->input + at, sizeof frame);
		if (frame.length > SOFT_WIRE_PAYLOAD)
			return SOFT_INPUT_MALFORMED;
		if (link->filled - at < sizeof frame + frame.length)
			break;
		if (!soft_frame_valid(&frame))
			return SOFT_INPUT_MALFORMED;
		if (frame.type == SOFT_FRAME_HELLO) {
			soft_debug("link of slot %u closed: another hello", link->slot);
			return SOFT_INPUT_END;
		}
		if (!link_handle_frame(link, &frame, link->input + at + sizeof frame))
			return SOFT_INPUT_MALFORMED;
		at += sizeof frame + frame.length;
	}
	memmove(link->input, link->input + at, link->filled - at);
	link->filled -= at;
	return SOFT_INPUT_FRAMES;
}

/* The number of bytes in the socket now; later bytes are not needed. */
static int
link_bytes_waiting(const struct soft_link *link)
{
	int n;

	return ioctl(link->watch.fd, FIONREAD, &n) ? 0 : n;
}

enum soft_link_input
soft_link_read(struct soft_link *link)
{
	const size_t room = 2 * SOFT_FRAME_MAX - link->filled;
	ssize_t n;

	if (link->over)
		return link->over;
	n = read(link->watch.fd, link->input + link->filled, room);
	(void)atomic_load_explicit(&soft_link_writes, memory_order_acquire);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return SOFT_INPUT_NONE;
	if (n <= 0)
		return link->over = SOFT_INPUT_END;
	link->filled += (size_t)n;
	n = link_handle_input(link);
	if (n != SOFT_INPUT_FRAMES)
		link->over = (enum soft_link_input)n;
	return (enum soft_link_input)n;
}

void
soft_link_read_answers(unsigned int slot)
{
	struct soft_link *link = soft_peer_answering(slot);
	enum soft_link_input taken = SOFT_INPUT_FRAMES;

	if (!link)
		return;
	/* An incomplete frame takes at most half of the buffer, so a read can take a whole one. */
	for (int left = link_bytes_waiting(link); left > 0 && taken == SOFT_INPUT_FRAMES;
	     left -= (int)SOFT_FRAME_MAX)
		taken = soft_link_read(link);
	if (taken == SOFT_INPUT_MALFORMED)
		soft_link_stop(link);
	soft_link_put(link);
}
