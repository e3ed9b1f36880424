/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acceptor -- connections that other processes opened, until their hello has come
 *
 * The first frame on a connection is a hello.  A caller that has not sent it has no link and
 * needs nothing but its descriptor.  There are few such callers at a time, and each has limited
 * time.
 */
#ifndef SOFT_ACCEPTOR_H
#define SOFT_ACCEPTOR_H

#include "softverbs/device/soft.h"

/* Accepts connections on the socket of our slot; the progress thread runs: 0 or -errno. */
int soft_acceptor_open(void) SOFT_NO_LEAF_LOCK;

/* After the progress thread has ended. */
void soft_acceptor_close(void) SOFT_NO_LEAF_LOCK;
void soft_acceptor_reset(void); /* in a forked child */

#endif
