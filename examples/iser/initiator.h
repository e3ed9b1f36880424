/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * initiator -- copies a file to the device of a target and back over N connections
 *
 * The main thread opens, sends orders (write, read, log out) and sleeps.  Each connection, in its
 * upcall, takes the next block that no connection has taken, as long as it has a free task.
 */
#ifndef ISER_INITIATOR_H
#define ISER_INITIATOR_H

#include "adapter.h"
#include "backing.h"
#include "histogram.h"

#include <stdint.h>

struct bell;
struct options;
struct iconn;

/* One direction of the copy. */
struct job {
	uint8_t opcode;		    /* PDU_WRITE or PDU_READ */
	const struct backing *file; /* source, or where the read data go */
	uint64_t blocks;
	atomic_ullong next;	  /* the first block that no connection has taken */
	atomic_ullong done;	  /* blocks answered with PDU_OK */
	uint64_t start, end;	  /* bell_now() */
	struct histogram latency; /* filled by initiator_close() */
};

struct initiator {
	const struct options *options;
	struct bell *bell;
	struct adapter adapter;
	uint64_t bytes; /* to copy */
	struct job write, read;
	struct iconn *conns;
	unsigned int opened; /* of them, created */
	atomic_bool failed;  /* a connection ended that should not have */
	bool stopped;	     /* the user wants it to end, or nothing moved for too long */
};

/* What the wait loop calls now and then; NULL: nothing. */
typedef void (*initiator_progress_fn)(const struct job *job, uint64_t bytes);

/*
 * Opens the adapter and logs in on every connection, at options->address or, without one, at the
 * adapter's own.  0, or -1 when that fails: why was said, and initiator_close() is still due.
 */
int initiator_open(struct initiator *initiator, const struct options *options, struct bell *bell,
    uint16_t port, uint64_t bytes);

/* Writes `source` to the device, or reads the device into `sink`.  0, or -1: it was said why. */
int initiator_write(
    struct initiator *initiator, const struct backing *source, initiator_progress_fn progress);
int initiator_read(
    struct initiator *initiator, const struct backing *sink, initiator_progress_fn progress);

/*
 * Logs out, or aborts after a failure, and frees everything.  Returns the number of calls that
 * failed and should not, and of connections that did not log out; each was reported.
 */
int initiator_close(struct initiator *initiator);

#endif
