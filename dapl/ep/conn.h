/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn -- the link between a CM id and the object it belongs to: an endpoint, a service point or
 * a connection request
 *
 * The connection manager's events carry it as their context.  It is type-stable and counts its
 * lives, because an event is acknowledged before it is acted upon: the id, and what it belonged to,
 * may be gone by then.  A reader takes owner and generation, locks the owner and compares.
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
	_Atomic(struct dapl_object *) owner; /* changes once, when a request is accepted */
	struct rdma_cm_id *id;		     /* constant while it lives */
};

/* Whether it is still in that life. */
static inline bool
dapl_conn_is(const struct dapl_conn *conn, uint32_t generation)
{
	return atomic_load_explicit(&conn->generation, memory_order_acquire) == generation;
}

/* A new id on the IA's event channel.  0 or -errno. */
int dapl_conn_open(struct dapl_ia *ia, struct dapl_object *owner, struct dapl_conn **out);
/* Takes over the id of an incoming request. */
int dapl_conn_adopt(struct rdma_cm_id *id, struct dapl_object *owner, struct dapl_conn **out);
/* Waits until the loop has acknowledged what it read for the id.  No lock may be held. */
void dapl_conn_close(struct dapl_conn *conn);

/* The port a connection qualifier means. */
uint16_t dapl_conn_qual_port(DAT_CONN_QUAL qual);

#endif
