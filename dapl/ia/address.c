/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

static struct sockaddr_in *
address_in4(const struct sockaddr_storage *a)
{
	return (struct sockaddr_in *)a;
}

static struct sockaddr_in6 *
address_in6(const struct sockaddr_storage *a)
{
	return (struct sockaddr_in6 *)a;
}

bool
dapl_address_includes(const struct sockaddr_storage *at, const struct sockaddr_storage *host)
{
	static const struct in6_addr any = IN6ADDR_ANY_INIT;

	if (at->ss_family != host->ss_family)
		return false;
	if (at->ss_family == AF_INET)
		return address_in4(at)->sin_addr.s_addr == htonl(INADDR_ANY) ||
		       address_in4(at)->sin_addr.s_addr == address_in4(host)->sin_addr.s_addr;
	return memcmp(&address_in6(at)->sin6_addr, &any, sizeof any) == 0 ||
	       memcmp(&address_in6(at)->sin6_addr, &address_in6(host)->sin6_addr, sizeof any) == 0;
}

/* Whether an interface sends what goes to this address to all hosts of its network. */
static bool
address_is_broadcast_of(const struct ifaddrs *i, in_addr_t address)
{
	return i->ifa_flags & IFF_BROADCAST && i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
	       i->ifa_broadaddr &&
	       ((struct sockaddr_in *)i->ifa_broadaddr)->sin_addr.s_addr == address &&
	       ((struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr != address;
}

bool
dapl_address_is_of_one(const struct sockaddr_storage *a)
{
	struct ifaddrs *list;
	in_addr_t address;
	bool one = true;

	if (a->ss_family == AF_INET6)
		return !IN6_IS_ADDR_MULTICAST(&address_in6(a)->sin6_addr);
	address = address_in4(a)->sin_addr.s_addr;
	if (address == htonl(INADDR_BROADCAST) || IN_MULTICAST(ntohl(address)))
		return false;
	/*
	 * A network with a broadcast address has at least four addresses, and that is the last one.
	 * The list of interfaces is a dozen system calls, and more work for each interface.
	 */
	if ((ntohl(address) & 3) != 3)
		return true;
	if (getifaddrs(&list))
		return true; /* the kernel will tell */
	for (struct ifaddrs *i = list; i && one; i = i->ifa_next)
		one = !address_is_broadcast_of(i, address);
	freeifaddrs(list);
	return one;
}

uint16_t
dapl_address_port(const struct sockaddr_storage *a)
{
	return ntohs(
	    a->ss_family == AF_INET6 ? address_in6(a)->sin6_port : address_in4(a)->sin_port);
}

void
dapl_address_set_port(struct sockaddr_storage *a, uint16_t port)
{
	if (a->ss_family == AF_INET6)
		address_in6(a)->sin6_port = htons(port);
	else
		address_in4(a)->sin_port = htons(port);
}

static int
address_of_interface(const char *name, struct sockaddr_storage *address)
{
	struct ifaddrs *list;
	int r = -ENOENT;

	if (getifaddrs(&list))
		return -errno;
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (strcmp(i->ifa_name, name) != 0)
			continue;
		if (r == -ENOENT)
			r = i->ifa_flags & IFF_UP ? -EADDRNOTAVAIL : -ENETDOWN;
		if (!i->ifa_addr)
			continue;
		if (i->ifa_addr->sa_family == AF_INET) {
			r = dapl_address_copy(address, i->ifa_addr);
			break;
		}
		if (i->ifa_addr->sa_family == AF_INET6 && r != 0)
			r = dapl_address_copy(address, i->ifa_addr);
	}
	freeifaddrs(list);
	return r;
}

static int
address_of_host(const char *name, struct sockaddr_storage *address)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	bool found = false;
	int r;

	r = getaddrinfo(name, NULL, &hints, &list);
	if (r)
		return r == EAI_SYSTEM ? -errno : r == EAI_MEMORY ? -ENOMEM : -ENOENT;
	for (struct addrinfo *i = list; i; i = i->ai_next) {
		if (found && i->ai_family != AF_INET)
			continue;
		if (dapl_address_copy(address, i->ai_addr) == 0)
			found = true;
		if (found && i->ai_family == AF_INET)
			break;
	}
	freeaddrinfo(list);
	return found ? 0 : -ENOENT;
}

int
dapl_address_resolve(const char *text, struct sockaddr_storage *address)
{
	int r;

	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, text, &address_in4(address)->sin_addr) == 1) {
		address->ss_family = AF_INET;
		return 0;
	}
	if (inet_pton(AF_INET6, text, &address_in6(address)->sin6_addr) == 1) {
		address->ss_family = AF_INET6;
		return 0;
	}
	r = address_of_interface(text, address);
	if (r == -ENOENT)
		r = address_of_host(text, address);
	return r;
}
