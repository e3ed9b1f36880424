/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rsp -- reserved service point: one request, for one endpoint
 *
 * The endpoint is the service point's until a request arrives, then the request's until it is
 * answered; the consumer cannot free it meanwhile.  It is found by its handle, under its own lock:
 * two locks of this rank are never held at once.
 */
#ifndef REARM_DAPL_RSP_H
#define REARM_DAPL_RSP_H

#include "dapl/cm/sp.h"

struct rsp {
	struct sp sp;
	DAT_EP_HANDLE ep; /* constant while open */
	bool used;	  /* its request has arrived; guarded by the object's lock */
};

/*
 * A request arrived from that address: the endpoint it is for, now PASSIVE_CONNECTION_PENDING, or
 * DAT_HANDLE_NULL when it is to be refused.
 */
DAT_EP_HANDLE rsp_take(struct rsp *rsp, const struct conn *listener, uint32_t generation,
    const struct sockaddr *from);

/* The request's event could not be posted: the service point waits for another request. */
void rsp_give_back(
    struct rsp *rsp, const struct conn *listener, uint32_t generation, DAT_EP_HANDLE ep);

#endif
