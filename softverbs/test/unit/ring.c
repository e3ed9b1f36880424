/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring -- the memory that two processes share: what is written is read, and nothing else is
 * believed
 */
#include "starve.h"
#include "story.h"

#include "softverbs/wire/ring.h"

#include <fcntl.h>
#include <sys/mman.h>

#define BYTES (512u << 10)
#define HEADER (64u << 10)
#define TOTAL (HEADER + 2 * BYTES)
#define LINE 64u

/* Both ends; `words` are the four words of a ring, as the other process sees them. */
static struct soft_rings here, there;
static int memory;

struct words {
	_Alignas(64) atomic_uint written;
	_Alignas(64) atomic_uint read;
	_Alignas(64) atomic_uint alarm;
	_Alignas(64) atomic_uint full;
};

static struct words *
words_of(const struct soft_ring *ring)
{
	return (struct words *)(void *)ring->shared;
}

static void
setup(void)
{
	memory = soft_rings_create(&here);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(soft_rings_attach(&there, memory, here.token), 0);
}

static void
teardown(void)
{
	soft_rings_unmap(&here);
	soft_rings_unmap(&there);
	close(memory);
}

static char bytes[SOFT_WIRE_PAYLOAD];

static int
put(struct soft_ring *ring, uint32_t number, uint32_t length)
{
	const struct soft_frame frame = { .length = length, .type = SOFT_FRAME_CM, .psn = number };
	const struct iovec halves[] = { { bytes, length / 2 },
		{ bytes + length / 2, length - length / 2 } };

	memset(bytes, (int)(number * 7 + 1), length);
	return soft_ring_put(ring, &frame, halves, 2);
}

/* Whether the reader has notified the writer of room. */
static bool
take(struct soft_ring *ring, uint32_t number, uint32_t length)
{
	const int ready = soft_ring_ready(ring);
	struct soft_frame frame;
	const char *payload;

	ck_assert_int_gt(ready, 0);
	payload = soft_ring_peek(ring, ready, &frame);
	ck_assert_ptr_nonnull(payload);
	ck_assert_uint_eq(frame.psn, number);
	ck_assert_uint_eq(frame.length, length);
	memset(bytes, (int)(number * 7 + 1), length);
	ck_assert_mem_eq(payload, bytes, length);
	return soft_ring_next(ring, soft_ring_bytes(&frame));
}

static uint32_t
length_of(uint32_t number)
{
	return number % 5 ? number * 977 % 9000 : SOFT_WIRE_PAYLOAD - number % 3;
}

/* --- frames */

CASE("soft-ring:frames", setup, teardown);

TEST_LOOP(frames_of_all_lengths__many_times_around__come_whole_and_in_order, 2)
{
	struct soft_ring *const from = _i ? &there.out : &here.out;
	struct soft_ring *const to = _i ? &here.in : &there.in;
	uint32_t head = 0;

	for (uint32_t i = 0; i < 2000; i++) {
		while (put(from, i, length_of(i)) == -EAGAIN) {
			(void)take(to, head, length_of(head));
			head++;
		}
	}
	while (head < 2000) {
		(void)take(to, head, length_of(head));
		head++;
	}
	ck_assert_int_eq(soft_ring_ready(to), 0);
}

TEST(directions__do_not_touch_each_other)
{
	ck_assert_int_eq(put(&here.out, 1, 100), 0);
	ck_assert_int_eq(put(&there.out, 2, 200), 0);
	ck_assert_int_eq(put(&here.out, 3, 300), 0);
	take(&here.in, 2, 200);
	take(&there.in, 1, 100);
	take(&there.in, 3, 300);
	ck_assert_int_eq(soft_ring_ready(&here.in), 0);
	ck_assert_int_eq(soft_ring_ready(&there.in), 0);
}

TEST(full_ring__takes_nothing_until_it_was_read)
{
	uint32_t n = 0;

	while (!put(&here.out, n, 65536 - 64))
		n++;
	ck_assert_uint_eq(n, BYTES / 65536);
	ck_assert_int_eq(put(&here.out, n, 0), -EAGAIN);
	for (uint32_t i = 0; i < n; i++)
		take(&there.in, i, 65536 - 64);
	ck_assert_int_eq(put(&here.out, n, 0), 0);
}

