/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link -- a connection to another process
 *
 * A link belongs to the process that opened it: it carries the requests of that process and the
 * answers to them.  The other direction has a link of its own.  So reading answers never waits
 * for writing, and two processes cannot block each other.
 *
 * Frames go through two rings in shared memory.  Then the socket carries single bytes, each of
 * which notifies the progress thread of the other process: of frames, or of room.  A process that
 * cannot share memory (it has no descriptor left) sends its frames over the socket.
 *
 * A thread that has frames to send tries at once.  If there is no room, the queue pair waits in
 * a list for the progress thread.  A link buffers at most the rest of one frame and a bounded
 * number of CM messages.
 */
#ifndef SOFT_LINK_H
#define SOFT_LINK_H

#include "handlers.h"
#include "pull.h"
#include "ring.h"
#include "softverbs/device/mutex.h"
#include "softverbs/device/progress.h"

#include <sys/uio.h>

#define SOFT_FRAME_MAX (sizeof(struct soft_frame) + SOFT_WIRE_PAYLOAD)

enum soft_link_input { SOFT_INPUT_NONE, SOFT_INPUT_FRAMES, SOFT_INPUT_MALFORMED, SOFT_INPUT_END };

struct soft_link_message {
	STAILQ_ENTRY(soft_link_message) next;
	struct soft_frame frame;
	struct soft_wire_cm cm;
};

struct soft_welcome_frame;

TAILQ_HEAD(soft_turns, soft_turn);

/* The thread that reads a link: handlers of CM messages run on the progress thread alone. */
enum soft_reader { SOFT_READER_CONSUMER, SOFT_READER_PROGRESS };

struct soft_link {
	struct soft_watch watch;
	TAILQ_ENTRY(soft_link) all; /* of peer.c */
	unsigned int slot;	    /* of the other side */
	bool outgoing;		    /* opened by us */
	atomic_uint refs;

	struct soft_mutex lock;
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

	/* The hello offered memory and is not answered: nothing else can be sent. */
	bool greeting GUARDED_BY(soft_locks.link);
	atomic_bool ringed; /* frames go through the rings; set before the first of them */
	/*
	 * We may send requests that the other side pulls the data of: it has said so, and the
	 * kernel has not refused it since.
	 */
	atomic_bool pulled;
	/* We may ask for the address of what we read: the kernel has not refused it yet. */
	atomic_bool pulls;
	/* The other side may send addresses: of the data of its requests, or of what we read. */
	struct soft_grantor grantor;
	struct soft_rings rings;
	struct soft_ring out GUARDED_BY(soft_locks.link);
	struct soft_ring in GUARDED_BY(soft_locks.input);
	/* that our hello offered, until it is answered; or -1 */
	int memory GUARDED_BY(soft_locks.link);
	/* Our socket to wake the other process's waiting threads (knock.h), or -1. */
	int waiters;
	atomic_bool owed;  /* the other side is to be notified of an acknowledgement */
	atomic_bool broke; /* the other side's counter of what it has read makes no sense */

	size_t filled GUARDED_BY(soft_locks.input); /* bytes in `input` */
	char *input GUARDED_BY(soft_locks.input);
	/* Why reading has stopped: malformed input, or the end of the stream. */
	enum soft_link_input over GUARDED_BY(soft_locks.input);
};

/* What another process offers with its hello. */
struct soft_link_offer {
	bool asked; /* it waits for an answer */
	int memory; /* of the rings, or -1 */
	uint64_t token;
	struct soft_grantor grantor;
};

/*
 * Opens a link to the process at a slot, over a connection; the link then owns the descriptor.
 * The first offers memory if it can, and sends our hello; the second accepts the offer.  NULL and
 * errno on failure: the descriptors are still the caller's, and so is always that of the offer.
 */
struct soft_link *soft_link_open(int fd, unsigned int slot) SOFT_NO_LINK_LOCK;
struct soft_link *soft_link_accept(
    int fd, unsigned int slot, const struct soft_link_offer *offer) SOFT_NO_LINK_LOCK;
void soft_link_get(struct soft_link *link);
void soft_link_put(struct soft_link *link);

/*
 * Sends a frame, whole or, over the socket, with a rest that is kept and sent later.  -EAGAIN if
 * there is no room: nothing is taken then.  -EPIPE if the link is dead.
 *
 * The other side is not notified of an acknowledgement at once: most are followed by a request
 * that it is notified of.  input.h says when it is.
 */
