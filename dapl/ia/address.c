/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

static struct sockaddr_in *
in4(const struct sockaddr_storage *a)
{
	return (struct sockaddr_in *)a;
}

static struct sockaddr_in6 *
in6(const struct sockaddr_storage *a)
{
	return (struct sockaddr_in6 *)a;
}

bool
address_includes(const struct sockaddr_storage *at, const struct sockaddr_storage *host)
{
	static const struct in6_addr any = IN6ADDR_ANY_INIT;

	if (at->ss_family != host->ss_family)
		return false;
	if (at->ss_family == AF_INET)
		return in4(at)->sin_addr.s_addr == htonl(INADDR_ANY) ||
		       in4(at)->sin_addr.s_addr == in4(host)->sin_addr.s_addr;
	return memcmp(&in6(at)->sin6_addr, &any, sizeof any) == 0 ||
	       memcmp(&in6(at)->sin6_addr, &in6(host)->sin6_addr, sizeof any) == 0;
}

uint16_t
address_port(const struct sockaddr_storage *a)
{
	return ntohs(a->ss_family == AF_INET6 ? in6(a)->sin6_port : in4(a)->sin_port);
}

void
address_set_port(struct sockaddr_storage *a, uint16_t port)
{
	if (a->ss_family == AF_INET6)
		in6(a)->sin6_port = htons(port);
	else
		in4(a)->sin_port = htons(port);
}

static int
of_interface(const char *name, struct sockaddr_storage *address)
{
	struct ifaddrs *list;
	int r = -ENOENT;

	if (getifaddrs(&list))
		return -errno;
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (strcmp(i->ifa_name, name) != 0)
			continue;
		if (r == -ENOENT)
			r = -EADDRNOTAVAIL;
		if (!i->ifa_addr)
			continue;
		if (i->ifa_addr->sa_family == AF_INET) {
			r = address_copy(address, i->ifa_addr);
			break;
		}
		if (i->ifa_addr->sa_family == AF_INET6 && r != 0)
			r = address_copy(address, i->ifa_addr);
	}
	freeifaddrs(list);
	return r;
}

static int
of_host(const char *name, struct sockaddr_storage *address)
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
		if (address_copy(address, i->ai_addr) == 0)
			found = true;
		if (found && i->ai_family == AF_INET)
			break;
	}
	freeaddrinfo(list);
	return found ? 0 : -ENOENT;
}

int
address_resolve(const char *text, struct sockaddr_storage *address)
{
	int r;

	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, text, &in4(address)->sin_addr) == 1) {
		address->ss_family = AF_INET;
		return 0;
	}
	if (inet_pton(AF_INET6, text, &in6(address)->sin6_addr) == 1) {
		address->ss_family = AF_INET6;
		return 0;
	}
	r = of_interface(text, address);
	if (r == -ENOENT)
		r = of_host(text, address);
	return r;
}
