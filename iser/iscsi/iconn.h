/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iconn -- a session of the initiator: login, the questions about the LUN, the commands of a job
 */
#ifndef ISER_ISCSI_ICONN_H
#define ISER_ISCSI_ICONN_H

#include <stdint.h>

enum iconn_state {
	ICONN_NEW,
	ICONN_CONNECTING,
	ICONN_SECURITY, /* CHAP was offered; then its algorithm; then the answer to the challenge */
	ICONN_OPERATIONAL, /* the last request of the login is sent */
	ICONN_PROBING,	   /* what the LUN is */
	ICONN_COPYING,
	ICONN_IDLE,
	ICONN_LEAVING,
};

enum iconn_order {
	ICONN_COPY,
	ICONN_FLUSH,
	ICONN_LEAVE,
	ICONN_AGAIN, /* iconn_send_again()'s, as is the next one */
	ICONN_LOOK,
	ICONN_ORDERS,
};

struct histogram;
struct iconn;
struct initiator;

/* NULL after a message. */
struct iconn *iconn_new(struct initiator *initiator, unsigned int index);
int iconn_connect(struct iconn *conn);

/* Only to one that is ICONN_IDLE, but for ICONN_LEAVE. */
void iconn_order(struct iconn *conn, enum iconn_order order);
enum iconn_state iconn_state(struct iconn *conn);
/* Of the commands of the last job, when it is ICONN_IDLE. */
const struct histogram *iconn_latency(const struct iconn *conn);
/*
 * Of the main thread, which has the time: has sent what a busy target has not taken and what has
 * waited until `now`, and looks for commands that no answer comes to.  When there is more to do;
 * UINT64_MAX: when the bell rings.
 */
uint64_t iconn_send_again(struct iconn *conn, uint64_t now);
/* Whether the last answer was that the target is busy. */
_Bool iconn_is_refused(struct iconn *conn);
_Bool iconn_is_finished(struct iconn *conn);
int iconn_free(struct iconn *conn);

#endif
