/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer -- the other processes of this host that use the device, by slot
 */
#ifndef SOFT_PEER_H
#define SOFT_PEER_H

#include "link.h"

/* True if this process has a link to any other. */
bool soft_peers_linked(void);

/* After the progress thread has ended. */
void soft_peers_close(void) SOFT_NO_PEERS_LOCK;
void soft_peers_reset(void); /* in a forked child */

/*
 * The links that have frames in their rings, or whose other side is to be notified, `max` at most;
 * each with a reference.  Those that were found are the last to be found again.
 */
unsigned int soft_peers_pending(struct soft_link **out, unsigned int max)
    REQUIRES(soft_locks.input) SOFT_NO_PEERS_LOCK;

/* Whether there seem to be any, for a caller without the lock. */
bool soft_peers_have_input(void) SOFT_NO_PEERS_LOCK;

/* Asks for notification of frames in any ring; `keep`: but of waiting threads where these asked. */
void soft_peers_arm(enum soft_ring_alarm alarm, bool keep)
    REQUIRES(soft_locks.input) SOFT_NO_PEERS_LOCK;

/* The link for our requests to that process, opened if needed; NULL with errno on failure. */
struct soft_link *soft_peer_outgoing(unsigned int slot) SOFT_NO_PEERS_LOCK;

/* The same link if it is open: answers of that process come on it.  NULL if none. */
struct soft_link *soft_peer_answering(unsigned int slot) SOFT_NO_PEERS_LOCK;

/* The link on which that process sends us requests, for the answers; NULL if none. */
struct soft_link *soft_peer_incoming(unsigned int slot) SOFT_NO_PEERS_LOCK;

/*
 * Called on the progress thread when a hello came.  0 if the connection is a link now; -EAGAIN if
 * there is no descriptor to check the caller with; another -errno if the caller is refused.
 */
int soft_peer_accept(int fd, const struct soft_wire_hello *hello)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/* On the progress thread: the link has ended; calls the handlers. */
void soft_peer_lost(struct soft_link *link, bool misbehaved)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/* Whether the process at the other end belongs to our user. */
bool soft_peer_trusted(int fd);

/* Our hello, as a whole frame; it offers the memory, with its token, unless that is negative. */
struct soft_hello_frame {
	struct soft_frame frame;
	struct soft_wire_hello hello;
};
void soft_peer_hello(struct soft_hello_frame *out, int memory, uint64_t token);

/* Our answer to one. */
struct soft_welcome_frame {
	struct soft_frame frame;
	struct soft_wire_grant grant;
};
void soft_peer_welcome(struct soft_welcome_frame *out, uint8_t opcode);

/*
 * The process at the other end, with the grant that it named; its pid is 0 if its memory cannot be
 * read.
 */
struct soft_grantor soft_peer_grantor(int fd, const struct soft_wire_grant *grant);

#endif
