/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect -- the active side of a connection
 */
#ifndef REARM_DAPL_CONNECT_H
#define REARM_DAPL_CONNECT_H

#include "dapl/ep/ep.h"

/* Steps of connecting, on the loop. */
void connect_address_resolved(struct ep *ep, struct conn *conn);
void connect_route_resolved(struct ep *ep, struct conn *conn);
void connect_unresolved(struct ep *ep, struct conn *conn, int error);
/* RDMA parameters of the endpoint, within what the other side offers. */
void connect_param(const struct ep *ep, uint8_t remote_responder, uint8_t remote_initiator,
    struct rdma_conn_param *param);

#endif
