/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bell -- an eventfd that wakes a thread of this process
 *
 * No other process has one: it would share the flags and the counter, on which it depends whether a
 * write waits (knock.h is for other processes).
 *
 * Ringing and clearing it work whether or not the consumer made the descriptor non-blocking.
 * Neither is a cancellation point.
 *
 * Clearing it never waits, if the kernel reads an eventfd without waiting.  Linux does so since
 * 5.8; emulators and filters of system calls may refuse it.  There, no other thread may read it at
 * the same time: soft_bell_wait() waits without reading.
 */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include "soft.h"

/* A descriptor, or -1 with errno. */
int soft_bell_open(void);
void soft_bell_ring(int fd);
void soft_bell_clear(int fd);

/* Of a bell that is not rung: another thread may read it while one clears it. */
bool soft_bell_may_be_read(int fd);

/* False, with errno, for a non-blocking descriptor (EAGAIN) or none at all. */
bool soft_bell_is_blocking(int fd);

/* Waits until it is rung, unless it does not block: 0, or -1 with errno.  A cancellation point. */
int soft_bell_wait(int fd);

#endif
