/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/conn.h"

#include "dapl/ia/ia.h"
#include "dapl/trace/shortage.h"

/* The first port of those that stand for qualifiers above 0xffff; the last is 65534. */
#define FOLDED_FIRST 33534
#define FOLDED_PORTS 32001

static struct dapl_slab conn_slab = DAPL_SLAB_INITIALIZER(struct dapl_conn, NULL);

int
dapl_conn_open_with(struct rdma_cm_id *id, struct dapl_object *owner, struct dapl_conn **out)
{
	struct dapl_conn *conn = dapl_slab_alloc(&conn_slab);

	if (!conn)
		return -ENOMEM;
	conn->id = id;
	id->context = conn;
	atomic_store_explicit(&conn->owner, owner, memory_order_release);
	*out = conn;
	return 0;
}

static int
conn_open(struct dapl_ia *ia, struct dapl_object *owner, enum rdma_port_space space,
    struct dapl_conn **out) DAPL_NO_LOCK
{
	struct rdma_cm_id *id;
	int r;

	errno = EIO; /* some calls of the CM fail without setting it */
	if (rdma_create_id(ia->events, &id, NULL, space))
		return dapl_shortage_of_device("rdma_create_id");
	r = dapl_conn_open_with(id, owner, out);
	if (r)
		rdma_destroy_id(id);
	return r;
}

int
dapl_conn_open(struct dapl_ia *ia, struct dapl_object *owner, struct dapl_conn **out)
{
	return conn_open(ia, owner, RDMA_PS_TCP, out);
}

int
dapl_conn_open_datagram(struct dapl_ia *ia, struct dapl_object *owner, struct dapl_conn **out)
{
	return conn_open(ia, owner, RDMA_PS_UDP, out);
}

void
dapl_conn_close(struct dapl_conn *conn)
{
	/*
	 * The queue pair belongs to the endpoint, which destroys it after this call: until the
	 * id is destroyed the loop's thread may read an event that changes the queue pair.
	 */
	rdma_destroy_id(conn->id);
	atomic_fetch_add_explicit(&conn->generation, 1, memory_order_release);
	dapl_slab_free(&conn_slab, conn);
}

/*
 * Qualifiers above 0xffff are mapped to a part of the ports, as in other DAT providers: programs
 * use them.
 */
uint16_t
dapl_conn_qual_port(DAT_CONN_QUAL qual)
{
	return qual <= UINT16_MAX ? (uint16_t)qual : (uint16_t)(qual % FOLDED_PORTS + FOLDED_FIRST);
}
