/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bell -- an eventfd that wakes a thread of this process
 *
 * No other process has one: it would share the flags and the counter, on which it depends whether a
 * write waits (knock.h is for other processes).
 *
 * Ringing and clearing it work whether or not the consumer made the descriptor non-blocking.
 * Neither is a cancellation point.
 */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include "soft.h"

/* A descriptor, or -1 with errno. */
int soft_bell_open(void);
void soft_bell_ring(int fd);
void soft_bell_clear(int fd);

/* False, with errno, for a non-blocking descriptor (EAGAIN) or none at all. */
bool soft_bell_is_blocking(int fd);

#endif
