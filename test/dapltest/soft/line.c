/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <poll.h>
#include <unistd.h>

#include "lib/runner.h"
#include "soft/device/names.h"
#include "soft/device/slot.h"
#include "soft/wire/peer.h"

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

int
line_accept(int door)
{
	struct soft_welcome_frame welcome;
	struct soft_frame frame;
	struct soft_wire_hello hello;
	int line;

	for (;;) {
		line = accept(door, NULL, NULL);
		ck_assert_int_ge(line, 0);
		if (recv(line, &frame, sizeof frame, MSG_WAITALL) == sizeof frame)
			break;
		close(line);
	}
	ck_assert_int_eq(frame.type, SOFT_FRAME_HELLO);
	ck_assert_int_eq(recv(line, &hello, sizeof hello, MSG_WAITALL), sizeof hello);
	ck_assert_uint_eq(hello.slot, soft_slot_number());
	/* The memory that came with the hello is declined, so frames go over the socket. */
	if (hello.rings) {
		soft_peer_welcome(&welcome, 0);
		ck_assert_int_eq(
		    send(line, &welcome, sizeof welcome, MSG_NOSIGNAL), sizeof welcome);
	}
	return line;
}

void
line_slot_leave(unsigned int slot, int door)
{
	soft_name_unlink(slot);
	close(door);
	soft_name_unlock(SOFT_NAME_SLOT(slot));
}
