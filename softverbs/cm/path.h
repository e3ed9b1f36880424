/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path -- the path record of an id, as consumers see it
 *
 * There is one path between two ports.  A consumer may set another record, which changes nothing
 * but what it reads.
 */
#ifndef SOFT_CM_PATH_H
#define SOFT_CM_PATH_H

#include "cm.h"

/* NULL without memory. */
struct ibv_sa_path_rec *soft_path_create(const struct soft_id *id);
struct ibv_sa_path_rec *soft_path_copy(const struct soft_id *id, const struct ibv_path_data *path);

/* Of the port, at this IP address. */
union ibv_gid soft_path_gid(const struct soft_device_port *port, const struct sockaddr *address);

/* The way to the peer, and the MTU of both ports. */
struct ibv_ah_attr soft_path_address(const struct soft_id *id);
enum ibv_mtu soft_path_mtu(const struct soft_id *id);

/* The id owns the record. */
void soft_path_give(struct soft_id *id, struct ibv_sa_path_rec *path) REQUIRES(soft_locks.cm);

/*
 * Resolves the route of an id whose address is resolved, with its event, which is an error if one
 * of the ports is not active: 0 or -errno.  Takes the
 * record over in any case; NULL stands for missing memory.
 */
int soft_path_resolve(struct soft_id *id, struct ibv_sa_path_rec *path) SOFT_NO_CM_LOCK;

#endif
