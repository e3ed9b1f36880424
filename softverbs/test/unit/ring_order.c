/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_order -- the steps of one side of a ring, with the whole operation of the other side between
 * any two of them
 *
 * ring.c is compiled here once more, with a call in front of each atomic access.  One side runs; in
 * front of its first, second, ...  access the other side runs to its end.  Whichever access that
 * is, nothing may be lost: the reader sees the frame or is notified of it, and the writer sees the
 * room or is notified of it.
 */
#include "story.h"

#include "softverbs/wire/wire.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void access_made(void);

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_load_explicit
#undef atomic_store_explicit
/* clang has other names for what the standard's macros are made of. */
#ifdef __clang__
#define LOAD(at) __c11_atomic_load(at, __ATOMIC_SEQ_CST)
#define STORE(at, value) __c11_atomic_store(at, value, __ATOMIC_SEQ_CST)
#define EXCHANGE(at, value) __c11_atomic_exchange(at, value, __ATOMIC_SEQ_CST)
#else
#define LOAD(at) __atomic_load_n(at, __ATOMIC_SEQ_CST)
#define STORE(at, value) __atomic_store_n(at, value, __ATOMIC_SEQ_CST)
#define EXCHANGE(at, value) __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST)
#endif
#define atomic_load(at) (access_made(), LOAD(at))
#define atomic_store(at, value) (access_made(), STORE(at, value))
#define atomic_exchange(at, value) (access_made(), EXCHANGE(at, value))
#define atomic_load_explicit(at, order) (access_made(), (void)(order), LOAD(at))
#define atomic_store_explicit(at, value, order) (access_made(), (void)(order), STORE(at, value))

/* Beside those of the device. */
#define soft_rings_create order_rings_create
#define soft_rings_attach order_rings_attach
#define soft_rings_unmap order_rings_unmap
#define soft_ring_put order_ring_put
#define soft_ring_wait_for_room order_ring_wait_for_room
#define soft_ring_take_alarm order_ring_take_alarm
#define soft_ring_is_unread order_ring_is_unread
#define soft_ring_arm order_ring_arm
#define soft_ring_armed order_ring_armed
#define soft_ring_ready order_ring_ready
#define soft_ring_seems_unread order_ring_seems_unread
#define soft_ring_peek order_ring_peek
#define soft_ring_bytes order_ring_bytes
#define soft_ring_next order_ring_next

#include "softverbs/wire/ring.c"

/* --- the other side runs once, in front of an access */

static void (*other_side)(void);
static int left; /* accesses until it runs; negative: it has run, or does not */

static void
access_made(void)
{
	void (*const run)(void) = other_side;

	if (left < 0 || left--)
		return;
	left = -1;
	run();
}

/*
 * Runs `one` with `two` in front of its access `number`.  False if it makes fewer accesses: then
 * `two` has run behind it.
 */
static bool
interleave(void (*one)(void), void (*two)(void), int number)
{
	bool ran;

	other_side = two;
	left = number;
	one();
	ran = left < 0;
	left = -1;
	if (!ran)
		two();
	return ran;
}

static struct soft_rings here, there;

static void
setup(void)
{
	int memory;

	left = -1;
	memory = soft_rings_create(&here);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(soft_rings_attach(&there, memory, here.token), 0);
	close(memory);
}

static void
teardown(void)
{
	soft_rings_unmap(&here);
	soft_rings_unmap(&there);
}

/* --- a frame, and the alarm that the reader asks for */

static enum soft_ring_alarm taken, asked;
static bool seen, keeps;

static void
write_frame(void)
{
	const struct soft_frame frame = { .type = SOFT_FRAME_ACK };

	ck_assert_int_eq(soft_ring_put(&here.out, &frame, NULL, 0), 0);
	taken = soft_ring_take_alarm(&here.out);
}

static void
ask_and_look(void)
{
	soft_ring_arm(&there.in, asked);
	seen = soft_ring_ready(&there.in) > 0;
}

