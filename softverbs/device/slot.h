/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot -- the number of this process among those of its user that use the device on this host
 *
 * It forms the upper ten bits of queue-pair numbers.  The process that owns the name of a slot
 * (names.h) listens on its socket, where other processes connect to reach it.
 */
#ifndef SOFT_SLOT_H
#define SOFT_SLOT_H

#include "soft.h"

#include <sys/types.h>

#define SOFT_SLOT_MIN 1
#define SOFT_SLOT_MAX 1022 /* 1023 would reach the multicast number 0xffffff */

/* 0, or -errno: -EUSERS when a thousand processes use the device already. */
int soft_slot_open(void) REQUIRES(soft_locks.runtime);
void soft_slot_close(void) REQUIRES(soft_locks.runtime);

/* The socket, listening. */
int soft_slot_fd(void);

/* The slot of this process; 0 before soft_slot_open(). */
unsigned int soft_slot_number(void);

/*
 * Whether the user of the process at the other end is the one of this process: no other is spoken
 * with.  If it is not, because this process has changed its user, a line is printed, once.
 */
bool soft_slot_is_of_user(uid_t peer);

/*
 * Connects to the process with a slot: a non-blocking descriptor or -errno.  -ECONNREFUSED or
 * -ENOENT if there is none, -EAGAIN if too many connections wait to be accepted.  Not a
 * cancellation point.
 */
int soft_slot_connect(unsigned int slot);

/* In a forked child: closes the parent's socket. */
void soft_slot_reset(void);

#endif
