/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring -- frames in memory that two processes share
 *
 * A link has two rings in one piece of memory: one for each direction.  A ring has one writer and
 * one reader, each a thread that holds a lock of its own process: the lock of the link, or the
 * input lock.  Only whole frames are published.
 *
 * The other process can write to all of this memory at any time.  A counter of the other side, and
 * the header of a frame, are therefore copied before they are checked, and an own counter is never
 * read back.  The memory cannot be made shorter (seals).
 *
 * The reader asks to be notified by a bell (bell.h of the device is the local kind), and
 * the request is one-shot, as that of a completion queue: the writer takes it with the frame that
 * it announces.  So the reader arms, and then looks at the ring again.
 */
#ifndef SOFT_RING_H
#define SOFT_RING_H

#include "wire.h"

#include <sys/uio.h>

/* What the reader waits on. */
enum soft_ring_alarm {
	SOFT_ALARM_NONE,     /* it reads without being notified */
	SOFT_ALARM_PROGRESS, /* the socket of the link: the progress thread */
	SOFT_ALARM_WAITER,   /* the knocks of the process: a thread in ibv_get_cq_event() */
};

struct soft_ring_shared;

/* One direction, as one of the two processes has it. */
struct soft_ring {
	struct soft_ring_shared *shared;
	char *bytes;	  /* mapped twice in a row, so that a frame is contiguous */
	uint32_t at;	  /* the counter of this side: bytes written, or read; runs freely */
	atomic_uint seen; /* the same of a reader, for its other threads */
};

struct soft_rings {
	struct soft_ring in, out;
	char *area;	/* of the mappings; NULL: there are none */
	uint64_t token; /* of the side that created it */
};

/* Creates and maps the memory, as the side that opens the link: a descriptor of it, or -errno. */
int soft_rings_create(struct soft_rings *rings);

/*
 * Maps what the other side created, with that token: 0 or -errno.  The descriptor is still the
 * caller's.
 */
int soft_rings_attach(struct soft_rings *rings, int fd, uint64_t token);
void soft_rings_unmap(struct soft_rings *rings);

/*
 * Writes a frame whose length is set: 0; -EAGAIN if there is no room; -EPROTO if the counter of the
 * reader makes no sense.
 */
int soft_ring_put(
    struct soft_ring *ring, const struct soft_frame *frame, const struct iovec *payload, int count);

/*
 * The writer asks to be notified of room.  True if there is room for any frame already; otherwise
 * the reader notifies it.
 */
bool soft_ring_wait_for_room(struct soft_ring *ring);

/* After soft_ring_put(): the alarm that the reader asked for, which is used up. */
enum soft_ring_alarm soft_ring_take_alarm(struct soft_ring *ring);

/* Whether the reader has not read everything. */
bool soft_ring_is_unread(const struct soft_ring *ring);

/* The reader asks for an alarm.  It looks at the ring again after this. */
void soft_ring_arm(struct soft_ring *ring, enum soft_ring_alarm alarm);
enum soft_ring_alarm soft_ring_armed(const struct soft_ring *ring);

/* The bytes that can be read now: 0 if none; -EPROTO if the writer's counter makes no sense. */
int soft_ring_ready(const struct soft_ring *ring);

/* Whether there seem to be some, for a thread that is not the reader. */
bool soft_ring_seems_unread(const struct soft_ring *ring);

/*
 * The next frame, of at most `ready` bytes: its header is copied, the payload stays in the ring
 * until soft_ring_next().  NULL if it makes no sense.
 */
const char *soft_ring_peek(const struct soft_ring *ring, int ready, struct soft_frame *frame);

/*
 * After a copy out of shared memory: what is checked next is the copy, and the compiler must not
 * load the original again.
 */
static inline void
soft_ring_copied(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* The bytes that a frame occupies. */
uint32_t soft_ring_bytes(const struct soft_frame *frame);

/* The frame of so many bytes was read.  True if the writer waits for room and must be notified. */
bool soft_ring_next(struct soft_ring *ring, uint32_t bytes);

#endif
