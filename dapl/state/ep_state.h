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

#define DAPL_EP_STATES (DAT_EP_STATE_CONNECTED_MULTI_PATH + 1)

enum dapl_ep_call {
	DAPL_EP_CONNECT, /* also dat_ep_dup_connect(), dat_ep_common_connect() */
	DAPL_EP_MODEL,	 /* to be the endpoint whose connection is duplicated */
	DAPL_EP_RESERVE, /* for a reserved service point */
	DAPL_EP_RELEASE, /* by the end of its reserved service point */
	DAPL_EP_ACCEPT,
	DAPL_EP_ACCEPT_OWN, /* the request that it is for */
	DAPL_EP_REFUSE_OWN,
	DAPL_EP_DISCONNECT_ABRUPT,
	DAPL_EP_DISCONNECT_GRACEFUL,
	DAPL_EP_REQUEST, /* post a send, an RDMA read or write */
	DAPL_EP_RECV,
	DAPL_EP_RESET,
	DAPL_EP_MODIFY, /* attributes and EVDs */
	DAPL_EP_MODIFY_PZ,
	DAPL_EP_QUERY, /* dat_ep_query(), dat_ep_get_status() */
	DAPL_EP_FREE,
	DAPL_EP_CALLS
};

enum dapl_ep_verdict {
	DAPL_EP_REFUSED, /* DAT_INVALID_STATE with the state's subtype */
	DAPL_EP_ALLOWED,
	DAPL_EP_GONE,	  /* done, and it was the endpoint's end */
	DAPL_EP_NOTHING,  /* succeeds without doing anything */
	DAPL_EP_BAD_FLAG, /* the flag that makes it this call is a bad argument now */
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
	DAPL_EP_IS_ASKED, /* by the request that it was reserved for */
	DAPL_EP_IS_ESTABLISHED,
	DAPL_EP_IS_REJECTED_BY_PEER, /* by the consumer at the other end */
	DAPL_EP_IS_REJECTED,
	DAPL_EP_IS_UNREACHABLE,
	DAPL_EP_HAS_FAILED, /* to connect, for any other reason */
	DAPL_EP_HAS_TIMED_OUT,
	DAPL_EP_IS_DISCONNECTED, /* by the other end */
	DAPL_EP_DISCONNECTS,	 /* by this end */
	DAPL_EP_IS_BROKEN,	 /* a request failed, or the device went */
	DAPL_EP_HAPPENINGS
};

/* The one event and the next state; event 0: it changes nothing. */
struct dapl_ep_rule {
	DAT_EVENT_NUMBER event;
	DAT_EP_STATE next;
};

const struct dapl_ep_rule *dapl_ep_rule(DAT_EP_STATE state, enum dapl_ep_happening what);

#endif
