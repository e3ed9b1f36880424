/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host -- what this host and this process have: devices, interfaces, limits
 *
 * These are facts.  Why an adapter cannot be opened, and what to do, the library says.
 */
#ifndef REARM_TOOLS_INFO_HOST_H
#define REARM_TOOLS_INFO_HOST_H

#include <stdbool.h>

#include <jansson.h>

/* The RDMA devices of the kernel with the states of their ports; *none: there is none. */
json_t *host_devices(bool *none);

/* Device files that this user may not open, or NULL. */
json_t *host_forbidden(void);

/*
 * An interface with its state and addresses, or what else the word is; *usable: it is up and has an
 * address.
 */
json_t *host_interface(const char *where, bool *usable);

/* Limits of this process. */
json_t *host_limits(void);

#endif
