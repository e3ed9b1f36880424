/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service -- a port number of this process, and the ids that are bound to it
 *
 * The CM lock is held.
 */
#ifndef SOFT_CM_SERVICE_H
#define SOFT_CM_SERVICE_H

#include "cm.h"

/*
 * Binds the id to `port` of an address, or to a free one for 0, which is then written: 0 or -errno.
 * Ids of this process share a port at different addresses, or if all of them have the option
 * REUSEADDR.
 */
int soft_service_attach(struct soft_id *id, const struct sockaddr *address, uint16_t *port)
    REQUIRES(soft_locks.cm);
void soft_service_detach(struct soft_id *id) REQUIRES(soft_locks.cm);

/* The id listens at its port: 0, or -errno if another id has its address. */
int soft_service_listen(struct soft_id *id) REQUIRES(soft_locks.cm);
/* Whether this process has the port. */
bool soft_service_here(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);
void soft_services_reset(void); /* in a forked child */

/* The id listening at the address of a REQ, or NULL. */
struct soft_id *soft_service_find(uint16_t port_space, uint16_t port, const struct sockaddr *target)
    REQUIRES(soft_locks.cm);

#endif
