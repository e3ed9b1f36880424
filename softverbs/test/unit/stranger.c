/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stranger -- connections to the device from programs that do not use its protocol
 */
#include "line.h"
#include "story.h"

#include <stddef.h>
#include <sys/socket.h>

#include "softverbs/device/slot.h"
#include "softverbs/wire/peer.h"

static int
connect_to(uint32_t qpn)
{
	return line_open(qpn >> 14);
}

CASE("soft-stranger:strangers");

TEST(malformed_frames__that_link_is_closed_and_the_device_goes_on)
{
	char junk[256];
	struct side a, b;

	pair_make(&a, &b, NULL);
	for (int i = 0; i < 50; i++) {
		int fd = connect_to(a.qp->qp_num);

		for (size_t k = 0; k < sizeof junk; k++)
			junk[k] = (char)(rand() | 1); /* a length beyond the limit */
		line_send(fd, junk, sizeof junk);
		line_expect_hung_up(fd);
	}
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	pair_free(&a, &b);
}

/* A hello in which one word is wrong, and at last one that is right. */
/* origin: out33.U2 */
TEST(hello__one_word_is_wrong__is_hung_up_on_at_once)
{
	struct side a;
	struct soft_hello_frame hello;
	unsigned int slot;
	int fd, door;

	side_make(&a, NULL);
	slot = line_slot_take(&door);
	const struct {
		size_t at;
		uint32_t word;
	} wrong[] = {
		{ offsetof(struct soft_hello_frame, hello.magic), SOFT_WIRE_MAGIC + 1 },
		{ offsetof(struct soft_hello_frame, hello.version), SOFT_WIRE_VERSION - 1 },
		{ offsetof(struct soft_hello_frame, hello.version), SOFT_WIRE_VERSION + 1 },
		{ offsetof(struct soft_hello_frame, hello.slot), 0 },
		{ offsetof(struct soft_hello_frame, hello.slot), soft_slot_number() },
		{ offsetof(struct soft_hello_frame, hello.slot), SOFT_SLOT_MAX + 1 },
		{ offsetof(struct soft_hello_frame, hello.slot), UINT32_MAX },
		{ offsetof(struct soft_hello_frame, hello.rings), 2 },
		{ offsetof(struct soft_hello_frame, hello.zero), 1 },
		{ offsetof(struct soft_hello_frame, frame.length), sizeof hello.hello - 1 },
		{ offsetof(struct soft_hello_frame, frame.length), sizeof hello.hello + 1 },
		{ offsetof(struct soft_hello_frame, frame.type), SOFT_FRAME_REQUEST },
		{ offsetof(struct soft_hello_frame, frame.type), SOFT_FRAME_WELCOME },
		{ offsetof(struct soft_hello_frame, frame.type), SOFT_FRAME_HELLO | 1 << 16 },
		{ offsetof(struct soft_hello_frame, frame.psn), SOFT_PSN_MASK + 1 },
		{ offsetof(struct soft_hello_frame, frame.total), SOFT_MAX_MSG + 1u },
		{ offsetof(struct soft_hello_frame, frame.port), 1 },
	};

	for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
		soft_peer_hello(&hello, -1, 0);
		hello.hello.slot = slot;
		fd = line_open(soft_slot_number());
		if (i < sizeof wrong / sizeof *wrong)
			memcpy((char *)&hello + wrong[i].at, &wrong[i].word, sizeof wrong[i].word);
		line_send(fd, &hello, sizeof hello);
		if (i < sizeof wrong / sizeof *wrong)
			line_expect_hung_up(fd);
	}
	while (!soft_peers_linked())
		sleep_ms(1);
	close(fd);
	line_slot_leave(slot, door);
	side_free(&a);
}

TEST(request_in_a_stolen_name__refused)
{
	struct soft_frame request = { .type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_SEND,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.psn = side_psn };
	struct side a, b;
	unsigned int slot;
	int fd, door;

	pair_make(&a, &b, NULL);
	slot = line_slot_take(&door);
	fd = connect_to(a.qp->qp_num);
	line_greet(fd, slot);
	/* A send of nothing, as if by b, to a. */
	side_receive(&a, 1, 0, 8);
	request.qpn = a.qp->qp_num;
	request.from = b.qp->qp_num;
	line_send(fd, &request, sizeof request);
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
static unsigned int
fuzz(unsigned int seed)
{
	struct {
		struct soft_frame header;
		char data[64];
	} frame;
	unsigned int received = 0;
	uint32_t psn = side_psn;
	struct ibv_wc wc;
	struct side a;
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
		frame.header = (struct soft_frame){
			.length = length,
			.type = rand() % 16 ? SOFT_FRAME_REQUEST : (uint8_t)(rand() % 12),
			.opcode = (uint8_t)(rand() % 8),
			.flags =
			    rand() % 4 ? SOFT_FRAME_FIRST | SOFT_FRAME_LAST : (uint8_t)(rand() % 8),
			.qpn = rand() % 16 ? a.qp->qp_num : (uint32_t)rand() & 0xffffff,
			.from = rand() % 64 ? slot << 14 | 5 : (uint32_t)rand() & 0xffffff,
			.psn = (rand() % 16 ? psn : (uint32_t)rand()) & SOFT_PSN_MASK,
			.total = rand() % 16 ? length : (uint32_t)rand() % 10000,
			.rkey = rand() % 8 ? a.mr->rkey : (uint32_t)rand(),
			.address = (uintptr_t)a.bytes + (uint32_t)rand() % SIDE_BYTES,
			.epoch = rand() % 8 ? 0 : (uint32_t)rand() % 4,
		};
		psn +=
		    frame.header.type == SOFT_FRAME_REQUEST && frame.header.flags & SOFT_FRAME_LAST;
		if (send(fd, &frame, 64 + length, MSG_NOSIGNAL) < 0)
			break; /* hung up, as it should */
	}
	shutdown(fd, SHUT_WR);
	while (read(fd, &frame, sizeof frame) > 0)
		;
	close(fd);
	while (ibv_poll_cq(a.cq, 1, &wc) > 0)
		received += wc.status == IBV_WC_SUCCESS;
	line_slot_leave(slot, door);
	side_free(&a);
	return received;
}

TEST_LOOP(frames_nearly_right__do_no_harm, 5)
{
	unsigned int received = 0;

	for (unsigned int seed = 0; seed < 40; seed++)
		received += fuzz(seed + 40 * (unsigned int)_i);
	ck_assert_uint_gt(received, 2); /* some are executed */
}
