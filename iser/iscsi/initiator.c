/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/initiator.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/iscsi/iconn.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define PROGRESS (BELL_SECOND / 10)

/* Sleeps until rung, or until `deadline`, or until a command is to be sent again. */
static void
doze(struct initiator *initiator, uint64_t deadline)
{
	for (unsigned int i = 0; i < initiator->options->connections; i++) {
		const uint64_t next = iconn_send_again(initiator->conns[i], bell_now());

		if (next < deadline)
			deadline = next;
	}
	bell_wait(initiator->bell, deadline);
}

/* The patience is at its end. */
static void
say_late(const struct initiator *initiator, const char *what)
{
	bool refused = false;

	for (unsigned int i = 0; i < initiator->options->connections; i++)
		refused |= iconn_is_refused(initiator->conns[i]);
	say("%s for %u s", refused ? "the target is busy" : what, initiator->options->timeout);
}

/* Waits until every connection is in `state` or beyond.  False after a message. */
static bool
await(struct initiator *initiator, enum iconn_state state)
{
	const uint64_t deadline = bell_now() + initiator->options->timeout * BELL_SECOND;

	for (;;) {
		unsigned int there = 0;

		for (unsigned int i = 0; i < initiator->options->connections; i++)
			there += iconn_state(initiator->conns[i]) >= state;
		if (there == initiator->options->connections)
			return true;
		if (atomic_load(&initiator->failed) || bell_stopped() ||
		    atomic_load(&initiator->adapter.catastrophe))
			return false;
		if (bell_now() > deadline) {
			say_late(initiator, "the target does not answer");
			return false;
		}
		doze(initiator, deadline);
	}
}

static void
order_all(struct initiator *initiator, enum iconn_order order)
{
	for (unsigned int i = 0; i < initiator->options->connections; i++)
		iconn_order(initiator->conns[i], order);
}

int
initiator_open(
    struct initiator *initiator, const struct initiator_options *options, struct bell *bell)
{
	memset(initiator, 0, sizeof *initiator);
	initiator->options = options;
	initiator->bell = bell;
	if (adapter_open(&initiator->adapter, options->ia, bell))
		return -1;
	if (getrandom(&initiator->mark, sizeof initiator->mark, 0) != sizeof initiator->mark) {
		say("no random numbers: %s", strerror(errno));
		return -1;
	}
	for (unsigned int i = 0; i < options->connections; i++) {
		initiator->conns[i] = iconn_new(initiator, i);
		if (!initiator->conns[i])
			return -1;
	}
	for (unsigned int i = 0; i < options->connections; i++)
		if (iconn_connect(initiator->conns[i]))
			return -1;
	if (!await(initiator, ICONN_IDLE))
		return -1;
	return 0;
}

int
initiator_copy(struct initiator *initiator, const struct backing *file, bool writes, uint64_t bytes,
    struct histogram *latency, void (*progress)(uint64_t done, uint64_t total))
{
	const uint64_t patience = initiator->options->timeout * BELL_SECOND;

	initiator->file = file;
	initiator->writes = writes;
	initiator->bytes = bytes;
	atomic_store(&initiator->next, 0);
	atomic_store(&initiator->done, 0);
	atomic_store(&initiator->moved_at, bell_now());
	order_all(initiator, ICONN_COPY);
	for (;;) {
		const uint64_t done = atomic_load(&initiator->done);
		const uint64_t until = atomic_load(&initiator->moved_at) + patience;
		const uint64_t now = bell_now();

		if (progress)
			progress(done, bytes);
		if (done >= bytes)
			break;
		if (atomic_load(&initiator->failed) || bell_stopped() ||
		    atomic_load(&initiator->adapter.catastrophe))
			return -1;
		if (now > until) {
			say_late(initiator, "nothing has moved");
			return -1;
		}
		doze(initiator, progress && now + PROGRESS < until ? now + PROGRESS : until + 1);
	}
	/* Also those that have had nothing to do: the next job finds all ready for its order. */
	if (!await(initiator, ICONN_IDLE))
		return -1;
	for (unsigned int i = 0; i < initiator->options->connections; i++)
		histogram_merge(latency, iconn_latency(initiator->conns[i]));
	if (!writes)
		return 0;
	iconn_order(initiator->conns[0], ICONN_FLUSH);
	return await(initiator, ICONN_IDLE) && !atomic_load(&initiator->failed) ? 0 : -1;
}

int
initiator_close(struct initiator *initiator)
{
	const uint64_t deadline = bell_now() + 10 * BELL_SECOND;
	int failures = 0;

	for (unsigned int i = 0; i < INITIATOR_CONNECTIONS; i++)
		if (initiator->conns[i] && iconn_state(initiator->conns[i]) != ICONN_NEW)
			iconn_order(initiator->conns[i], ICONN_LEAVE);
	for (unsigned int i = 0; i < INITIATOR_CONNECTIONS; i++) {
		struct iconn *conn = initiator->conns[i];

		while (conn && !iconn_is_finished(conn) && bell_now() < deadline)
			bell_wait(initiator->bell, bell_now() + BELL_SECOND / 10);
		if (conn)
			failures += iconn_free(conn);
		initiator->conns[i] = NULL;
	}
	return failures + adapter_close(&initiator->adapter);
}
