/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer: two processes that know the language of softverbs/WIRE.md.  What they say is right at
 * first, follows from what was said before, and is then changed as the input wants it.
 */
#include "fuzz.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer_cm.h"
#include "softverbs/device/slot.h"

#define ASKED_MAX 64
#define INPUT_MAX (4 * (sizeof(struct soft_frame) + SOFT_WIRE_PAYLOAD))

/* A link, as the peer sees it. */
struct line {
	int fd;
	size_t filled;
	char input[INPUT_MAX];
};
static struct line dialled[PEER_SLOTS];	 /* for our requests; the device answers */
static struct line accepted[PEER_SLOTS]; /* for the device's */
static int at_the_door[PEER_SLOTS] = { -1, -1 };

/* How far we are with each queue pair of the device. */
static struct {
	uint32_t psn, epoch;
	struct soft_frame part; /* of the message that is begun; no length: none is */
	uint32_t sent;
} streams[DEVICE_QPS];

/* What the device asked and was not answered, in order. */
static struct soft_frame asked[PEER_SLOTS][ASKED_MAX];
static unsigned int asked_head[PEER_SLOTS], asked_tail[PEER_SLOTS];

static char payload[SOFT_WIRE_PAYLOAD];
static bool alive;

unsigned int
peer_slot(unsigned int i)
{
	return (soft_slot_number() + i) % SOFT_SLOT_MAX + 1;
}

static int
index_of(unsigned int slot)
{
	for (unsigned int i = 0; i < PEER_SLOTS; i++)
		if (peer_slot(i) == slot)
			return (int)i;
	return -1;
}

/* --- sending */

static void
hang_up(struct line *line)
{
	if (line->fd >= 0)
		close(line->fd);
	line->fd = -1;
	line->filled = 0;
}

