/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"
#include "softverbs/device/descriptors.h"
#include "softverbs/device/size.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of each direction; a multiple of every page size, and more than three of the longest frames. */
#define BYTES (512u << 10)
#define MASK (BYTES - 1)

/* Frames begin at a cache line. */
#define LINE 64u

#define FRAME_MAX (sizeof(struct soft_frame) + SOFT_WIRE_PAYLOAD)

/*
 * The counters of the two sides are in lines of their own.  Each side stores its own, and then
 * loads what the other asks for; the other stores what it asks for, and then loads the counter.
 * With sequentially consistent accesses at least one of the two sees the store of the other.
 */
struct soft_ring_shared {
	_Alignas(LINE) atomic_uint written;
	_Alignas(LINE) atomic_uint read;
	_Alignas(LINE) atomic_uint alarm; /* set by the reader, cleared by either side */
	/* set by the writer that waits for room, cleared by the reader */
	_Alignas(LINE) atomic_uint full;
};

/* The counters of both directions; as long as the largest page of the hosts that run this. */
#define HEADER (64u << 10)
#define TOTAL (HEADER + 2 * BYTES)

/* Where the memory has the token of its link, so that it is not taken for that of another. */
#define TOKEN_AT 512u

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

_Static_assert(sizeof(struct soft_frame) == LINE, "headers are aligned as frames are");
_Static_assert(2 * sizeof(struct soft_ring_shared) <= TOKEN_AT, "the counters fit");
_Static_assert(SOFT_WIRE_PAYLOAD % LINE == 0, "the longest frame is not rounded up");

static bool
ring_map_file(char *at, size_t length, int fd, size_t offset)
{
	return mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		   (off_t)offset) != MAP_FAILED;
}

/* `first`: whether this side writes to the first of the two. */
static int
ring_map_all(struct soft_rings *rings, int fd, bool first)
{
	struct soft_ring *one = first ? &rings->out : &rings->in;
	struct soft_ring *two = first ? &rings->in : &rings->out;
	const size_t length = HEADER + 4 * BYTES;
	char *area = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (area == MAP_FAILED)
		return -errno;
	*one = (struct soft_ring){ .shared = (void *)area, .bytes = area + HEADER };
	*two = (struct soft_ring){ .shared = one->shared + 1, .bytes = one->bytes + 2 * BYTES };
	if (ring_map_file(area, HEADER, fd, 0) && ring_map_file(one->bytes, BYTES, fd, HEADER) &&
	    ring_map_file(one->bytes + BYTES, BYTES, fd, HEADER) &&
	    ring_map_file(two->bytes, BYTES, fd, HEADER + BYTES) &&
	    ring_map_file(two->bytes + BYTES, BYTES, fd, HEADER + BYTES) &&
	    !madvise(area, length, MADV_DONTFORK)) {
		rings->area = area;
		return 0;
	}
	r = -errno;
	munmap(area, length);
	return r;
}

static _Atomic(uint64_t) *
ring_token(const struct soft_rings *rings)
{
	return (void *)(rings->area + TOKEN_AT);
}

int
soft_rings_create(struct soft_rings *rings)
{
	const int fd =
	    soft_descriptors_keep(memfd_create("softverbs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	int r;

	if (fd < 0)
		return -errno;
	r = soft_size_check(TOTAL);
	if (!r)
		r = ftruncate(fd, TOTAL) || fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
	if (!r)
		r = ring_map_all(rings, fd, true);
	if (r) {
		soft_close(fd);
		return r;
	}
	*ring_token(rings) = rings->token = (uint64_t)soft_random32() << 32 | soft_random32();
	soft_ring_arm(&rings->in, SOFT_ALARM_PROGRESS);
	soft_ring_arm(&rings->out, SOFT_ALARM_PROGRESS); /* for the other side, until it is there */
	return fd;
}

int
soft_rings_attach(struct soft_rings *rings, int fd, uint64_t token)
{
	struct stat st;
	int r;
	const int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) || st.st_size != TOTAL)
		return -EPROTO;
	r = ring_map_all(rings, fd, false);
	if (r || *ring_token(rings) == token)
		return r;
	soft_rings_unmap(rings);
	return -EPROTO;
}