static void
run_alarm(bool writer_first, int number, bool *more)
{
	setup();
	/* An alarm of before, or none. */
	if (!keeps)
		(void)soft_ring_take_alarm(&here.out);
	taken = SOFT_ALARM_NONE;
	seen = false;
	*more = writer_first ? interleave(write_frame, ask_and_look, number) :
			       interleave(ask_and_look, write_frame, number);
	ck_assert_msg(seen || taken == asked || (keeps && taken == SOFT_ALARM_PROGRESS),
	    "access %d of the %s: the reader sleeps", number, writer_first ? "writer" : "reader");
	teardown();
}

CASE("soft-ring-order:order");

/* origin: out33.RING */
TEST_LOOP(reader_asks_for_an_alarm__writer_at_any_step_of_it__frame_is_seen_or_announced, 8)
{
	bool more = true;
	int number;

	keeps = _i / 4;
	asked = _i / 2 % 2 ? SOFT_ALARM_WAITER : SOFT_ALARM_PROGRESS;
	for (number = 0; more; number++)
		run_alarm(_i % 2, number, &more);
	ck_assert_int_gt(number, 2);
}

/* --- a full ring, and the room that the writer asks for */

static bool room, notified;
static struct soft_frame large;
static char payload[SOFT_WIRE_PAYLOAD];

static int
put_large(void)
{
	const struct iovec iov = { payload, large.length };

	return soft_ring_put(&here.out, &large, &iov, 1);
}

static void
write_or_wait(void)
{
	room = put_large() == 0 || soft_ring_wait_for_room(&here.out);
}

static void
read_all(void)
{
	struct soft_frame frame;
	int ready;

	while ((ready = soft_ring_ready(&there.in)) > 0) {
		ck_assert_ptr_nonnull(soft_ring_peek(&there.in, ready, &frame));
		notified |= soft_ring_next(&there.in, soft_ring_bytes(&frame));
	}
}

static void
run_room(bool writer_first, int number, bool *more)
{
	setup();
	large = (struct soft_frame){ .type = SOFT_FRAME_REQUEST, .length = sizeof payload };
	while (!put_large())
		;
	room = notified = false;
	*more = writer_first ? interleave(write_or_wait, read_all, number) :
			       interleave(read_all, write_or_wait, number);
	ck_assert_msg(room || notified, "access %d of the %s: the writer waits for ever", number,
	    writer_first ? "writer" : "reader");
	/* What was asked for is asked for once. */
	read_all();
	notified = false;
	ck_assert_int_eq(put_large(), 0);
	read_all();
	ck_assert(!notified || room);
	teardown();
}

/* origin: out33.RING */
TEST_LOOP(writer_asks_for_room__reader_at_any_step_of_it__room_is_seen_or_announced, 2)
{
	bool more = true;
	int number;

	for (number = 0; more; number++)
		run_room(_i, number, &more);
	ck_assert_int_gt(number, 2);
}

/* --- what is counted is there */

static uint32_t marks;

static void
write_marked(void)
{
	const struct iovec iov = { payload, 4096 };

	large = (struct soft_frame){ .type = SOFT_FRAME_REQUEST, .length = 4096 };
	for (uint32_t i = 0; i < 3; i++) {
		large.psn = ++marks;
		memset(payload, (int)marks, iov.iov_len);
		ck_assert_int_eq(soft_ring_put(&here.out, &large, &iov, 1), 0);
	}
}

static uint32_t read_marks;

static void
read_marked(void)
{
	struct soft_frame frame;
	const char *bytes;
	int ready;

	while ((ready = soft_ring_ready(&there.in)) > 0) {
		bytes = soft_ring_peek(&there.in, ready, &frame);
		ck_assert_ptr_nonnull(bytes);
		ck_assert_uint_eq(frame.psn, ++read_marks);
		for (int i = 0; i < 4096; i++)
			ck_assert_int_eq(bytes[i], (char)read_marks);
		(void)soft_ring_next(&there.in, soft_ring_bytes(&frame));
	}
}

/* origin: out33.RING */
TEST_LOOP(writer_at_any_step_of_a_frame__what_the_reader_finds_is_whole, 2)
{
	bool more = true;

	for (int number = 0; more; number++) {
		setup();
		marks = read_marks = 0;
		more = _i ? interleave(write_marked, read_marked, number) :
			    interleave(read_marked, write_marked, number);
		read_marked();
		ck_assert_uint_eq(read_marks, marks);
		teardown();
	}
}
