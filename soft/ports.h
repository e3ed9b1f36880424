/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports -- which port numbers of the host are this process's
 *
 * A port by name is a bound socket.  Ports for ids that do not care come from blocks of 64
 * in the dynamic range, one socket a block ("softverbs.1.ports.SPACE.FIRST"), so that
 * thousands of calling ids need no thousands of descriptors.  Who lends a port out of its
 * block looks first whether somebody bound it by name; who binds by name looks afterwards
 * whether the block has an owner.  One of two that do so at once sees the other.  A block
 * that another process owns counts as taken whole.
 *
 * The CM lock is held.
 */
#ifndef SOFT_PORTS_H
#define SOFT_PORTS_H

#include "soft.h"

/* Instead of a descriptor: the port is lent from a block. */
#define SOFT_PORT_LENT (-0x10000)

/* A port of the caller's choice, or any, which is written: a socket, SOFT_PORT_LENT or -errno. */
int soft_port_take(uint16_t port_space, uint16_t port);
int soft_port_any(uint16_t port_space, uint16_t *port);

/* The socket of a port that was lent: a descriptor or -errno. */
int soft_port_socket(uint16_t port_space, uint16_t port);

/* The caller has closed the socket, if there was one. */
void soft_port_return(uint16_t port_space, uint16_t port);

void soft_ports_reset(void); /* in a forked child */

#endif
