/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link -- a connection to another process
 *
 * A link belongs to the process that opened it: its requests go out on it, and nothing but
 * answers to them come back.  The other direction has a link of its own.  So reading
 * answers never waits for writing, and two processes cannot block each other.
 *
 * Whoever has something to send tries at once; what the socket does not take waits, as
 * queue pairs in a list, for the progress thread.  A link never holds more than one frame
 * of data, the part of it that the socket left over, and a bounded number of CM messages.
 */
#ifndef SOFT_LINK_H
#define SOFT_LINK_H

#include "handlers.h"
#include "soft/device/progress.h"

#include <sys/uio.h>

#define SOFT_FRAME_MAX (sizeof(struct soft_frame) + SOFT_WIRE_PAYLOAD)

enum soft_link_taken { SOFT_TOOK_NOTHING, SOFT_TOOK_INPUT, SOFT_TOOK_NONSENSE, SOFT_TOOK_THE_END };

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
	bool dead;    /* no more frames */
	bool waiting; /* the progress thread watches for room in the socket */
	struct soft_turns requesters, responders; /* with frames to send; each a reference */
	STAILQ_HEAD(, soft_link_message) messages;
	unsigned int message_count;
	size_t left; /* bytes of `rest` still to be written, from `rest_at` on */
	size_t rest_at;
	char *rest;

	/* Of the progress thread: */
	size_t filled; /* bytes in `input` */
	char *input;
	enum soft_link_taken over; /* nonsense or the end, once it was met: nothing more is read */
};

/* Opens the link to a slot, or adopts an accepted connection: NULL and errno on failure. */
struct soft_link *soft_link_create(int fd, unsigned int slot, bool outgoing);
void soft_link_get(struct soft_link *link);
void soft_link_put(struct soft_link *link);

/*
 * Sends a frame whole, or keeps what the socket did not take.  -EAGAIN if it still has to
 * send what it kept before: nothing is taken then.  -EPIPE if the link is dead.
 */
int soft_link_send(
    struct soft_link *link, struct soft_frame *frame, const struct iovec *payload, int count);

/*
 * Queues something that has frames to send, unless it is queued; the progress thread calls it when
 * the socket has room.  Without `wake` the caller is the progress thread, which looks at the queue
 * when it has read its input.
 */
void soft_link_queue_requester(struct soft_link *link, struct soft_turn *turn);
void soft_link_queue_responder(struct soft_link *link, struct soft_turn *turn, bool wake);

/* Queues a CM message, or a header that no queue pair sends: 0, or -errno if dead or full. */
int soft_link_send_cm(struct soft_link *link, const struct soft_wire_cm *cm);
int soft_link_send_stray(struct soft_link *link, const struct soft_frame *frame);

/* Whether the other end is closed: nothing more can come than is there already. */
bool soft_link_gone(const struct soft_link *link);

/* On the progress thread: takes what is there, and the end, of a link whose other end is closed. */
void soft_link_drain(struct soft_link *link);

/* Ends the link; the progress thread then takes it apart. */
void soft_link_shutdown(struct soft_link *link);

/* Reads once and handles the whole frames; on the progress thread. */
enum soft_link_taken soft_link_take(struct soft_link *link);

/*
 * For what comes on a link that the other process opened, when it says, or shows by going, that a
 * connection ends.  It had sent its answers to our requests before, but on the link of our
 * requests, and nothing orders the two: they are taken first, so that what was acknowledged is not
 * flushed.
 */
void soft_link_take_answers(unsigned int slot);

/*
 * Counts what was written to links.  What a thread did before it sent a frame happened before what
 * another does with the answer, by way of the process between them; the counter says the same in
 * the language of C.
 */
extern atomic_uint soft_link_writes;

/* For peer.c, on the progress thread: closes the descriptor and drops what is queued. */
void soft_link_close(struct soft_link *link);

#endif
