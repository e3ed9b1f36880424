/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pull -- reading the memory of another process, which sent the addresses of its data
 *
 * The side that receives a message copies it, from where it was posted to where it is to be, under
 * its own lock of the keys: no key of ours has to be known to the other process, and no lock is
 * shared.
 */
#ifndef SOFT_PULL_H
#define SOFT_PULL_H

#include "wire.h"

#include <sys/types.h>
#include <sys/uio.h>

/* A process whose memory is read; see grant.h. */
struct soft_grantor {
	pid_t pid;	  /* 0: its memory cannot be read */
	uint64_t address; /* of the number of its grant */
};

/* Data that is to be read. */
struct soft_pull {
	const struct soft_grantor *from;
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
 * Reads all of the data: 0, or -errno.  -ESTALE: the grant was revoked meanwhile.  The target may
 * have been written to then.
 */
int soft_pull_read(const struct soft_pull *pull, const struct iovec *to, int count);

/* Whether the memory of that process can be read, where its grant has a number like this one. */
bool soft_pull_works(const struct soft_grantor *from, uint64_t number);

#endif
