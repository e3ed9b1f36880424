/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grant -- permission for other processes to read what this one sends
 *
 * A requester can send the addresses of data instead of the data.  The process at the other end of
 * the link then reads the data from our memory when it executes the request (pull.h).
 *
 * The grant has a number.  A frame with addresses carries it, and the other process reads it again
 * from our memory, after the data and in the same system call.  If the number has changed, the data
 * is not used: the other process answers with a NAK.  So a thread that ends requests without an
 * answer, or deregisters memory, changes the number before the program can use the memory for
 * something else.
 */
#ifndef SOFT_GRANT_H
#define SOFT_GRANT_H

#include "softverbs/device/soft.h"

#include <sys/uio.h>

/* The first number; before the first link. */
void soft_grant_open(void);

/* The number now, and where another process can read it. */
uint64_t soft_grant_number(void);
const void *soft_grant_address(void);

/* Whether two numbers are of one process, which has perhaps changed it. */
bool soft_grant_is_alike(uint64_t a, uint64_t b);

/*
 * A send queue is about to send addresses, with the number that it reads afterwards; the second:
 * all that it sent were answered, or revoked.  The shared lock of the keys is held from the
 * translation of the addresses until soft_grant_begin() has returned.
 */
void soft_grant_begin(void);
void soft_grant_end(void);

/*
 * Brings in every page of data whose address is sent, so that this thread, and not the one that
 * reads the data, waits for memory that has to be fetched.
 */
void soft_grant_touch(const struct iovec *data, int count);

/* Changes the number: nothing that was sent before can be read from now on. */
void soft_grant_revoke(void);

/* The same, unless no send queue waits for an answer to addresses. */
void soft_grant_revoke_used(void);

#endif
