/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint -- scenes that bring an endpoint into every state
 *
 * A scene has two sides; `me` is the side whose endpoint is tested.  All events that led to the
 * state have been taken: the EVDs of both sides are empty.
 */
#ifndef REARM_TEST_ENDPOINT_H
#define REARM_TEST_ENDPOINT_H

#include <sys/socket.h>

#include "fault/fault.h"
#include "lib/dt.h"

/* Some states can be reached in several ways. */
enum scene_place {
	SCENE_FRESH,
	SCENE_RESET,
	SCENE_RESERVED,
	SCENE_ASKED,
	SCENE_MADE,
	SCENE_MADE_COMPLETE,
	SCENE_CONNECTING,
	SCENE_ACCEPTING,
	SCENE_CONNECTED_ACTIVE,
	SCENE_CONNECTED_PASSIVE,
	SCENE_DISCONNECTING,
	SCENE_ENDED_BY_ME,
	SCENE_ENDED_BY_PEER,
	SCENE_REJECTED,
	SCENE_BROKEN,
	SCENE_PLACES
};

struct scene {
	struct dt_pair pair;
	struct dt_side *me, *peer;
	DAT_EP_STATE state;
	DAT_CR_HANDLE cr; /* SCENE_CONNECTING: the request that the peer has; else mine */
	DAT_RSP_HANDLE rsp;
	bool stepped;		/* the peer's loop runs only in scene_step() */
	struct dt_pair helpers; /* opened by a test; closed with the scene */
};

void scene_open(struct scene *s, enum scene_place place);
/* The same with other EVDs than those that are DT_SEPARATE. */
void scene_open_on(struct scene *s, enum scene_place place, enum dt_evds evds);
void scene_close(struct scene *s);

/* Creates a reserved service point for `me`, on an unused qualifier. */
void scene_reserve(struct scene *s);
/* The request that arrives there. */
DAT_CR_HANDLE scene_asked(struct scene *s);

/*
 * Creates a service point of `me` for which the provider creates endpoints; takes a request that
 * arrives there.  The endpoint that the provider created for it becomes the endpoint of `me`.
 */
void scene_listen(struct scene *s);
DAT_CR_HANDLE scene_offered(struct scene *s);
DAT_CR_HANDLE scene_offer(struct scene *s); /* and asks for it, with the word "hello" */
/* A scene where `me` listens so, before any request. */
void scene_open_listening(struct scene *s, enum dt_evds evds);
/* Frees the objects of `me` and closes it gracefully: no other object may be left. */
void scene_close_empty(struct scene *s);
/* Gives it these of the things that `me` has, as in a mask of dat_ep_modify(). */
DAT_RETURN scene_give(struct scene *s, DAT_EP_PARAM_MASK mask);
#define SCENE_EVDS \
	(DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE | \
	    DAT_EP_FIELD_CONNECT_EVD_HANDLE)
#define SCENE_PARTS (DAT_EP_FIELD_PZ_HANDLE | SCENE_EVDS)

/* Lets the peer's loop run for a moment, if it is stepped. */
void scene_step(struct scene *s);

/* DAT_INVALID_STATE with the subtype that names the state. */
DAT_RETURN scene_refusal(DAT_EP_STATE state);

/* The address of a side's adapter with that port. */
void scene_address(const struct dt_side *side, DAT_CONN_QUAL port, struct sockaddr_storage *to);

/* A connection request that arrives at `me`, from a further side. */
DAT_CR_HANDLE scene_request(struct scene *s);
/* A connected endpoint of a further pair. */
DAT_EP_HANDLE scene_model(struct scene *s);

/* The connection manager replaces the next event `from` for `me` by `to`, with an error. */
void scene_replace(const struct scene *s, enum rdma_cm_event_type from, enum rdma_cm_event_type to);
/* The next event of that kind for `me` has an error and no private data. */
void scene_drop_data(const struct scene *s, enum rdma_cm_event_type of);

/* The suites of test-endpoint. */

#endif
