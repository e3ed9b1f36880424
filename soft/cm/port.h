/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * port -- the port numbers that this process has taken
 *
 * The owner of a port owns its name (names.h) and writes its slot there, so that a process that
 * wants to connect finds it.  The CM lock is held.
 */
#ifndef SOFT_PORT_H
#define SOFT_PORT_H

#include "soft/device/soft.h"

/* Takes a port for this process: 0, -EADDRINUSE or another -errno.  The second releases it. */
int soft_port_open(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);
void soft_port_close(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);

/*
 * The slot of the owner of a port, or 0.  The entry of an owner that died is still there; another
 * process may have its slot by now, and rejects the request.
 */
unsigned int soft_port_owner(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);

#endif
