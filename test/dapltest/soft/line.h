/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line -- a raw connection to a device, for tests that send frames themselves
 *
 * The device must be in use in this process, which plays both ends.
 */
#ifndef SOFT_LINE_H
#define SOFT_LINE_H

#include <stdint.h>

/* Connects to the process that has the slot; a descriptor. */
int line_open(unsigned int slot);

/*
 * Says hello, as the process that has the slot.  The device looks who listens on that slot's
 * socket, so it must be the caller: see line_slot_take().
 */
void line_greet(int line, unsigned int slot);

/* Waits until the other end has closed the line, and closes it. */
void line_expect_hung_up(int line);

/* A free slot, and its listening socket. */
unsigned int line_slot_take(int *door);
/* The device's link to that slot, after its hello; callers that only look are passed over. */
int line_accept(int door);
void line_slot_leave(unsigned int slot, int door);

#endif
