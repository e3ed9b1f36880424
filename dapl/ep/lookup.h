/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookup -- an attempt of a datagram endpoint to get the address of another
 *
 * dat_ep_connect() starts it, and several may be under way.  Each ends with one event: with an
 * address handle, a rejection or an error.  The lock of the endpoint guards the list and what is
 * marked (L).  A thread that uses the CM id of a lookup without the lock is one of its users; the
 * last one closes a lookup that is over.
 *
 * The other endpoint gets no address from the connection manager.  So a request begins with a card,
 * from which the accepting side makes a handle of its own.
 */
#ifndef REARM_DAPL_LOOKUP_H
#define REARM_DAPL_LOOKUP_H

#include "dapl/ep/lookup_list.h"

/* The arguments of the call. */
struct dapl_lookup_target {
	const struct sockaddr_storage *address; /* with the port */
	DAT_TIMEOUT timeout;
	DAT_COUNT size;
	const void *data;
};

/* What the connection manager reports. */
struct dapl_lookup_news {
	enum rdma_cm_event_type type;
	int status;
	bool by_peer; /* its consumer rejected the request */
	struct ibv_ah_attr address;
	uint32_t qpn, qkey;
	const uint8_t *data;
	size_t size;
};

/* DAT_SUCCESS if the endpoint may have one more, else the error of the call. */
DAT_RETURN dapl_lookup_may_start(const struct dapl_ep *ep) REQUIRES(dapl_locks.object);
/* For a pinned endpoint. */
DAT_RETURN dapl_lookup_start(struct dapl_ep *ep, const struct dapl_lookup_target *to) DAPL_NO_LOCK;

/* On the loop, for an event of an id of the endpoint. */
void dapl_lookup_handle(struct dapl_ep *ep, const struct dapl_conn *conn, uint32_t generation,
    const struct dapl_lookup_news *news) DAPL_NO_LOCK;

/*
 * The endpoint has the address of another, and owns it: reports it with the private data in it.
 * The caller has a pin.
 */
void dapl_lookup_succeed(struct dapl_ep *ep, struct dapl_ah *ah, DAT_IB_EXT_TYPE type) DAPL_NO_LOCK;
/* The attributes of an address handle for the sender of a card. */
int dapl_card_address(const struct dapl_ia *ia, const struct rdma_cm_id *id,
    const struct dapl_card *card, struct ibv_ah_attr *attr);

#endif
