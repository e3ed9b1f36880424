/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * initiator -- sessions with an iSER target, over which a file is copied to or from a LUN
 *
 * Each connection is a session of its own, with another ISID.  Everything of a connection happens
 * in its upcall; the main thread opens, starts jobs, and waits.  Files are read and written in the
 * upcalls.
 */
#ifndef ISER_ISCSI_INITIATOR_H
#define ISER_ISCSI_INITIATOR_H

#include "iser/datamover/adapter.h"
#include "iser/backing.h"
#include "iser/histogram.h"

#include <stdbool.h>
#include <stdint.h>

#define INITIATOR_CONNECTIONS 64

struct iconn;

struct initiator_options {
	const char *ia;
	const char *name;	   /* of the initiator */
	const char *target;	   /* name of the target */
	const char *user, *secret; /* NULL: without CHAP */
	DAT_IA_ADDRESS_PTR address;
	uint16_t port;
	unsigned int lun, connections, depth;
	uint32_t block_bytes;
	unsigned int timeout; /* seconds in which something must move */
};

struct initiator {
	const struct initiator_options *options;
	struct bell *bell;
	struct adapter adapter;
	struct iconn *conns[INITIATOR_CONNECTIONS];
	uint64_t mark; /* random: what a block ends with that was not read */
	/* Of the LUN, after initiator_open(). */
	uint64_t blocks;
	uint32_t block_bytes; /* of the medium */
	uint32_t most; /* bytes of a command: what was asked for, cut to what the LUN takes */
	/* The job. */
	const struct backing *file;
	bool writes;
	uint64_t bytes;
	atomic_ullong next, done;
	atomic_ullong moved_at; /* bell_now() time: the last command that was done, or the begin */
	atomic_bool failed;	/* why was said */
};

/* Opens the adapter and logs in.  0, or -1: why was said, and initiator_close() is still due. */
int initiator_open(
    struct initiator *initiator, const struct initiator_options *options, struct bell *bell);

/*
 * Copies `bytes` bytes, from the begin on; the rest of a last block of the LUN is zeros.  A write
 * is on the medium when it ends.  How long each command took is added to `latency`.  `progress` is
 * called now and then, or NULL.  0, or -1 after a message.
 */
int initiator_copy(struct initiator *initiator, const struct backing *file, bool writes,
    uint64_t bytes, struct histogram *latency, void (*progress)(uint64_t done, uint64_t total));

/* Logs out and frees everything.  Returns the number of calls that failed and should not. */
int initiator_close(struct initiator *initiator);

#endif
