/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stranger -- connections to the device from programs that do not use its protocol
 */
#include "line.h"
#include "story.h"

#include <sys/socket.h>

static int
connect_to(uint32_t qpn)
{
	return line_open(qpn >> 14);
}

CASE("soft-stranger:strangers");

TEST(malformed_frames__that_link_is_closed_and_the_device_goes_on)
{
	struct side a, b;
	char junk[256];
	uint32_t hello[20] = { 16, 1 };

	pair_make(&a, &b, NULL);
	for (int i = 0; i < 50; i++) {
		int fd = connect_to(a.qp->qp_num);

		for (size_t k = 0; k < sizeof junk; k++)
			junk[k] = (char)(rand() | 1); /* a length beyond the limit */
		ck_assert_int_gt(write(fd, junk, sizeof junk), 0);
		line_expect_hung_up(fd);
	}
	/* A hello of another version, and one that claims our own slot. */
	hello[16] = 0x54464f53;
	hello[17] = 2;
	hello[18] = 5;
	for (int i = 0; i < 2; i++) {
		int fd = connect_to(a.qp->qp_num);

		ck_assert_int_eq(write(fd, hello, sizeof hello), sizeof hello);
		line_expect_hung_up(fd);
		hello[17] = 1;
		hello[18] = a.qp->qp_num >> 14;
	}
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	pair_free(&a, &b);
}

TEST(request_in_a_stolen_name__refused)
{
	uint32_t request[16] = { 0 };
	struct side a, b;
	unsigned int slot;
	int fd, door;

	pair_make(&a, &b, NULL);
	slot = line_slot_take(&door);
	fd = connect_to(a.qp->qp_num);
	line_greet(fd, slot);
	/* A send of nothing, as if by b, to a. */
	side_receive(&a, 1, 0, 8);
	request[1] = 2 | IBV_WR_SEND << 8 | 3 << 16;
	request[2] = a.qp->qp_num;
	request[3] = b.qp->qp_num;
	ck_assert_int_eq(write(fd, request, sizeof request), sizeof request);
	line_expect_hung_up(fd);
	cq_expect_empty(a.cq);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_RTS);
	line_slot_leave(slot, door);
	pair_free(&a, &b);
}

/*
 * Random frames that are nearly right, from a process whose queue pair ours is connected
 * to: most are refused, some are executed, none may do harm.
 */
static void
fuzz(unsigned int seed)
{
	struct {
		uint32_t words[16];
		char data[64];
	} frame;
	struct side a;
	uint64_t address;
	uint32_t slot;
	int fd, door;

	srand(seed);
	side_make(&a, NULL);
	slot = line_slot_take(&door);
	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, NULL);
	for (uint64_t i = 0; i < 8; i++)
		side_receive(&a, i, 4096 * i, 4096);
	fd = connect_to(a.qp->qp_num);
	line_greet(fd, slot);
	for (int i = 0; i < 200; i++) {
		uint32_t length = rand() % 3 ? 0 : (uint32_t)rand() % 64;

		memset(&frame, 0, sizeof frame);
		frame.words[0] = length;
		frame.words[1] = (rand() % 8 ? 2u : (uint32_t)rand() % 9) |
				 (uint32_t)rand() % 8 << 8 |
				 (rand() % 4 ? 3u : (uint32_t)rand() % 8) << 16;
		frame.words[2] = rand() % 16 ? a.qp->qp_num : (uint32_t)rand() & 0xffffff;
		frame.words[3] = rand() % 64 ? slot << 14 | 5 : (uint32_t)rand() & 0xffffff;
		frame.words[4] = rand() % 16 ? (uint32_t)rand() % 8 : (uint32_t)rand() & 0xffffff;
		frame.words[5] = rand() % 4 ? length : (uint32_t)rand() % 10000;
		frame.words[7] = rand() % 2 ? a.mr->rkey : (uint32_t)rand();
		address = (uintptr_t)a.bytes + (uint32_t)rand() % SIDE_BYTES;
		memcpy(&frame.words[8], &address, sizeof address);
		frame.words[14] = (uint32_t)rand() % 4;
		if (send(fd, &frame, 64 + length, MSG_NOSIGNAL) < 0)
			break; /* hung up, as it should */
	}
	shutdown(fd, SHUT_WR);
	while (read(fd, &frame, sizeof frame) > 0)
		;
	close(fd);
	line_slot_leave(slot, door);
	side_free(&a);
}

TEST_LOOP(frames_nearly_right__do_no_harm, 5)
{
	for (unsigned int seed = 0; seed < 40; seed++)
		fuzz(seed + 40 * (unsigned int)_i);
}
