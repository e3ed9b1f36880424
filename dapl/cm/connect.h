/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect -- the active side of a connection
 */
#ifndef REARM_DAPL_CONNECT_H
#define REARM_DAPL_CONNECT_H

#include "dapl/ep/ep.h"

/* Steps of connecting, on the loop. */
void dapl_connect_address_resolved(struct dapl_ep *ep, struct dapl_conn *conn) DAPL_NO_LOCK;
void dapl_connect_route_resolved(struct dapl_ep *ep, struct dapl_conn *conn) DAPL_NO_LOCK;
void dapl_connect_unresolved(struct dapl_ep *ep, struct dapl_conn *conn, int error) DAPL_NO_LOCK;
/*
 * The RDMA parameters of the endpoint, limited to what it is asked for: how many reads at a time
 * the other side may send, and how many it answers.
 */
void dapl_connect_param(
    const struct dapl_ep *ep, uint8_t asked_in, uint8_t asked_out, struct rdma_conn_param *param);

#endif
