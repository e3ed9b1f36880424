/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports -- which port numbers are this process's
 *
 * The owner of a port owns its name (names.h), and says there which slot it has: so does a
 * process that wants to connect find it.  The CM lock is held.
 */
#ifndef SOFT_PORTS_H
#define SOFT_PORTS_H

#include "soft/device/soft.h"

/* A port of the caller's choice, or any, which is written: 0 or -errno. */
int soft_port_take(uint16_t port_space, uint16_t port);
int soft_port_any(uint16_t port_space, uint16_t *port);
void soft_port_return(uint16_t port_space, uint16_t port);

/*
 * The slot of the port's owner, or 0.  An owner that died is still named; another process may
 * have its slot by now, and says that nobody listens at the port.
 */
unsigned int soft_port_owner(uint16_t port_space, uint16_t port);

#endif
