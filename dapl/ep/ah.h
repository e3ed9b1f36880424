/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ah -- the address handles of a datagram endpoint
 *
 * The consumer gets the handle of the device, and passes it back: an endpoint keeps a list of those
 * that were made for it, and accepts no other.  Those that the consumer does not free are freed
 * with the queue pair.  The lock of the endpoint guards the list.
 */
#ifndef REARM_DAPL_AH_H
#define REARM_DAPL_AH_H

#include <infiniband/verbs.h>

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#include "dapl/object/lock.h"

#define DAPL_AH_DATA 256 /* no connection manager delivers more private data */
#define DAPL_AH_BUCKETS 16

struct dapl_ah {
	struct dapl_ah *next;
	struct ibv_ah *ibv;
	uint32_t qkey;
	DAT_IB_ADDR_HANDLE public; /* as in the event */
	size_t size;
	uint8_t data[DAPL_AH_DATA]; /* private data that came with it; the consumer may read it */
};

struct dapl_ah_list {
	struct dapl_ah *buckets[DAPL_AH_BUCKETS]; /* by the address of the device's handle */
};

/* NULL with errno. */
struct dapl_ah *dapl_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, uint32_t qpn,
    uint32_t qkey, const struct sockaddr *peer);
void dapl_ah_free(struct dapl_ah *ah);

void dapl_ah_add(struct dapl_ah_list *list, struct dapl_ah *ah) REQUIRES(dapl_locks.object);
struct dapl_ah *dapl_ah_find(const struct dapl_ah_list *list, const struct ibv_ah *ibv)
    REQUIRES(dapl_locks.object);
/* Removes one, or NULL. */
struct dapl_ah *dapl_ah_remove(struct dapl_ah_list *list, const struct ibv_ah *ibv)
    REQUIRES(dapl_locks.object);
/* Moves all of them to another list: the endpoint accepts them no more. */
void dapl_ah_move(struct dapl_ah_list *list, struct dapl_ah_list *to) REQUIRES(dapl_locks.object);
/* For a list that no other thread knows, after the queue pair was destroyed. */
void dapl_ah_free_all(struct dapl_ah_list *list);

#endif
