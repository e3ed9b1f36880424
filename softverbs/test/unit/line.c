/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <poll.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/runner.h"
#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/memory.h"
#include "softverbs/wire/peer.h"

static int
line_new(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

int
line_open(unsigned int slot)
{
	struct sockaddr_un address;
	socklen_t length = soft_name_address(&address, slot);
	int fd = line_new();

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, length), 0);
	return fd;
}

void
line_greet(int line, unsigned int slot)
{
	const struct {
		struct soft_frame frame;
		struct soft_wire_hello hello;
	} words = {
		.frame = { .type = SOFT_FRAME_HELLO, .length = sizeof words.hello },
		.hello = { .magic = SOFT_WIRE_MAGIC, .version = SOFT_WIRE_VERSION, .slot = slot },
	};

	ck_assert_int_eq(send(line, &words, sizeof words, MSG_NOSIGNAL), sizeof words);
}

void
line_send(int line, const void *bytes, size_t length)
{
	ck_assert_int_eq(send(line, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

bool
line_try_descriptors(int line, const int *descriptors, size_t count)
{
	char control[CMSG_SPACE(4 * sizeof(int))] = { 0 };
	struct iovec iov = { (char[]){ 0 }, 1 };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
	return sendmsg(line, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* A frame without its payload; false if there is none. */
static bool
line_receive(int line, struct soft_frame *frame)
{
	return recv(line, frame, sizeof *frame, MSG_WAITALL) == sizeof *frame;
}

void
line_offer(int line, unsigned int slot, int memory, uint64_t token)
{
	const struct {
		struct soft_frame frame;
		struct soft_wire_hello hello;
	} words = {
		.frame = { .type = SOFT_FRAME_HELLO, .length = sizeof words.hello },
		.hello = { .magic = SOFT_WIRE_MAGIC,
		    .version = SOFT_WIRE_VERSION,
		    .slot = slot,
		    .rings = 1,
		    .memory = (uint32_t)memory,
		    .token = token },
	};

	line_send(line, &words, sizeof words);
}

bool
line_welcomed(int line)
{
	struct soft_wire_grant grant;
	struct soft_frame frame;

	ck_assert(line_receive(line, &frame));
	ck_assert_int_eq(frame.type, SOFT_FRAME_WELCOME);
	ck_assert_uint_eq(frame.length, sizeof grant);
	ck_assert_int_eq(recv(line, &grant, sizeof grant, MSG_WAITALL), sizeof grant);
	return frame.opcode & SOFT_WELCOME_RINGS;
}

void
line_share(int line, unsigned int slot, struct soft_rings *rings)
{
	const int memory = soft_rings_create(rings);

	ck_assert_int_ge(memory, 0);
	line_offer(line, slot, memory, rings->token);
	ck_assert(line_welcomed(line));
	close(memory);
}

void
line_expect_byte(int line)
{
	struct pollfd pfd = { .fd = line, .events = POLLIN };
	char bytes[64];

	ck_assert_msg(
	    poll(&pfd, 1, (int)runner_stretch(10000)) == 1, "the device did not notify us");
	ck_assert_int_gt(recv(line, bytes, sizeof bytes, MSG_DONTWAIT), 0);
}

struct soft_frame
line_expect_frame(struct soft_ring *ring, uint8_t type)
{
	const struct timespec pause = { 0, 1000000 };
	struct soft_frame frame;
	int ready = 0;

	for (int i = 0; i < (int)runner_stretch(10000) && !ready; i++) {
		ready = soft_ring_ready(ring);
		if (!ready)
			nanosleep(&pause, NULL);
	}
	ck_assert_msg(ready > 0, "no frame in the ring");
	ck_assert_ptr_nonnull(soft_ring_peek(ring, ready, &frame));
	ck_assert_uint_eq(frame.type, type);
	(void)soft_ring_next(ring, soft_ring_bytes(&frame));
	return frame;
}

void
line_expect_hung_up(int line)
{
	struct pollfd pfd = { .fd = line, .events = POLLIN };
	char c;

	ck_assert_int_eq(poll(&pfd, 1, (int)runner_stretch(10000)), 1);
	ck_assert_int_le(read(line, &c, 1), 0);
	close(line);
}

unsigned int
line_slot_take(int *door)
{
	struct sockaddr_un address;
	unsigned int slot = soft_slot_number();
	socklen_t length;

	/* The device's own is locked by this very process, which could take it twice. */
	do
		slot = slot % SOFT_SLOT_MAX + 1;
	while (slot == soft_slot_number() || soft_name_lock(SOFT_NAME_SLOT(slot)));
	soft_name_unlink(slot);
	length = soft_name_address(&address, slot);
	*door = line_new();
	ck_assert_int_eq(bind(*door, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(*door, SOMAXCONN), 0);
	return slot;
}

/* The hello of the device's link. */
static int
line_accept_hello(int door, struct soft_wire_hello *hello)
{
	struct soft_frame frame;
	int line;

	for (;;) {
		line = accept(door, NULL, NULL);
		ck_assert_int_ge(line, 0);
		if (line_receive(line, &frame))
			break;
		close(line);
	}
	ck_assert_int_eq(frame.type, SOFT_FRAME_HELLO);
	ck_assert_int_eq(recv(line, hello, sizeof *hello, MSG_WAITALL), sizeof *hello);
	ck_assert_uint_eq(hello->slot, soft_slot_number());
	return line;
}

int
line_accept(int door)
{
	struct soft_welcome_frame welcome;
	struct soft_wire_hello hello;
	int line = line_accept_hello(door, &hello);

	/* The memory of the hello is declined, so frames go over the socket. */
	if (hello.rings) {
		soft_peer_welcome(&welcome, 0);
		line_send(line, &welcome, sizeof welcome);
	}
	return line;
}

int
line_accept_rings(int door, struct soft_rings *rings)
{
	struct soft_wire_hello hello;
	int line = line_accept_hello(door, &hello), memory;

	ck_assert_uint_eq(hello.rings, 1);
	memory = soft_memory_open(getpid(), hello.memory);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(soft_rings_attach(rings, memory, hello.token), 0);
	close(memory);
	return line;
}

void
line_slot_leave(unsigned int slot, int door)
{
	soft_name_unlink(slot);
	close(door);
	soft_name_unlock(SOFT_NAME_SLOT(slot));
}

void
line_answer(int line, const struct soft_frame *to, enum soft_frame_type type, uint8_t reason)
{
	const struct soft_frame frame = { .type = (uint8_t)type,
		.opcode = reason,
		.qpn = to->from,
		.from = to->qpn,
		.psn = to->psn,
		.epoch = to->epoch,
		.rnr_timer = reason == SOFT_NAK_NOT_READY };

	ck_assert_int_eq(send(line, &frame, sizeof frame, MSG_NOSIGNAL), sizeof frame);
}

/* Who closes the last descriptor of it waits: it has data to send, and the far end reads none. */
int
line_lingering(int *far_end)
{
	const struct linger linger = { 1, 1000 };
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const char bytes[65536];

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, length), 0);
	*far_end = accept(listener, NULL, NULL);
	close(listener);
	while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
	return fd;
}

int
line_trap(int fd)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	ck_assert(line_try_descriptors(ends[1], &fd, 1));
	close(ends[1]);
	close(fd);
	return ends[0];
}
