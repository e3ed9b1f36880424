/* SPDX-License-Identifier: BSD-3-Clause */
/* device -- the device side of an EVD: what its completions come from */
#ifndef REARM_EVD_DEVICE_H
#define REARM_EVD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "evd/queue.h"

/* A side effect of a completion.  It runs after the trigger lock was dropped (see `effect` below).
 */
struct evd_effect {
	int code; /* 0: none */
	void *object;
	uint64_t stamp; /* shows the owner that `object` was freed and reused meanwhile */
};

/*
 * The result of a device call: a count >= 0, or -errno.  It has a type of its own, so that an error
 * of the device cannot be mistaken for a result of the core, which returns -EIO for any of them.
 * An error may pass, and loses nothing: the next call asks the device again.
 */
struct evd_device_result {
	int value;
};

typedef struct evd_device_result evd_poll_function(void *source, struct evd_batch *batch);
typedef struct evd_device_result evd_poll_into_function(
    void *source, struct evd_batch *batch, void *events, unsigned int *made);
typedef struct evd_device_result evd_take_function(void *source, void *events, unsigned int n);
typedef void evd_convert(
    void *source, const struct evd_record *record, void *event, struct evd_effect *effect);

/*
 * evd_source_ops -- the device side of an EVD
 *
 * poll     LOCKED.  Polls up to batch->room completions, oldest first, and returns the number.  For
 *          each it finds out what the completion belongs to, and queues a record of it, keeps it in
 *          a hold, or drops it (queue.h).
 * poll_into  LOCKED.  As poll, while nothing is queued, for a consumer that takes up to *made
 *          events at once: builds the events of the first completions in `events`, and returns
 *          their number in *made.  It ends before a completion that wakes no sink, that
 *          has an effect or that does not become an event now: that one, and all that are left, are
 *          handled as poll does.  NULL: the source has no such function.
 * take     LOCKED.  Polls up to n completions and builds the events of all of them in `events`;
 *          nothing is queued.  The number, or an error, as poll.  NULL: some completions become no
 *          event at once.
 * convert  LOCKED.  Builds the event of a completion that leaves the queue: writes the members that
 *          an event of this kind has.  The object that the record names is
 *          still valid, because freeing it purges the queue under the same lock.  May set *effect,
 *          which is clear.
 * arm      LOCKED.  Requests one notification for the next completion, or for the next solicited
 *          one.  Returns 0 if armed, > 0 if armed and completions may be queued already.  An armed
 *          queue is armed again only to widen the request from solicited completions to all.
 * ack      Not always locked.  Acknowledges n notifications that were read from the channel; who
 *          destroys the EVD waits for it.
 * read     Not locked, the EVD is pinned.  Reads one notification of the private channel without
 *          blocking: 1 if it read one, 0 if there is none, or -errno if the channel can never be
 *          read again.  NULL unless a channel_fd is given.
 * effect   Not locked.  Runs the side effect that convert requested, on the thread that took the
 *          event, before the caller or the upcall of that thread gets the event.  May post to any
 *          EVD.
 *
 * exact_hint: an arm that returns 0 proves that the completion queue was empty at that moment, so
 * the code that issued the arm may skip the poll that follows it.
 */
struct evd_source_ops {
	evd_poll_function *poll;
	evd_poll_into_function *poll_into;
	evd_take_function *take;
	evd_convert *convert;
	struct evd_device_result (*arm)(void *source, bool solicited_only);
	void (*ack)(void *source, unsigned int n);
	int (*read)(void *source);
	void (*effect)(void *source, const struct evd_effect *effect);
	bool exact_hint;
};

#endif
