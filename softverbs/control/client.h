/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client -- a connection of softverbs-ctl: one request, and its answer
 *
 * No thread waits for a client: the progress thread reads and writes what it can at once, there are
 * few clients at a time, and each has a few seconds.  All of it is on that thread.
 */
#ifndef SOFT_CLIENT_H
#define SOFT_CLIENT_H

#include "softverbs/device/soft.h"

/* Owns the socket then; false if it is of another user, or memory is short. */
bool soft_client_open(int fd);

/* Closes those whose time ends before: returns when the next one ends, or UINT64_MAX. */
uint64_t soft_clients_close(uint64_t before);

void soft_clients_reset(void); /* in a forked child */

#endif