int soft_link_send(struct soft_link *link, struct soft_frame *frame, const struct iovec *payload,
    int count) SOFT_NO_LINK_LOCK;

/*
 * Queues something that has frames to send, unless it is queued; the progress thread calls it when
 * there is room.  Without `wake` the caller is the thread that reads, which serves the queue when
 * it has read its input.
 */
void soft_link_queue_requester(struct soft_link *link, struct soft_turn *turn) SOFT_NO_LINK_LOCK;
void soft_link_queue_responder(
    struct soft_link *link, struct soft_turn *turn, bool wake) SOFT_NO_LINK_LOCK;

/* Queues a CM message, or a header that no queue pair sends: 0, or -errno if dead or full. */
int soft_link_send_cm(struct soft_link *link, const struct soft_wire_cm *cm) SOFT_NO_LINK_LOCK;
int soft_link_send_stray(struct soft_link *link, const struct soft_frame *frame) SOFT_NO_LINK_LOCK;

/* Notifies the other side, if it asked for that, of what it has not read. */
void soft_link_notify(struct soft_link *link) SOFT_NO_LINK_LOCK;

/* True if the other end is closed, so that no further input will arrive. */
bool soft_link_is_closed(const struct soft_link *link);

/* The input is read under the input lock; see input.h. */

/* On the progress thread: reads what is left, and the end, of a link whose other end is closed. */
void soft_link_read_to_end(struct soft_link *link) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/* No more frames are sent or received; the progress thread then closes the link. */
void soft_link_stop(struct soft_link *link) SOFT_NO_LINK_LOCK;

/* On the progress thread: reads the socket once, and handles whole frames. */
enum soft_link_input soft_link_read(struct soft_link *link)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/* Whether frames are in the ring. */
bool soft_link_has_input(const struct soft_link *link) REQUIRES(soft_locks.input);

/* Whether there seem to be some, for a caller without the lock. */
bool soft_link_seems_to_have_input(const struct soft_link *link);

/* What became of the frames in a ring. */
enum soft_ring_input {
	SOFT_RING_EMPTY,    /* there was none */
	SOFT_RING_READ,	    /* all were handled that were there */
	SOFT_RING_LEFT,	    /* there are more than one turn handles */
	SOFT_RING_PROGRESS, /* the next, or what is wrong with it, is for the progress thread */
};

/* Handles frames in the ring, and sends the answers. */
enum soft_ring_input soft_link_read_ring(struct soft_link *link, enum soft_reader reader)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/*
 * On the progress thread, after SOFT_RING_PROGRESS: the link has ended if its input is malformed.
 */
void soft_link_check(struct soft_link *link) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/*
 * Called for what another process sent on its own link: a message, the end, or a request.  That
 * process sent its answers to our requests before, but on the link of our requests, and nothing
 * orders the two links.  So the answers are read first; otherwise requests that were acknowledged
 * would be flushed, and a reply would overtake the acknowledgement of what it replies to.
 *
 * False if some are for the progress thread, and so is then what the caller was about to handle.
 */
bool soft_link_read_answers(unsigned int slot, enum soft_reader reader)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/*
 * Counts writes to links.  What a thread did before it sent a frame happened before what another
 * thread does with the answer, through the process between them; the counter states that order in
 * terms of C.
 */
extern atomic_uint soft_link_writes;

/* For link_input.c: sends answers, after requests were read. */
void soft_link_give_answers(struct soft_link *link) SOFT_NO_SEND_LOCK;

/* The same: whether our hello waits for its answer. */
bool soft_link_is_greeting(struct soft_link *link) SOFT_NO_LINK_LOCK;

/* The same: our hello was answered.  Queue pairs that wait get their turn. */
void soft_link_welcomed(struct soft_link *link, const struct soft_welcome_frame *welcome)
    REQUIRES(soft_locks.input) SOFT_NO_LINK_LOCK;

/* The same: notifies the other side that frames were read for which its ring had no room. */
void soft_link_notify_of_room(struct soft_link *link);

/* For peer.c, on the progress thread: closes the descriptor and drops queued frames. */
void soft_link_close(struct soft_link *link) SOFT_NO_LINK_LOCK;
void soft_links_reset(void); /* in a forked child */

#endif
