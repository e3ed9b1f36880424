/* SPDX-License-Identifier: BSD-3-Clause */
#include "initiator.h"

#include "bell.h"
#include "iconn.h"
#include "options.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT (10u * 1000 * 1000) /* microseconds */
#define CLOSE_TIMEOUT (10 * BELL_SECOND)
#define PROGRESS_PERIOD (BELL_SECOND / 10)

static unsigned int
count_state(struct initiator *initiator, enum conn_state state)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < initiator->opened; i++)
		n += conn_state(&initiator->conns[i].conn) == state;
	return n;
}

/* Reports a stuck initiator: what each connection waits for, and the counters of its EVD. */
static void
say_stuck(struct initiator *initiator)
{
	struct dat_rearm_evd_counters evd;

	say("nothing completed for %u s; the connections:", initiator->options->timeout);
	for (unsigned int i = 0; i < initiator->opened; i++) {
		struct conn *conn = &initiator->conns[i].conn;

		say("  connection %u: %s, %ld receives and requests outstanding", i,
		    machine_state(&conn_machine, conn_state(conn)),
		    atomic_load(&conn->outstanding));
		if (dat_evd_query_upcall_counters(conn->watch.evd, &evd) == DAT_SUCCESS)
			say("    its EVD: %llu completions, %llu upcalls, %llu notifications, "
			    "%llu arms",
			    (unsigned long long)evd.dto_events, (unsigned long long)evd.upcalls,
			    (unsigned long long)evd.notifications, (unsigned long long)evd.arms);
	}
}

/*
 * Sleeps until done(initiator), or until something went wrong.  What counts as movement is
 * any finished block; a connection's step rings the bell and counts as well.
 */
static int
initiator_wait(struct initiator *initiator, bool (*done)(struct initiator *), struct job *job,
    initiator_progress_fn progress)
{
	uint64_t patience = initiator->options->timeout * BELL_SECOND;
	uint64_t moved = bell_now(), seen = 0, now;

	while (!done(initiator)) {
		uint64_t blocks = job ? atomic_load(&job->done) : 0;

		now = bell_now();
		if (blocks != seen) {
			seen = blocks;
			moved = now;
		}
		if (atomic_load(&initiator->failed) || atomic_load(&initiator->adapter.catastrophe))
			return -1;
		if (bell_stopped()) {
			say("interrupted");
			initiator->stopped = true;
			return -1;
		}
		if (now - moved > patience) {
			say_stuck(initiator);
			initiator->stopped = true;
			return -1;
		}
		if (job && progress)
			progress(job, initiator->bytes);
		bell_wait(initiator->bell, now + PROGRESS_PERIOD);
	}
	if (job && progress)
		progress(job, initiator->bytes);
	return 0;
}

static bool
all_ready(struct initiator *initiator)
{
	return count_state(initiator, CONN_READY) == initiator->opened;
}

static bool
write_done(struct initiator *initiator)
{
	return atomic_load(&initiator->write.done) == initiator->write.blocks;
}

static bool
read_done(struct initiator *initiator)
{
	return atomic_load(&initiator->read.done) == initiator->read.blocks;
}

static void
job_init(struct job *job, enum pdu_opcode opcode, uint64_t bytes, uint32_t block_bytes)
{
	job->opcode = (uint8_t)opcode;
	job->file = NULL;
	job->blocks = bytes / block_bytes + (bytes % block_bytes != 0);
	atomic_init(&job->next, 0);
	atomic_init(&job->done, 0);
	job->start = job->end = 0;
	histogram_clear(&job->latency);
}

