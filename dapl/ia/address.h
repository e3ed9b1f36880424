/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address -- the network side of an IA's name
 */
#ifndef REARM_DAPL_ADDRESS_H
#define REARM_DAPL_ADDRESS_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/*
 * The address of a network interface ("eth0": its first IPv4 address, else an IPv6 one), of an
 * address ("10.0.0.1") or of a host name.  -ENOENT; for an interface without an address -ENETDOWN
 * if it is down, else -EADDRNOTAVAIL.
 */
int dapl_address_resolve(const char *text, struct sockaddr_storage *address);

/* Copies an IPv4 or IPv6 address; -EAFNOSUPPORT for anything else. */
static inline int
dapl_address_copy(struct sockaddr_storage *to, const struct sockaddr *from)
{
	size_t size;

	switch (from->sa_family) {
	case AF_INET:
		size = sizeof(struct sockaddr_in);
		break;
	case AF_INET6:
		size = sizeof(struct sockaddr_in6);
		break;
	default:
		return -EAFNOSUPPORT;
	}
	memset(to, 0, sizeof *to);
	memcpy(to, from, size);
	return 0;
}

/*
 * True if `at`, where a listener listens, is `host` or the wildcard address.  The ports do not
 * matter.
 */
bool dapl_address_includes(const struct sockaddr_storage *at, const struct sockaddr_storage *host);

/*
 * Whether it can be the address of one host: it is neither a multicast address nor the broadcast
 * address, of all hosts or of a network of this host.
 */
bool dapl_address_is_of_one(const struct sockaddr_storage *address);

/* The port in host byte order. */
uint16_t dapl_address_port(const struct sockaddr_storage *address);
void dapl_address_set_port(struct sockaddr_storage *address, uint16_t port);

#endif
