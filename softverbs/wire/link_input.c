/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a link: frames, which go to the handlers of their types. */
#include "link.h"
#include "peer.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/settings.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Frames of a ring that are handled before other links get their turn. */
#define TURN 64

static bool
link_handle_frame(
    struct soft_link *link, const struct soft_frame *frame, const char *payload) SOFT_NO_CM_LOCK
{
	struct soft_wire_cm cm;

	switch (frame->type) {
	case SOFT_FRAME_CM:
		memcpy(&cm, payload, sizeof cm);
		soft_ring_copied();
		return soft_handlers->message(link, &cm);
	case SOFT_FRAME_REQUEST:
		return !link->outgoing && soft_handlers->request(link, frame, payload);
	case SOFT_FRAME_PULLED:
		return !link->outgoing && soft_handlers->pulled(link, frame);
	case SOFT_FRAME_DATAGRAM:
		return !link->outgoing && soft_handlers->datagram(link, frame, payload);
	case SOFT_FRAME_HELLO:
	case SOFT_FRAME_WELCOME:
		return false;
	default:
		return link->outgoing && soft_handlers->response(link, frame, payload);
	}
}

/* Handles every whole frame of the input. */
static enum soft_link_input
link_handle_input(struct soft_link *link) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
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

/* Reads what fits. */
static ssize_t
link_receive(struct soft_link *link) REQUIRES(soft_locks.input)
{
	const ssize_t n = soft_guard_receive(
	    link->watch.fd, link->input + link->filled, 2 * SOFT_FRAME_MAX - link->filled);

	(void)atomic_load_explicit(&soft_link_writes, memory_order_acquire);
	return n;
}

/* The answer to our hello is the first frame.  What follows it is of the kind that it says. */
static enum soft_link_input
link_handle_welcome(struct soft_link *link) REQUIRES(soft_locks.input)
{
	struct soft_welcome_frame welcome;

	if (link->filled < sizeof welcome)
		return SOFT_INPUT_NONE;
	memcpy(&welcome, link->input, sizeof welcome);
	if (welcome.frame.type != SOFT_FRAME_WELCOME || !soft_frame_valid(&welcome.frame))
		return SOFT_INPUT_MALFORMED;
	link->filled -= sizeof welcome;
	memmove(link->input, link->input + sizeof welcome, link->filled);
	soft_link_welcomed(link, &welcome);
	return SOFT_INPUT_FRAMES;
}

/*
 * Handles the frames that are in the ring now.  Those that come meanwhile need not be read: a
 * writer that does not stop would occupy this thread.  A turn handles at least this many bytes.
 */
static enum soft_ring_input
link_read_present(struct soft_link *link, enum soft_reader reader)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	const int there = soft_ring_ready(&link->in);
	enum soft_ring_input r = there ? SOFT_RING_LEFT : SOFT_RING_EMPTY;

	for (int left = there < 0 ? 1 : there; left > 0 && r == SOFT_RING_LEFT;
	     left -= TURN * (int)sizeof(struct soft_frame))
		r = soft_link_read_ring(link, reader);
	return r;
}

/* The socket has ended, so the other process has, and what is in the ring is the last. */
static enum soft_link_input
link_read_rest(struct soft_link *link) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	if (link->ringed)
		(void)link_read_present(link, SOFT_READER_PROGRESS);
	if (!link->over && link->broke)
		link->over = SOFT_INPUT_MALFORMED;
	return link->over ? link->over : SOFT_INPUT_END;
}

enum soft_link_input
soft_link_read(struct soft_link *link)
{
	enum soft_link_input r = SOFT_INPUT_FRAMES;
	ssize_t n;

	if (link->over)
		return link->over;
	n = link_receive(link);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return SOFT_INPUT_NONE;
	if (n < 0 && errno == EBADMSG) /* a descriptor comes next */
		return link->over = SOFT_INPUT_MALFORMED;
	if (n <= 0)
		return link->over = link_read_rest(link);
	link->filled += (size_t)n;
	if (soft_link_is_greeting(link))
		r = link_handle_welcome(link);
	if (link->ringed)
		link->filled = 0; /* the bytes are notifications */
	else if (r == SOFT_INPUT_FRAMES && !link->outgoing)
		(void)soft_link_read_answers(link->slot, SOFT_READER_PROGRESS);
	if (!link->ringed && r == SOFT_INPUT_FRAMES)
		r = link_handle_input(link);
	if (r == SOFT_INPUT_MALFORMED || r == SOFT_INPUT_END)
		link->over = r;
	return r;
}

bool
soft_link_has_input(const struct soft_link *link)
{
	return link->ringed && (link->over || soft_ring_ready(&link->in) != 0);
}

bool
soft_link_seems_to_have_input(const struct soft_link *link) UNCHECKED
{
	return link->ringed && soft_ring_seems_unread(&link->in);
}

enum soft_ring_input
soft_link_read_ring(struct soft_link *link, enum soft_reader reader)
{
	int left = soft_ring_ready(&link->in), handled = 0;
	bool mine = true; /* the next frame is for this thread */
	struct soft_frame frame;
	const char *payload;
	uint32_t bytes;

	if (link->over)
		return SOFT_RING_PROGRESS;
	if (!left)
		return SOFT_RING_EMPTY;
	(void)atomic_load_explicit(&soft_link_writes, memory_order_acquire);
	if (!link->outgoing && !soft_link_read_answers(link->slot, reader))
		return SOFT_RING_PROGRESS;
	for (; left > 0 && handled < TURN; handled++, left -= (int)bytes) {
		payload = soft_ring_peek(&link->in, left, &frame);
		if (!payload || !soft_frame_valid(&frame))
			break;
		mine = frame.type != SOFT_FRAME_CM || reader == SOFT_READER_PROGRESS;
		if (!mine || !link_handle_frame(link, &frame, payload))
			break;
		bytes = soft_ring_bytes(&frame);
		if (soft_ring_next(&link->in, bytes))
			soft_link_notify_of_room(link);
	}
	if (!link->outgoing)
		soft_link_give_answers(link);
	if (!left || handled == TURN)
		return left ? SOFT_RING_LEFT : SOFT_RING_READ;
	if (mine)
		link->over = SOFT_INPUT_MALFORMED;
	return SOFT_RING_PROGRESS;
}

/*
 * Over the socket: an incomplete frame takes at most half of the buffer, so a read can take a whole
 * one.
 */
static enum soft_link_input
link_read_socket_answers(struct soft_link *link) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	enum soft_link_input taken = SOFT_INPUT_FRAMES;

	for (int left = link_bytes_waiting(link); left > 0 && taken == SOFT_INPUT_FRAMES;
	     left -= (int)SOFT_FRAME_MAX)
		taken = soft_link_read(link);
	return taken;
}

bool
soft_link_read_answers(unsigned int slot, enum soft_reader reader)
{
	struct soft_link *link = soft_peer_answering(slot);
	bool all = true;

	if (!link)
		return true;
	if (link->ringed)
		all = link_read_present(link, reader) != SOFT_RING_PROGRESS;
	else if (reader == SOFT_READER_PROGRESS)
		(void)link_read_socket_answers(link);
	else
		all = !link_bytes_waiting(link);
	/* The progress thread sees the end of the link, and handles what is wrong with it. */
	if (link->over == SOFT_INPUT_MALFORMED)
		soft_link_stop(link);
	soft_link_put(link);
	return all || reader == SOFT_READER_PROGRESS;
}