int
initiator_open(struct initiator *initiator, const struct options *options, struct bell *bell,
    uint16_t port, uint64_t bytes)
{
	const struct hello hello = {
		.queue_depth = options->queue_depth,
		.block_bytes = options->block_bytes,
	};
	DAT_IA_ADDRESS_PTR address, own;
	DAT_RETURN ret;

	initiator->options = options;
	initiator->bell = bell;
	initiator->bytes = bytes;
	initiator->opened = 0;
	initiator->stopped = false;
	atomic_init(&initiator->failed, false);
	job_init(&initiator->write, PDU_WRITE, bytes, options->block_bytes);
	job_init(&initiator->read, PDU_READ, bytes, options->block_bytes);
	initiator->conns = calloc(options->connections, sizeof *initiator->conns);
	if (!initiator->conns) {
		say("no memory for %u connections", options->connections);
		return -1;
	}
	if (adapter_open(&initiator->adapter, options->ia, bell))
		return -1;
	own = initiator->adapter.attr.ia_address_ptr;
	address = options_address(options, own->sa_family);
	if (!address)
		address = own;
	for (unsigned int i = 0; i < options->connections; i++) {
		if (iconn_open(&initiator->conns[i], initiator, i))
			return -1;
		initiator->opened++;
		ret =
		    conn_connect(&initiator->conns[i].conn, address, port, CONNECT_TIMEOUT, &hello);
		if (ret != DAT_SUCCESS) {
			say_dat("dat_ep_connect", ret, "connection %u cannot be requested", i);
			return -1;
		}
	}
	return initiator_wait(initiator, all_ready, NULL, NULL);
}

static int
initiator_run(struct initiator *initiator, struct job *job, bool (*done)(struct initiator *),
    initiator_progress_fn progress)
{
	int r;

	job->start = bell_now();
	for (unsigned int i = 0; i < initiator->opened; i++)
		if (conn_order(&initiator->conns[i].conn, job))
			return -1;
	r = initiator_wait(initiator, done, job, progress);
	job->end = bell_now();
	return r;
}

int
initiator_write(
    struct initiator *initiator, const struct backing *source, initiator_progress_fn progress)
{
	initiator->write.file = source;
	return initiator_run(initiator, &initiator->write, write_done, progress);
}

int
initiator_read(
    struct initiator *initiator, const struct backing *sink, initiator_progress_fn progress)
{
	initiator->read.file = sink;
	return initiator_run(initiator, &initiator->read, read_done, progress);
}

static bool
all_finished(struct initiator *initiator)
{
	for (unsigned int i = 0; i < initiator->opened; i++)
		if (!conn_is_finished(&initiator->conns[i].conn))
			return false;
	return true;
}

/* Has every connection end, politely where all went well. */
static void
initiator_end_connections(struct initiator *initiator)
{
	uint64_t deadline = bell_now() + CLOSE_TIMEOUT;
	bool polite = all_ready(initiator) && !initiator->stopped;
	bool aborted = false;

	for (unsigned int i = 0; i < initiator->opened && polite; i++)
		conn_order(&initiator->conns[i].conn, &iconn_logout);
	while (!all_finished(initiator) && bell_now() < deadline) {
		if (!aborted && (!polite || atomic_load(&initiator->failed))) {
			/* One gone is all gone: the rest of the session is of no use. */
			for (unsigned int i = 0; i < initiator->opened; i++)
				conn_order(&initiator->conns[i].conn, &iconn_abort);
			aborted = true;
		}
		bell_wait(initiator->bell, bell_now() + PROGRESS_PERIOD);
	}
}

int
initiator_close(struct initiator *initiator)
{
	bool reported = false;
	int failures = 0;

	initiator_end_connections(initiator);
	for (unsigned int i = 0; i < initiator->opened; i++) {
		struct iconn *ic = &initiator->conns[i];
		struct conn *conn = &ic->conn;

		watch_stop(&conn->watch);
		if (!conn_is_finished(conn)) {
			say("connection %u did not end: state %s, %ld completions are missing", i,
			    machine_state(&conn_machine, conn_state(conn)),
			    atomic_load(&conn->outstanding));
			failures++;
		}
		if (!conn->clean) {
			/* The first reason is the interesting one; the others followed from it. */
			if (conn->reason[0] && strcmp(conn->reason, "given up") != 0 && !reported) {
				say("connection %u: %s", i, conn->reason);
				reported = true;
			}
			failures++;
		}
		histogram_merge(&initiator->write.latency, &ic->latency[0]);
		histogram_merge(&initiator->read.latency, &ic->latency[1]);
		failures += iconn_close(ic);
	}
	free(initiator->conns);
	initiator->conns = NULL;
	initiator->opened = 0;
	return failures + adapter_close(&initiator->adapter);
}
