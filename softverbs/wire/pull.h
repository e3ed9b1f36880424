/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pull -- reading the memory of another process, which sent the addresses of its data
 *
 * The side that receives a message reads it from where it was posted, by the thread of fetch.h, and
 * copies it to where it is to be, under its own lock of the keys: no key of ours has to be known to
 * the other process, and no lock is shared.
 */
#ifndef SOFT_PULL_H
#define SOFT_PULL_H

#include "fetch.h"

/* A process whose memory is read; see grant.h. */
struct soft_grantor {
	struct soft_fetch_source source; /* its pid is 0: its memory cannot be read */
	uint64_t address;		 /* of the number of its grant */
};

/* Data that is to be read. */
struct soft_pull {
	struct soft_grantor *from;
	uint64_t number; /* of the grant when the addresses were sent */
	int count;
	struct soft_wire_segment segments[SOFT_MAX_SGE];
};

/*
 * Takes the addresses from the payload of a frame, which is copied before it is checked: the length
 * of the data, or 0 if they are malformed.
 */
uint32_t soft_pull_parse(
    struct soft_pull *pull, const struct soft_frame *frame, const char *payload);

/*
 * Reads all of the data: the bytes, until the next read, or NULL.  They are of the time before the
 * grant was revoked.
 */
char *soft_pull_read(const struct soft_pull *pull) REQUIRES(soft_locks.fetch);

/* Whether the memory of that process can be read, where its grant has a number like this one. */
bool soft_pull_works(struct soft_grantor *from, uint64_t number) SOFT_NO_FETCH_LOCK;

#endif
