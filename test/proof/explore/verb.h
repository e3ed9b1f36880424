/* SPDX-License-Identifier: BSD-3-Clause */
/* verb -- what an actor can do, and the word for it */
#ifndef REARM_EXPLORE_VERB_H
#define REARM_EXPLORE_VERB_H

#include <stdbool.h>

enum verb {
	DO_NONE,
	DO_COMPLETION,
	DO_BURST,
	DO_SPURIOUS,
	DO_POST,
	DO_BARRIER,
	DO_ESTABLISHED,
	DO_OVERFLOW,
	DO_PURGE,
	DO_LEAVE, /* an endpoint is freed, and its events are purged */
	DO_AGAIN, /* the same, and it connects again */
	DO_DEPTH, /* the device's queue gets another length */
	DO_SINGLE,
	DO_MANY,
	DO_NORIFY,
	DO_DISABLE,
	DO_TEARDOWN,
	DO_REARM,
	DO_FREE,
	DO_REOPEN,
	DO_SEE, /* the actor uses the present object of a slot from now on */
	DO_QUERY,
	DO_WRONG, /* calls that must be refused in any situation */
	DO_REFRESH,
	DO_EMPTY, /* the device queue, whatever there is room for */
	DO_DEQUEUE,
	DO_SEVERAL,
	DO_DRAIN,
	DO_TAKE,
	DO_WAIT,
	DO_UNWAITABLE,
	DO_WAITABLE,
	DO_CLOSING,
	DO_SHUT,
	DO_SOLICITED,
	DO_ALL,
	DO_ATTACH,
	DO_DETACH,
	DO_CNO_ON,
	DO_CNO_OFF,
	DO_SERVE,
	DO_CNO_WAIT,
	DO_CNO_IGNORE, /* waits, and leaves what the EVD has */
	DO_AGENT,
	DO_NO_AGENT,
	DO_CNO_FREE,
	DO_CNO_ABRUPT,
	DO_CNO_CLOSING,
	DO_CNO_SHUT,
	DO_CNO_REOPEN,
	DO_CNO_SEE,
	DO_CNO_QUERY,
	DO_UNTIL,
	DO_LOOP,
	DO_SOURCE,
	DO_CLOSE_LOOP,
	DO_RESIZE,
	DO_WATCH,
	DO_TRIGGER,
	DO_TRYWAIT,
	DO_PICK,
	/* of librearm's explorer: a channel, an event that goes, and a loop without threads */
	DO_LOSE,
	DO_GONE,
	DO_FAILING, /* until failed() was called so often */
	DO_PUMP,    /* dispatch, and sleep on the descriptor, until so many events came */
	DO_TURNS,   /* the same by a dispatch that sleeps */
	DO_DESTROY, /* the completion queue that was adopted and is the program's again */
	/* of the provider's explorer: what the consumer does to an endpoint, */
	DO_RECV,
	DO_SEND,
	DO_SEND_MUTE,
	DO_SEND_HUSHED,
	DO_BIND,
	DO_BIND_MUTE,
	DO_UNBIND,
	DO_STOCK,  /* buffers for the shared receive queue */
	DO_LENGTH, /* of that queue */
	DO_CONNECT,
	DO_DISCONNECT,
	DO_DISCONNECT_GRACEFUL,
	DO_EP_RESET,
	DO_EP_FREE,
	DO_EP_NEW,
	DO_EP_SEE,
	DO_PAUSE, /* for so many microseconds */
	DO_IA_CLOSE,
	DO_IA_GRACEFUL,
	/* and what the device and the other end do */
	DO_RECEIVED,
	DO_SENT,
	DO_FAILED,
	DO_RECEIVE_FAILED,
	DO_CM_ACCEPTS, /* as soon as it is asked */
	DO_CM_ESTABLISHED,
	DO_CM_REJECTED,
	DO_CM_DISCONNECTED,
	DO_CM_ASKS,   /* to connect; it is refused, because no EVD has room */
	DO_EVD_ASKED, /* the same, and the request waits in an EVD */
	DO_QP_FATAL,
	DO_CQ_ERROR,
	DO_DEVICE_FATAL,
	VERBS
};

enum operand { ON_EVD, ON_CNO, ON_EP, ON_NOTHING };

struct verb_row {
	enum verb verb;
	const char *word;
	enum operand operand;
};

/* NULL: there is no such word. */
const struct verb_row *verb_find(const char *word);

const char *verb_name(enum verb verb);
/* Of an endpoint's: the consumer does it, not the device or the other end. */
bool verb_is_of_consumer(enum verb verb);
/* The first name of what it is done to; 0: nothing. */
char verb_prefix(enum verb verb);

#endif
