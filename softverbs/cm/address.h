/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address -- IP addresses of both families
 */
#ifndef SOFT_CM_ADDRESS_H
#define SOFT_CM_ADDRESS_H

#include "softverbs/device/soft.h"

#include <netinet/in.h>
#include <sys/socket.h>

bool soft_address_known(const struct sockaddr *address); /* of a family that the device has */
bool soft_address_wild(const struct sockaddr *address);

/*
 * An address of this host is one that a socket can be bound to: 0, -EADDRNOTAVAIL, or another
 * -errno.
 */
int soft_address_check_local(const struct sockaddr *address);
bool soft_address_same_host(const struct sockaddr *a, const struct sockaddr *b);
uint16_t soft_address_port(const struct sockaddr *address); /* host order */
void soft_address_set_port(struct sockaddr *address, uint16_t port);
void soft_address_copy(struct sockaddr_storage *to, const struct sockaddr *from);

#endif