/* Bytes that the socket does not take are lost; the device then reads a malformed frame. */
static void
say_bytes(struct line *line, const void *bytes, size_t length)
{
	if (line->fd >= 0 && length)
		(void)!send(line->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* In one piece, or, rarely, in two with something in between, or without its end. */
static void
say(struct line *line, struct soft_frame *frame, const void *data)
{
	static char whole[sizeof *frame + SOFT_WIRE_PAYLOAD];
	size_t length = frame->length;
	unsigned int how;

	input_mutate(frame, sizeof *frame);
	memcpy(whole, frame, sizeof *frame);
	memcpy(whole + sizeof *frame, data ? data : payload, length);
	length += sizeof *frame;
	how = input8();
	if (how < 248) {
		say_bytes(line, whole, length);
	} else {
		const size_t first = input16() % length;

		say_bytes(line, whole, first);
		if (how < 254) {
			seam_pump(2);
			say_bytes(line, whole + first, length - first);
		}
	}
}

/* A hello as it should be. */
static void
dial_again(unsigned int i)
{
	struct {
		struct soft_frame frame;
		struct soft_wire_hello hello;
	} hello = {
		{ .type = SOFT_FRAME_HELLO, .length = sizeof hello.hello },
		{ .magic = SOFT_WIRE_MAGIC, .version = SOFT_WIRE_VERSION, .slot = peer_slot(i) },
	};

	hang_up(&dialled[i]);
	dialled[i].fd = seam_dial();
	say_bytes(&dialled[i], &hello, sizeof hello);
}

static void
say_hello(struct line *line, unsigned int slot)
{
	struct soft_frame frame = { .type = SOFT_FRAME_HELLO,
		.length = sizeof(struct soft_wire_hello) };
	struct soft_wire_hello hello = {
		.magic = SOFT_WIRE_MAGIC, .version = SOFT_WIRE_VERSION, .slot = slot
	};

	input_mutate(&hello, sizeof hello);
	say(line, &frame, &hello);
}

static void
dial(unsigned int i)
{
	const uint8_t how = input8();

	hang_up(&dialled[i]);
	dialled[i].fd = seam_dial();
	if (dialled[i].fd >= 0 && how < 240)
		say_hello(&dialled[i], how < 224 ? peer_slot(i) : peer_slot(i ^ 1));
}

/* A connection that says something is the device's link; others only look who is there. */
static void
open_door(unsigned int i)
{
	const int fd = at_the_door[i];
	ssize_t n;
	char c;

	if (fd < 0)
		return;
	n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);
	if (n < 0)
		return;
	at_the_door[i] = -1;
	if (n == 0) {
		close(fd);
		return;
	}
	hang_up(&accepted[i]);
	asked_head[i] = asked_tail[i];
	accepted[i].fd = fd;
}

int
peer_answer_door(unsigned int slot)
{
	int i = index_of(slot), ours, theirs;

	if (i < 0 || !alive)
		return -1;
	open_door((unsigned int)i);
	theirs = seam_pair(&ours);
	if (theirs < 0)
		return -1;
	if (at_the_door[i] >= 0)
		close(at_the_door[i]);
	at_the_door[i] = ours;
	return theirs;
}

/* --- requests */

/* A request for queue pair `i`, whole; its data is in one frame or in more. */
static struct soft_frame
make_request(unsigned int i)
{
	static const uint8_t opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_SEND_WITH_INV };
	static const uint32_t totals[] = { 0, 1, 7, 8, 64, 100, 4096, 65536, 65537, 131080 };
	const struct device_region *region = &device_regions[input_below(DEVICE_REGIONS)];
	const uint8_t offset = input8();
	struct soft_frame frame = {
		.type = SOFT_FRAME_REQUEST,
		.opcode = opcodes[input_below(8)],
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = device_qp(i)->qp_num,
		.from = device_peer_of(i),
		.psn = streams[i].psn,
		.total = totals[input_below(10)],
		.rkey = region->mr->rkey,
		.address = (uintptr_t)region->bytes + (offset < 128 ? 0 : offset),
		.epoch = streams[i].epoch,
	};

	if (frame.opcode == IBV_WR_SEND_WITH_INV)
		frame.imm_data = device_window_key(i);
	else if (offset >= 192)
		frame.rkey = device_window_key(i);
	if (frame.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    frame.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		frame.total = sizeof(uint64_t);
	if (offset & 1)
		frame.flags |= SOFT_FRAME_SOLICITED;
	return frame;
}

/* The next frame of what is begun. */
static void
say_part(unsigned int i)
{
	struct soft_frame frame = streams[i].part;
	uint32_t left = frame.total - streams[i].sent;
	const bool data = frame.opcode < IBV_WR_RDMA_READ || frame.opcode == IBV_WR_SEND_WITH_INV;

	frame.length = data ? left < SOFT_WIRE_PAYLOAD ? left : SOFT_WIRE_PAYLOAD : 0;
	if (data && frame.length > 1 && left == frame.total && input8() & 1)
		frame.length /= 2;
	frame.flags &= (uint8_t) ~(SOFT_FRAME_FIRST | SOFT_FRAME_LAST);
	if (!streams[i].sent)
		frame.flags |= SOFT_FRAME_FIRST;
	streams[i].sent += frame.length;
	if (!data || streams[i].sent == frame.total) {
		frame.flags |= SOFT_FRAME_LAST;
		streams[i].part.type = 0;
		streams[i].psn = (streams[i].psn + 1) & 0xffffff;
	}
	say(&dialled[index_of(frame.from >> 14) == 1], &frame, NULL);
}

static void
say_request(unsigned int i, bool whole)
{
	const int slot = index_of(device_peer_of(i) >> 14);

	if (slot >= 0 && dialled[slot].fd < 0)
		dial_again((unsigned int)slot);
	if (!streams[i].part.type) {
		streams[i].part = make_request(i);
		streams[i].sent = 0;
	}
	do
		say_part(i);
	while (whole && streams[i].part.type);
}

/* --- answers */

static struct soft_frame
answer_to(const struct soft_frame *request, enum soft_frame_type type)
{
	return (struct soft_frame){
		.type = (uint8_t)type,
		.qpn = request->from,
		.from = request->qpn,
		.psn = request->psn,
		.total = type == SOFT_FRAME_RESPONSE ? request->total : 0,
		.epoch = request->epoch,
	};
}

static void
say_data(struct line *line, const struct soft_frame *request)
{
	struct soft_frame frame = answer_to(request, SOFT_FRAME_RESPONSE);
	uint32_t sent = 0;

	do {
		frame.length = request->total - sent;
		if (frame.length > SOFT_WIRE_PAYLOAD)
			frame.length = SOFT_WIRE_PAYLOAD;
		frame.flags = sent ? 0 : SOFT_FRAME_FIRST;
		sent += frame.length;
		if (sent >= request->total)
			frame.flags |= SOFT_FRAME_LAST;
		say(line, &frame, NULL);
		/* What was changed is not what follows. */
		frame = answer_to(request, SOFT_FRAME_RESPONSE);
		seam_pump(1);
	} while (sent < request->total && sent < 4 * SOFT_WIRE_PAYLOAD);
}

static void
reply(unsigned int i)
{
	static const uint8_t reasons[] = { SOFT_NAK_NOT_READY, SOFT_NAK_NOT_CONNECTED,
		IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR };
	const unsigned int how = input8();
	struct soft_frame request, frame;

	if (asked_head[i] == asked_tail[i])
		return;
	/* The oldest, or, for an ACK that covers more, one behind it. */
	if (how & 1 && asked_tail[i] - asked_head[i] > 1)
		asked_head[i] += input_below(asked_tail[i] - asked_head[i]);
	request = asked[i][asked_head[i]++ % ASKED_MAX];
	if (how < 180 && request.opcode >= IBV_WR_RDMA_READ &&
	    request.opcode != IBV_WR_SEND_WITH_INV) {
		say_data(&accepted[i], &request);
		return;
	}
	frame = answer_to(&request, how < 180 ? SOFT_FRAME_ACK :
				    how < 230 ? SOFT_FRAME_NAK :
						SOFT_FRAME_READY);
	if (frame.type == SOFT_FRAME_NAK) {
		frame.opcode = reasons[input_below(5)];
		frame.rnr_timer = input8() & 31;
	}
	say(&accepted[i], &frame, NULL);
}

/* --- what the device says */

static void
heard(unsigned int i, const struct soft_frame *frame, const char *data)
{
	struct soft_wire_cm cm;

	switch (frame->type) {
	case SOFT_FRAME_REQUEST:
		if (!(frame->flags & SOFT_FRAME_LAST))
			break;
		asked[i][asked_tail[i]++ % ASKED_MAX] = *frame;
		if (asked_tail[i] - asked_head[i] > ASKED_MAX)
			asked_head[i]++;
		break;
	case SOFT_FRAME_NAK:
		/* As a requester does: back to what was refused, in a new epoch. */
		for (unsigned int q = 0; q < DEVICE_QPS; q++) {
			if (device_qp(q)->qp_num != frame->from || streams[q].epoch != frame->epoch)
				continue;
			streams[q].psn = frame->psn & 0xffffff;
			streams[q].epoch++;
			streams[q].part.type = 0;
		}
		break;
	case SOFT_FRAME_CM:
		memcpy(&cm, data, sizeof cm);
		cm_heard(i, &cm);
		break;
	default:
		break;
	}
}

static void
hear(unsigned int i, struct line *line)
{
	struct soft_frame frame;
	size_t at = 0;
	ssize_t n;

	if (line->fd < 0)
		return;
	n = recv(line->fd, line->input + line->filled, INPUT_MAX - line->filled, MSG_DONTWAIT);
	if (n == 0)
		hang_up(line);
	if (n <= 0)
		return;
	line->filled += (size_t)n;
	while (line->filled - at >= sizeof frame) {
		memcpy(&frame, line->input + at, sizeof frame);
		if (!soft_frame_valid(&frame) && frame.type != SOFT_FRAME_REQUEST)
			fuzz_found("the device says what may not be said: type %u", frame.type);
		if (line->filled - at < sizeof frame + frame.length)
			break;
		heard(i, &frame, line->input + at + sizeof frame);
		at += sizeof frame + frame.length;
	}
	memmove(line->input, line->input + at, line->filled - at);
	line->filled -= at;
}

void
peer_hear(void)
{
	struct pollfd fds[2 * PEER_SLOTS];

	for (unsigned int i = 0; i < PEER_SLOTS; i++) {
		open_door(i);
		fds[2 * i] = (struct pollfd){ dialled[i].fd, POLLIN, 0 };
		fds[2 * i + 1] = (struct pollfd){ accepted[i].fd, POLLIN, 0 };
	}
	if (poll(fds, 2 * PEER_SLOTS, 0) <= 0)
		return;
	for (unsigned int i = 0; i < PEER_SLOTS; i++) {
		if (fds[2 * i].revents)
			hear(i, &dialled[i]);
		if (fds[2 * i + 1].revents)
			hear(i, &accepted[i]);
	}
}

/* --- the whole */

/* A message goes the way of the connection: on the link of who asked for it. */
static void
say_cm(unsigned int i)
{
	struct soft_frame frame = { .type = SOFT_FRAME_CM, .length = sizeof(struct soft_wire_cm) };
	struct soft_wire_cm cm;
	const bool called = cm_say(i, &cm);

	if (!called && dialled[i].fd < 0)
		dial_again(i);
	input_mutate(&cm, sizeof cm);
	say(called ? &accepted[i] : &dialled[i], &frame, &cm);
}

void
peer_begin(void)
{
	memset(streams, 0, sizeof streams);
	for (unsigned int i = 0; i < DEVICE_QPS; i++)
		streams[i].psn = DEVICE_PEER_PSN;
	for (unsigned int i = 0; i < PEER_SLOTS; i++) {
		dialled[i].fd = accepted[i].fd = -1;
		asked_head[i] = asked_tail[i] = 0;
	}
	memset(payload, 'p', sizeof payload);
	alive = true;
	cm_begin();
	for (unsigned int i = 0; i < PEER_SLOTS; i++)
		dial_again(i);
}

void
peer_restart(unsigned int i)
{
	streams[i].psn = DEVICE_PEER_PSN;
	streams[i].part.type = 0;
}

void
peer_end(void)
{
	alive = false;
	for (unsigned int i = 0; i < PEER_SLOTS; i++) {
		hang_up(&dialled[i]);
		hang_up(&accepted[i]);
		if (at_the_door[i] >= 0)
			close(at_the_door[i]);
		at_the_door[i] = -1;
	}
}

void
peer_step(uint8_t what)
{
	const unsigned int i = input_below(DEVICE_QPS), slot = i & 1;
	char bytes[64];

	switch (what) {
	case PEER_REQUEST:
		say_request(i, true);
		break;
	case PEER_PART:
		say_request(i, false);
		break;
	case PEER_REPLY:
		/* Most queue pairs are connected to the first. */
		reply(i == 3);
		break;
	case PEER_CM:
		say_cm(i >= 6);
		break;
	case PEER_RAW:
		for (size_t k = 0; k < sizeof bytes; k++)
			bytes[k] = (char)input8();
		say_bytes(i & 2 ? &accepted[slot] : &dialled[slot], bytes, input8() % sizeof bytes);
		break;
	case PEER_DIAL:
		dial(slot);
		break;
	default:
		hang_up(i & 2 ? &accepted[slot] : &dialled[slot]);
		break;
	}
}
