/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line -- a raw connection to a device, for tests that send frames themselves
 *
 * The device must be in use in this process, which plays both ends.
 */
#ifndef SOFT_LINE_H
#define SOFT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "softverbs/wire/ring.h"

/* Connects to the process that has the slot; a descriptor. */
int line_open(unsigned int slot);

/*
 * Says hello, as the process that has the slot.  The device looks who listens on that slot's
 * socket, so it must be the caller: see line_slot_take().
 */
void line_greet(int line, unsigned int slot);

/*
 * The same with memory to share, of that token, which the caller closes after the WELCOME; that is
 * not read.
 */
void line_offer(int line, unsigned int slot, int memory, uint64_t token);
/* The answer: whether the memory was taken. */
bool line_welcomed(int line);
/* Both, with new memory, which must be taken. */
void line_share(int line, unsigned int slot, struct soft_rings *rings);

void line_send(int line, const void *bytes, size_t length);

/* Sends a byte with descriptors, at most 4: false if the kernel refuses. */
bool line_try_descriptors(int line, const int *descriptors, size_t count);

/* A socket of ours in which this descriptor waits, which is no one else's then. */
int line_trap(int fd);

/* A socket whose last descriptor takes 1000 s to close, until its far end is closed. */
int line_lingering(int *far_end);

/* Waits until the device notifies our progress thread, and reads all of these bytes. */
void line_expect_byte(int line);

/* Waits for the next frame in the ring: it is of that type.  The payload is not looked at. */
struct soft_frame line_expect_frame(struct soft_ring *ring, uint8_t type);

/* Waits until the other end has closed the line, and closes it. */
void line_expect_hung_up(int line);

/* Answers a request of the device. */
void line_answer(int line, const struct soft_frame *to, enum soft_frame_type type, uint8_t reason);

/* A free slot, and its listening socket. */
unsigned int line_slot_take(int *door);
/* The device's link to that slot, after its hello; callers that only look are passed over. */
int line_accept(int door);
/* The same with its memory; the caller sends the WELCOME. */
int line_accept_rings(int door, struct soft_rings *rings);
void line_slot_leave(unsigned int slot, int door);

#endif
