/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bell -- an eventfd that makes an event list readable
 *
 * It is rung for each entry that the list gets, so that a thread that waits for edges sees one for
 * each, and hushed when the list becomes empty, both under the lock of the list.  Both work whether
 * or not the consumer made the descriptor non-blocking.  Neither is a cancellation point.
 */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include "soft.h"

/* A descriptor, or -1 with errno. */
int soft_bell_open(void);
void soft_bell_ring(int fd);
void soft_bell_clear(int fd);

/* A bell of another process: false if it is none.  Ringing it never waits. */
bool soft_bell_adopt(int fd);

/* False, with errno, for a non-blocking descriptor (EAGAIN) or none at all. */
bool soft_bell_is_blocking(int fd);

/*
 * Waits until the bell may have rung: 0, or -1 with errno EAGAIN for a non-blocking
 * descriptor or EINTR.  A cancellation point: the caller holds no lock.
 */
int soft_bell_wait(int fd);

#endif
