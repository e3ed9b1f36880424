/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bell -- an eventfd that wakes a thread
 *
 * Ringing and clearing it work whether or not the consumer made the descriptor non-blocking.  Neither is a cancellation
 * point.
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

#endif