/* --- notification */

CASE("soft-ring:alarm", setup, teardown);

TEST(alarm__is_taken_once_and_as_it_was_asked_for)
{
	/* A new ring notifies the progress thread: no other thread can have asked. */
	ck_assert_int_eq(soft_ring_take_alarm(&here.out), SOFT_ALARM_PROGRESS);
	ck_assert_int_eq(soft_ring_take_alarm(&here.out), SOFT_ALARM_NONE);
	ck_assert_int_eq(soft_ring_take_alarm(&there.out), SOFT_ALARM_PROGRESS);
	soft_ring_arm(&there.in, SOFT_ALARM_WAITER);
	ck_assert_int_eq(soft_ring_armed(&there.in), SOFT_ALARM_WAITER);
	ck_assert_int_eq(soft_ring_take_alarm(&there.out), SOFT_ALARM_NONE);
	ck_assert_int_eq(soft_ring_take_alarm(&here.out), SOFT_ALARM_WAITER);
	ck_assert_int_eq(soft_ring_take_alarm(&here.out), SOFT_ALARM_NONE);
	words_of(&here.out)->alarm = 77;
	ck_assert_int_eq(soft_ring_take_alarm(&here.out), SOFT_ALARM_PROGRESS);
}

TEST(unread__until_the_last_frame_was_read)
{
	ck_assert(!soft_ring_is_unread(&here.out));
	ck_assert(!soft_ring_seems_unread(&there.in));
	ck_assert_int_eq(put(&here.out, 1, 0), 0);
	ck_assert_int_eq(put(&here.out, 2, 0), 0);
	take(&there.in, 1, 0);
	ck_assert(soft_ring_is_unread(&here.out));
	ck_assert(soft_ring_seems_unread(&there.in));
	take(&there.in, 2, 0);
	ck_assert(!soft_ring_is_unread(&here.out));
	ck_assert(!soft_ring_seems_unread(&there.in));
}

TEST(writer_that_waits_for_room__is_notified_once_when_half_is_free)
{
	uint32_t n = 0, notified = 0, at = 0;

	while (!put(&here.out, n, 65536 - 64))
		n++;
	ck_assert(!soft_ring_wait_for_room(&here.out));
	for (uint32_t i = 0; i < n; i++)
		if (take(&there.in, i, 65536 - 64)) {
			notified++;
			at = i + 1;
		}
	ck_assert_uint_eq(notified, 1);
	ck_assert_uint_eq(at, n / 2);
	ck_assert(soft_ring_wait_for_room(&here.out));
	/* A reader whose writer does not wait sends no notification. */
	words_of(&here.out)->full = 0;
	ck_assert_int_eq(put(&here.out, n, 0), 0);
	ck_assert(!take(&there.in, n, 0));
}

/* --- what the other process writes is not believed */

CASE("soft-ring:distrust", setup, teardown);

TEST_LOOP(counter_of_the_writer__beyond_the_ring_or_within_a_line__is_refused, 6)
{
	const uint32_t wrong[] = { BYTES + LINE, 1, LINE - 1, BYTES - 1, 0x80000000, 0xffffffc0 };

	words_of(&here.out)->written = wrong[_i];
	ck_assert_int_eq(soft_ring_ready(&there.in), -EPROTO);
}

TEST_LOOP(counter_of_the_reader__beyond_what_was_written__is_refused, 2)
{
	ck_assert_int_eq(put(&here.out, 1, 100), 0);
	words_of(&here.out)->read = _i ? 0x80000000 : 4096;
	ck_assert_int_eq(put(&here.out, 2, 100), -EPROTO);
	/* The writer does not wait for such a reader. */
	ck_assert(soft_ring_wait_for_room(&here.out));
}

