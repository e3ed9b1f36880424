/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports -- which port numbers are this process's
 *
 * The owner of a port owns its name (names.h), and says there which slot it has: so does a
 * process that wants to connect find it.  The CM lock is held.
 */
#ifndef SOFT_PORT_H
#define SOFT_PORT_H

#include "soft/device/soft.h"

/* Takes a port for this process: 0, -EADDRINUSE or another -errno.  Gives it back. */
int soft_port_open(uint16_t port_space, uint16_t port);
void soft_port_close(uint16_t port_space, uint16_t port);

/*
 * The slot of the port's owner, or 0.  An owner that died is still named; another process may
 * have its slot by now, and says that nobody listens at the port.
 */
unsigned int soft_port_owner(uint16_t port_space, uint16_t port);

#endif