void
soft_rings_unmap(struct soft_rings *rings)
{
	if (rings->area)
		munmap(rings->area, HEADER + 4 * BYTES);
	rings->area = NULL;
}

/* Bytes that the reader has not read; more than there are if its counter makes no sense. */
static uint32_t
ring_used(const struct soft_ring *ring, memory_order order)
{
	return ring->at - atomic_load_explicit(&ring->shared->read, order);
}

uint32_t
soft_ring_bytes(const struct soft_frame *frame)
{
	return (uint32_t)(sizeof *frame + frame->length + LINE - 1) & ~(LINE - 1);
}

int
soft_ring_put(
    struct soft_ring *ring, const struct soft_frame *frame, const struct iovec *payload, int count)
{
	const uint32_t used = ring_used(ring, memory_order_acquire);
	const uint32_t bytes = soft_ring_bytes(frame);
	char *to = ring->bytes + (ring->at & MASK);

	if (used > BYTES)
		return -EPROTO;
	if (bytes > BYTES - used)
		return -EAGAIN;
	memcpy(to, frame, sizeof *frame);
	to += sizeof *frame;
	for (int i = 0; i < count; i++) {
		soft_wire_copy(to, payload[i].iov_base, payload[i].iov_len);
		to += payload[i].iov_len;
	}
	ring->at += bytes;
	atomic_store(&ring->shared->written, ring->at);
	return 0;
}

/* A writer that goes on needs room for the longest frame. */
bool
soft_ring_wait_for_room(struct soft_ring *ring)
{
	atomic_store(&ring->shared->full, 1);
	return BYTES - ring_used(ring, memory_order_seq_cst) >= FRAME_MAX;
}

enum soft_ring_alarm
soft_ring_take_alarm(struct soft_ring *ring)
{
	unsigned int alarm = atomic_load(&ring->shared->alarm);

	if (alarm != SOFT_ALARM_NONE)
		alarm = atomic_exchange(&ring->shared->alarm, SOFT_ALARM_NONE);
	return alarm == SOFT_ALARM_NONE || alarm == SOFT_ALARM_WAITER ?
		   (enum soft_ring_alarm)alarm :
		   SOFT_ALARM_PROGRESS;
}

bool
soft_ring_is_unread(const struct soft_ring *ring)
{
	return ring_used(ring, memory_order_relaxed) != 0;
}

void
soft_ring_arm(struct soft_ring *ring, enum soft_ring_alarm alarm)
{
	atomic_store(&ring->shared->alarm, alarm);
}

enum soft_ring_alarm
soft_ring_armed(const struct soft_ring *ring)
{
	return (enum soft_ring_alarm)atomic_load_explicit(
	    &ring->shared->alarm, memory_order_relaxed);
}

int
soft_ring_ready(const struct soft_ring *ring)
{
	const uint32_t ready = atomic_load(&ring->shared->written) - ring->at;

	return ready > BYTES || ready % LINE ? -EPROTO : (int)ready;
}

bool
soft_ring_seems_unread(const struct soft_ring *ring)
{
	return atomic_load_explicit(&ring->shared->written, memory_order_relaxed) !=
	       atomic_load_explicit(&ring->seen, memory_order_relaxed);
}

const char *
soft_ring_peek(const struct soft_ring *ring, int ready, struct soft_frame *frame)
{
	const char *from = ring->bytes + (ring->at & MASK);

	memcpy(frame, from, sizeof *frame);
	soft_ring_copied();
	if (frame->length > SOFT_WIRE_PAYLOAD || soft_ring_bytes(frame) > (uint32_t)ready)
		return NULL;
	return from + sizeof *frame;
}

bool
soft_ring_next(struct soft_ring *ring, uint32_t bytes)
{
	uint32_t left;

	ring->at += bytes;
	atomic_store_explicit(&ring->seen, ring->at, memory_order_relaxed);
	atomic_store(&ring->shared->read, ring->at);
	if (!atomic_load(&ring->shared->full))
		return false;
	left = atomic_load_explicit(&ring->shared->written, memory_order_relaxed) - ring->at;
	return left <= BYTES / 2 && atomic_exchange(&ring->shared->full, 0);
}
