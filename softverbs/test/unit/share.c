/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share -- queue pairs of one link take turns: one that has much to send, or to answer, lets the
 * others in between
 */
#include "line.h"
#include "wire_story.h"

#include <sys/socket.h>

#include "softverbs/wire/peer.h"

#define MANY 64 /* more frames than a queue pair has in its turn */

static struct side one, other;

static void
setup_answers(void)
{
	wire_first = side_psn;
	wire_begin(MANY);
	side_make(&other, NULL);
	side_to_init(&other, NULL);
	side_to_rtr(&other, wire_peer + 1);
	side_to_rts(&other, &(struct side_options){ .patient = true });
}

static void
teardown_answers(void)
{
	side_free(&other);
	wire_end();
}

CASE("soft-share:answers", setup_answers, teardown_answers);

/* All requests are there at once, those of one queue pair first. */
TEST(many_reads_of_one_queue_pair__the_read_of_another_does_not_wait_for_all_of_them)
{
	struct soft_frame frames[MANY + 1], answer;
	char part[8];
	int before = 0;

	for (uint32_t i = 0; i < MANY; i++)
		frames[i] = wire_request(IBV_WR_RDMA_READ, i, sizeof part);
	frames[MANY] = frames[0];
	frames[MANY].qpn = other.qp->qp_num;
	frames[MANY].from = wire_peer + 1;
	frames[MANY].psn = side_psn;
	frames[MANY].address = (uintptr_t)other.bytes;
	frames[MANY].rkey = other.mr->rkey;
	ck_assert_int_eq(send(wire_line, frames, sizeof frames, MSG_NOSIGNAL), sizeof frames);
	for (uint32_t i = 0; i <= MANY; i++) {
		ck_assert(wire_hear(&answer, part));
		ck_assert_int_eq(answer.type, SOFT_FRAME_RESPONSE);
		if (answer.qpn == wire_peer + 1)
			before = (int)i;
	}
	ck_assert_int_gt(before, 0);
	ck_assert_int_lt(before, MANY);
}

static int line, door;
static unsigned int stranger;
static struct soft_rings rings;

static void
setup_requests(void)
{
	const struct side_options options = { .sends = MANY, .patient = true };

	side_make(&one, &options);
	side_make(&other, &options);
	stranger = line_slot_take(&door);
	side_to_init(&one, NULL);
	side_to_init(&other, NULL);
	side_to_rtr(&one, stranger << 14 | 5);
	side_to_rtr(&other, stranger << 14 | 6);
	side_to_rts(&one, &options);
	side_to_rts(&other, &options);
}

static void
teardown_requests(void)
{
	soft_rings_unmap(&rings);
	close(line);
	line_slot_leave(stranger, door);
	side_free(&one);
	side_free(&other);
}

CASE("soft-share:requests", setup_requests, teardown_requests);

/* They wait for the peer to welcome the link. */
TEST(many_requests_of_one_queue_pair__that_of_another_does_not_wait_for_all_of_them)
{
	struct soft_welcome_frame welcome;
	struct soft_frame frame;
	int before = 0;

	for (uint64_t i = 0; i < MANY; i++)
		ck_assert_int_eq(side_rdma_raw(&one, IBV_WR_RDMA_WRITE, i, 0, 4096, 1, 8), 0);
	ck_assert_int_eq(side_rdma_raw(&other, IBV_WR_RDMA_WRITE, 0, 0, 4096, 1, 8), 0);
	line = line_accept_rings(door, &rings);
	soft_peer_welcome(&welcome, SOFT_WELCOME_RINGS);
	line_send(line, &welcome, sizeof welcome);
	for (int i = 0; i <= MANY; i++) {
		frame = line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);
		if (frame.from == other.qp->qp_num)
			before = i;
	}
	ck_assert_int_gt(before, 0);
	ck_assert_int_lt(before, MANY);
}
