/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * port -- the port numbers that this process has taken
 *
 * The owner of a port owns its name (names.h) and writes its slot there, so that a process that
 * wants to connect finds it.  A process that destroys a listener leaves its slot there and
 * remembers the port: while it runs, it refuses the requests for the port.  The CM lock is held.
 */
#ifndef SOFT_PORT_H
#define SOFT_PORT_H

#include "softverbs/device/soft.h"

/* The number of a port space, from 0 on. */
#define SOFT_PORT_SPACES 3
unsigned int soft_port_space(uint16_t port_space);

/* Whether the process may bind the port: those below 1024 need CAP_NET_BIND_SERVICE. */
bool soft_port_is_permitted(uint16_t port);

/* Takes a port for this process: 0, -EADDRINUSE or another -errno.  The second releases it. */
int soft_port_open(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);
void soft_port_close(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);

/*
 * The slot of the owner of a port, or of the process that destroyed its listener, or 0.  The entry
 * of a process that died is still there; another process may have its slot by now, and answers
 * that the listener is absent.
 */
unsigned int soft_port_owner(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);

/*
 * This process destroys a listener of the port.  From then on, whenever it has none there, it
 * refuses the requests for the port.
 */
void soft_port_abandon(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);
bool soft_port_is_abandoned(uint16_t port_space, uint16_t port) REQUIRES(soft_locks.cm);
void soft_ports_reset(void); /* in a forked child */

#endif
