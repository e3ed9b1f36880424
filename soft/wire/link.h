/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link -- a connection to another process
 *
 * A link belongs to the process that opened it: it carries the requests of that process and the
 * answers to them.  The other direction has a link of its own.  So reading answers never waits
 * for writing, and two processes cannot block each other.
 *
 * A thread that has frames to send tries at once.  If the socket is full, the queue pair waits in
 * a list for the progress thread.  A link buffers at most the rest of one frame and a bounded
 * number of CM messages.
 */
#ifndef SOFT_LINK_H
#define SOFT_LINK_H

#include "handlers.h"
#include "soft/device/progress.h"

#include <sys/uio.h>

#define SOFT_FRAME_MAX (sizeof(struct soft_frame) + SOFT_WIRE_PAYLOAD)

enum soft_link_input { SOFT_INPUT_NONE, SOFT_INPUT_FRAMES, SOFT_INPUT_MALFORMED, SOFT_INPUT_END };

struct soft_link_message {
	STAILQ_ENTRY(soft_link_message) next;
	struct soft_frame frame;
	struct soft_wire_cm cm;
};

TAILQ_HEAD(soft_turns, soft_turn);

struct soft_link {
	struct soft_watch watch;
	LIST_ENTRY(soft_link) all; /* of peer.c */
	unsigned int slot;	   /* of the other side */
	bool outgoing;		   /* opened by us */
	atomic_uint refs;

	pthread_mutex_t lock;
	bool dead GUARDED_BY(soft_locks.link); /* no more frames */
	/* The progress thread watches for room in the socket. */
	bool waiting GUARDED_BY(soft_locks.link);
	/* With frames to send; each a reference. */
	struct soft_turns requesters GUARDED_BY(soft_locks.turns);
	struct soft_turns responders GUARDED_BY(soft_locks.turns);
	STAILQ_HEAD(, soft_link_message) messages GUARDED_BY(soft_locks.link);
	unsigned int message_count GUARDED_BY(soft_locks.link);
	/* Bytes of `rest` still to be written, from `rest_at` on. */
	size_t left GUARDED_BY(soft_locks.link);
	size_t rest_at GUARDED_BY(soft_locks.link);
	char *rest;

	/* Of the progress thread: */
	size_t filled; /* bytes in `input` */
	char *input;
	enum soft_link_input
	    over; /* why reading has stopped: malformed input, or the end of the stream */
};

/*
 * Opens a link to the process at a slot, over a connection; the link then owns the descriptor.
 * NULL and errno on failure: the descriptor is still the caller's.
 */
struct soft_link *soft_link_open(int fd, unsigned int slot, bool outgoing) SOFT_NO_LEAF_LOCK;
void soft_link_get(struct soft_link *link);
void soft_link_put(struct soft_link *link);

/*
 * Sends a frame.  What the socket does not take is kept and sent later.  -EAGAIN if an earlier
 * rest is still to be sent: nothing is taken then.  -EPIPE if the link is dead.
 */
int soft_link_send(struct soft_link *link, struct soft_frame *frame, const struct iovec *payload,
    int count) SOFT_NO_LINK_LOCK;

/*
 * Queues something that has frames to send, unless it is queued; the progress thread calls it when
 * the socket has room.  Without `wake` the caller is the progress thread, which serves the queue
 * when it has read its input.
 */
void soft_link_queue_requester(struct soft_link *link, struct soft_turn *turn) SOFT_NO_LINK_LOCK;
void soft_link_queue_responder(
    struct soft_link *link, struct soft_turn *turn, bool wake) SOFT_NO_LINK_LOCK;

/* Queues a CM message, or a header that no queue pair sends: 0, or -errno if dead or full. */
int soft_link_send_cm(struct soft_link *link, const struct soft_wire_cm *cm) SOFT_NO_LINK_LOCK;
int soft_link_send_stray(struct soft_link *link, const struct soft_frame *frame) SOFT_NO_LINK_LOCK;

/* True if the other end is closed, so that no further input will arrive. */
bool soft_link_is_closed(const struct soft_link *link);

/* On the progress thread: reads what is left, and the end, of a link whose other end is closed. */
void soft_link_read_to_end(struct soft_link *link) SOFT_NO_CM_LOCK;

/* No more frames are sent or received; the progress thread then closes the link. */
void soft_link_stop(struct soft_link *link) SOFT_NO_LINK_LOCK;

/* Reads once and handles the whole frames; on the progress thread. */
enum soft_link_input soft_link_read(struct soft_link *link) SOFT_NO_CM_LOCK;

/*
 * Called for a message, or the end, of a link that the other process opened, when it ends a
 * connection.  That process sent its answers to our requests before, but on the link of our
 * requests, and nothing orders the two links.  So the answers are read first; otherwise requests
 * that were acknowledged would be flushed.
 */
void soft_link_read_answers(unsigned int slot) SOFT_NO_CM_LOCK;

/*
 * Counts writes to links.  What a thread did before it sent a frame happened before what another
 * thread does with the answer, through the process between them; the counter states that order in
 * terms of C.
 */
extern atomic_uint soft_link_writes;

/* For peer.c, on the progress thread: closes the descriptor and drops queued frames. */
void soft_link_close(struct soft_link *link) SOFT_NO_LINK_LOCK;

#endif
