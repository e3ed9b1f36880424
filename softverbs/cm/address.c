/* SPDX-License-Identifier: BSD-3-Clause */
#include "address.h"
#include "softverbs/device/descriptors.h"

#include <string.h>

static socklen_t
address_length(const struct sockaddr *address)
{
	return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
					       sizeof(struct sockaddr_in6);
}

bool
soft_address_known(const struct sockaddr *address)
{
	return address->sa_family == AF_INET || address->sa_family == AF_INET6;
}

void
soft_address_copy(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof *to);
	memcpy(to, from, address_length(from));
}

bool
soft_address_wild(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr ==
		       htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(
	    &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* A link-local address is one of an interface. */
static bool
address_same_in6(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b)
{
	return IN6_ARE_ADDR_EQUAL(&a->sin6_addr, &b->sin6_addr) &&
	       (!IN6_IS_ADDR_LINKLOCAL(&a->sin6_addr) || a->sin6_scope_id == b->sin6_scope_id);
}

static bool
address_lacks_scope(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
	       !in6->sin6_scope_id;
}

bool
soft_address_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	return address_same_in6((const void *)a, (const void *)b);
}

uint16_t
soft_address_port(const struct sockaddr *address)
{
	return ntohs(address->sa_family == AF_INET ?
			 ((const struct sockaddr_in *)(const void *)address)->sin_port :
			 ((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
}

void
soft_address_set_port(struct sockaddr *address, uint16_t port)
{
	if (address->sa_family == AF_INET)
		((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)(void *)address)->sin6_port = htons(port);
}

/*
 * An address of this host is one that a socket may be bound to: 0, -EADDRNOTAVAIL, or another
 * -errno.
 */
int
soft_address_check_local(const struct sockaddr *address)
{
	struct sockaddr_storage any_port;
	int fd, r = 0;

	if (address_lacks_scope(address))
		return -EINVAL;
	fd = soft_descriptors_keep(socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	if (fd < 0)
		return errno == EAFNOSUPPORT ? -EADDRNOTAVAIL : -errno;
	soft_address_copy(&any_port, address);
	soft_address_set_port((struct sockaddr *)&any_port, 0);
	if (bind(fd, (struct sockaddr *)&any_port, address_length(address)))
		r = errno == ENOMEM || errno == ENOBUFS ? -errno : -EADDRNOTAVAIL;
	soft_close(fd);
	return r;
}
