/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_state -- what an endpoint may do and what happens to it, as tables
 *
 * doc/ep-states.md is printed from them; tools/print-ep-states does it.  An endpoint that the
 * consumer makes has a protection zone from the start; one that the provider made for a request has
 * none until the consumer gives it one, and is UNCONFIGURED_TENTATIVE so long.
 */
#ifndef REARM_DAPL_EP_STATE_H
#define REARM_DAPL_EP_STATE_H

#include <dat2/udat.h>

#define EP_STATES (DAT_EP_STATE_CONNECTED_MULTI_PATH + 1)

enum dapl_ep_call {
	EP_CONNECT, /* also dat_ep_dup_connect(), dat_ep_common_connect() */
	EP_MODEL,   /* to be the endpoint whose connection is duplicated */
	EP_RESERVE, /* for a reserved service point */
	EP_RELEASE, /* by the end of its reserved service point */
	EP_ACCEPT,
	EP_ACCEPT_OWN, /* the request that it is for */
	EP_REFUSE_OWN,
	EP_DISCONNECT_ABRUPT,
	EP_DISCONNECT_GRACEFUL,
	EP_REQUEST, /* post a send, an RDMA read or write */
	EP_RECV,
	EP_RESET,
	EP_MODIFY, /* attributes and EVDs */
	EP_MODIFY_PZ,
	EP_LOOK, /* dat_ep_query(), dat_ep_get_status() */
	EP_FREE,
	EP_CALLS
};

enum dapl_ep_verdict {
	EP_REFUSED, /* DAT_INVALID_STATE with the state's subtype */
	EP_ALLOWED,
	EP_GONE,     /* done, and it was the endpoint's end */
	EP_NOTHING,  /* succeeds without doing anything */
	EP_BAD_FLAG, /* the flag that makes it this call is a bad argument now */
};

/* The answer and, where the call changes it, the next state. */
struct dapl_ep_answer {
	enum dapl_ep_verdict verdict;
	DAT_EP_STATE next;
};

const struct dapl_ep_answer *dapl_ep_answer(DAT_EP_STATE state, enum dapl_ep_call call);

static inline enum dapl_ep_verdict
dapl_ep_may(DAT_EP_STATE state, enum dapl_ep_call call)
{
	return dapl_ep_answer(state, call)->verdict;
}

/* The subtype of DAT_INVALID_STATE that names the state. */
DAT_RETURN_SUBTYPE dapl_ep_state_subtype(DAT_EP_STATE state);

/* What can happen to a connection; most of it is an event of the connection manager. */
enum dapl_ep_happening {
	EP_IS_ASKED, /* by the request that it was reserved for */
	EP_IS_ESTABLISHED,
	EP_IS_REJECTED_BY_PEER, /* by the consumer at the other end */
	EP_IS_REJECTED,
	EP_IS_UNREACHABLE,
	EP_HAS_FAILED, /* to connect, for any other reason */
	EP_HAS_TIMED_OUT,
	EP_IS_DISCONNECTED, /* by the other end */
	EP_DISCONNECTS,	    /* by this end */
	EP_IS_BROKEN,	    /* a request failed, or the device went */
	EP_HAPPENINGS
};

/* The one event and the next state; event 0: it changes nothing. */
struct dapl_ep_rule {
	DAT_EVENT_NUMBER event;
	DAT_EP_STATE next;
};

const struct dapl_ep_rule *dapl_ep_rule(DAT_EP_STATE state, enum dapl_ep_happening what);

#endif
