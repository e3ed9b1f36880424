/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn -- the link between a CM id and the object it belongs to: an endpoint, a service point or
 * a connection request
 *
 * The events of the connection manager have it as their context. An event is acknowledged
 * before the provider acts on it, so the id and its owner may be freed by then. Therefore a
 * conn is type-stable and has a generation: a reader takes owner and generation, locks the
 * owner and compares.
 */
#ifndef REARM_DAPL_CONN_H
#define REARM_DAPL_CONN_H

#include <stdatomic.h>

#include <rdma/rdma_cma.h>

#include "dapl/object/object.h"

struct dapl_ia;

struct dapl_conn {
	struct dapl_slab_slot slot;
	_Atomic(uint32_t) generation;
	_Atomic(struct dapl_object *) owner; /* changes when a request is accepted or handed off */
	struct rdma_cm_id *id;		     /* constant while open */
};

/* True if the conn still has that generation. */
static inline bool
dapl_conn_is(const struct dapl_conn *conn, uint32_t generation)
{
	return atomic_load_explicit(&conn->generation, memory_order_acquire) == generation;
}

/* A new id on the IA's event channel.  0 or -errno. */
int dapl_conn_open(
    struct dapl_ia *ia, struct dapl_object *owner, struct dapl_conn **out) DAPL_NO_LOCK;
/* The same in the port space of datagrams. */
int dapl_conn_open_datagram(
    struct dapl_ia *ia, struct dapl_object *owner, struct dapl_conn **out) DAPL_NO_LOCK;
/* Makes a conn for the id of an incoming request; dapl_conn_close() destroys the id. */
int dapl_conn_open_with(struct rdma_cm_id *id, struct dapl_object *owner, struct dapl_conn **out)
    EXCLUDES(dapl_locks.slab);
/* Waits until the loop has acknowledged the events that it read for the id. */
void dapl_conn_close(struct dapl_conn *conn) DAPL_NO_LOCK;

/* The port that a connection qualifier stands for. */
uint16_t dapl_conn_qual_port(DAT_CONN_QUAL qual);

#endif