TEST(own_counter__overwritten_by_the_other_side__is_not_read_back)
{
	ck_assert_int_eq(put(&here.out, 1, 0), 0);
	words_of(&here.out)->written = 12345;
	words_of(&there.in)->read = 0;
	ck_assert_int_eq(put(&here.out, 2, 0), 0);
	take(&there.in, 1, 0);
	words_of(&there.in)->read = 0;
	take(&there.in, 2, 0);
	ck_assert(!soft_ring_is_unread(&here.out));
}

TEST(length_of_a_frame__beyond_what_is_ready_or_allowed__is_refused)
{
	struct soft_frame *const there_in = (void *)there.in.bytes;
	struct soft_frame frame;

	ck_assert_int_eq(put(&here.out, 1, 100), 0);
	there_in->length = 129;
	ck_assert_ptr_null(soft_ring_peek(&there.in, soft_ring_ready(&there.in), &frame));
	there_in->length = 128;
	ck_assert_ptr_nonnull(soft_ring_peek(&there.in, soft_ring_ready(&there.in), &frame));
	there_in->length = 0xffffffff;
	ck_assert_ptr_null(soft_ring_peek(&there.in, soft_ring_ready(&there.in), &frame));
	there_in->length = SOFT_WIRE_PAYLOAD + 1;
	ck_assert_ptr_null(soft_ring_peek(&there.in, BYTES, &frame));
}

/* --- the memory itself */

static int
make_memory(size_t length, unsigned int seals)
{
	const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)length), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

CASE("soft-ring:memory");

TEST_LOOP(memory_of_another_length_or_without_seals__is_refused, 6)
{
	const struct {
		size_t length;
		unsigned int seals;
	} wrong[] = {
		{ TOTAL - 1, F_SEAL_SHRINK | F_SEAL_GROW },
		{ 4096, F_SEAL_SHRINK | F_SEAL_GROW },
		{ 2 * TOTAL, F_SEAL_SHRINK | F_SEAL_GROW },
		{ TOTAL, F_SEAL_GROW },
		{ TOTAL, 0 },
		{ TOTAL, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE },
	};
	const int fd = make_memory(wrong[_i].length, wrong[_i].seals);
	struct soft_rings rings = { .area = NULL };

	ck_assert_int_lt(soft_rings_attach(&rings, fd, 0), 0);
	ck_assert_ptr_null(rings.area);
	close(fd);
}

TEST(descriptor_that_is_no_memory__is_refused)
{
	struct soft_rings rings = { .area = NULL };
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_lt(soft_rings_attach(&rings, ends[0], 0), 0);
	close(ends[0]);
	close(ends[1]);
	ck_assert_int_lt(soft_rings_attach(&rings, ends[0], 0), 0);
}

/* The memory, each of its mappings; of another token it is refused. */
/* origin: out33.U14 */
TEST(memory__anything_missing__is_that_error_and_leaves_nothing)
{
	struct soft_rings mine = { .area = NULL }, its = { .area = NULL };
	struct starve_held before;
	int fd = -1, r;

	starve_begin();
	before = starve_held_now(-1);
	for (int n = 1; fd < 0; n++) {
		starve_failed = 0;
		starve_countdown = n;
		fd = soft_rings_create(&mine);
		starve_countdown = 0;
		if (fd >= 0)
			break;
		ck_assert_int_eq(fd, -starve_failed);
		ck_assert_ptr_null(mine.area);
		starve_expect_held(&before, "without memory");
	}
	before = starve_held_now(-1);
	for (int n = 6; n >= 0; n--) { /* 0: nothing */
		starve_countdown = n;
		r = soft_rings_attach(&its, fd, mine.token + 1);
		starve_countdown = 0;
		ck_assert_int_eq(r, n ? -ENOMEM : -EPROTO);
		ck_assert_ptr_null(its.area);
		starve_expect_held(&before, "without a mapping");
	}
	ck_assert_int_eq(soft_rings_attach(&its, fd, mine.token), 0);
	soft_rings_unmap(&mine);
	soft_rings_unmap(&its);
	close(fd);
	starve_end();
}

CASE("soft-ring:seals", setup, teardown);

TEST(memory__cannot_be_made_shorter)
{
	ck_assert_int_eq(ftruncate(memory, 4096), -1);
	ck_assert_int_eq(errno, EPERM);
}
