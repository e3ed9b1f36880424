/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_getaddrinfo(): what getaddrinfo(3) finds, with the port space and the type of the queue
 * pair.
 *
 * The errors are those of getaddrinfo(3).  All addresses that are found are in the list; routes and
 * data that a network needs to connect do not exist here.
 */
#include "cm.h"
#include "softverbs/device/cancel.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_KNOWN (RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY)

static bool
addrinfo_port_space_is_datagram(int port_space)
{
	return port_space == RDMA_PS_UDP || port_space == RDMA_PS_IPOIB;
}

static bool
addrinfo_is_datagram(const struct rdma_addrinfo *hints)
{
	return hints->ai_qp_type ? hints->ai_qp_type == IBV_QPT_UD :
				   addrinfo_port_space_is_datagram(hints->ai_port_space);
}

/* 0 or an error of getaddrinfo(3). */
static int
addrinfo_check(const struct rdma_addrinfo *hints)
{
	const int space = hints->ai_port_space;

	if (hints->ai_flags & ~FLAGS_KNOWN)
		return EAI_BADFLAGS;
	if (hints->ai_family != AF_UNSPEC && hints->ai_family != AF_INET &&
	    hints->ai_family != AF_INET6)
		return EAI_FAMILY;
	if (space && space != RDMA_PS_TCP && space != RDMA_PS_IB &&
	    !addrinfo_port_space_is_datagram(space))
		return EAI_SOCKTYPE;
	/* Services of RDMA_PS_IB are of any type. */
	if (space && space != RDMA_PS_IB &&
	    addrinfo_is_datagram(hints) != addrinfo_port_space_is_datagram(space))
		return EAI_SOCKTYPE;
	return 0;
}

static int
addrinfo_copy_address(
    struct sockaddr **to, socklen_t *to_length, const struct sockaddr *from, socklen_t length)
{
	if (!from || !length)
		return 0;
	*to = malloc(length);
	if (!*to)
		return EAI_MEMORY;
	memcpy(*to, from, length);
	*to_length = length;
	return 0;
}

/* An entry with the fields that do not depend on an address. */
static struct rdma_addrinfo *
addrinfo_create(const struct rdma_addrinfo *hints, int flags)
{
	struct rdma_addrinfo *info = calloc(1, sizeof *info);
	const bool datagram = addrinfo_is_datagram(hints);

	if (!info)
		return NULL;
	info->ai_flags = flags;
	info->ai_port_space = hints->ai_port_space ? hints->ai_port_space :
			      datagram		   ? RDMA_PS_UDP :
						     RDMA_PS_TCP;
	info->ai_qp_type = hints->ai_qp_type ? hints->ai_qp_type :
			   datagram	     ? IBV_QPT_UD :
					       IBV_QPT_RC;
	return info;
}

/* Without a name the addresses are those of the hints. */
static int
addrinfo_from_hints(const struct rdma_addrinfo *hints, struct rdma_addrinfo *info)
{
	int r;

	info->ai_family = hints->ai_family;
	if (!info->ai_family && hints->ai_src_addr && hints->ai_src_len)
		info->ai_family = hints->ai_src_addr->sa_family;
	if (!info->ai_family && hints->ai_dst_addr && hints->ai_dst_len)
		info->ai_family = hints->ai_dst_addr->sa_family;
	r = addrinfo_copy_address(
	    &info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr, hints->ai_dst_len);
	return r ? r :
		   addrinfo_copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr,
		       hints->ai_src_len);
}

static int
addrinfo_from_name(
    const struct addrinfo *found, const struct rdma_addrinfo *hints, struct rdma_addrinfo *info)
{
	const bool passive = info->ai_flags & RAI_PASSIVE;
	char **name = passive ? &info->ai_src_canonname : &info->ai_dst_canonname;
	int r;

	info->ai_family = found->ai_family;
	if (found->ai_canonname) {
		*name = strdup(found->ai_canonname);
		if (!*name)
			return EAI_MEMORY;
	}
	if (passive)
		return addrinfo_copy_address(
		    &info->ai_src_addr, &info->ai_src_len, found->ai_addr, found->ai_addrlen);
	r = addrinfo_copy_address(
	    &info->ai_dst_addr, &info->ai_dst_len, found->ai_addr, found->ai_addrlen);
	return r ? r :
		   addrinfo_copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr,
		       hints->ai_src_len);
}

/* Adds an entry for each address of the name to the list that begins at *end. */
static int
addrinfo_look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
    struct rdma_addrinfo **end)
{
	const struct addrinfo want = {
		.ai_flags = (node ? AI_CANONNAME : 0) |
			    (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
			    (hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0),
		.ai_family = hints->ai_family,
		.ai_socktype = addrinfo_is_datagram(hints) ? SOCK_DGRAM : SOCK_STREAM,
	};
	struct addrinfo *found;
	int r = getaddrinfo(node, service, &want, &found);

	if (r)
		return r;
	for (struct addrinfo *one = found; one && !r; one = one->ai_next) {
		*end = addrinfo_create(hints, hints->ai_flags & RAI_PASSIVE);
		r = *end ? addrinfo_from_name(one, hints, *end) : EAI_MEMORY;
		if (*end)
			end = &(*end)->ai_next;
	}
	freeaddrinfo(found);
	return r;
}

void
rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
	SOFT_UNCANCELLED;
	struct rdma_addrinfo *next;

	for (; info; info = next) {
		next = info->ai_next;
		free(info->ai_src_addr);
		free(info->ai_dst_addr);
		free(info->ai_src_canonname);
		free(info->ai_dst_canonname);
		free(info->ai_route);
		free(info->ai_connect);
		free(info);
	}
}

int
soft_rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
    struct rdma_addrinfo **res)
{
	SOFT_UNCANCELLED;
	static const struct rdma_addrinfo none;
	struct rdma_addrinfo *list = NULL;
	int r;

	if (!node && !service && !hints)
		return soft_cm_result(EINVAL);
	if (!hints)
		hints = &none;
	r = addrinfo_check(hints);
	if (r)
		return r;
	if (node || service) {
		r = addrinfo_look_up(node, service, hints, &list);
	} else {
		list = addrinfo_create(hints, hints->ai_flags);
		r = list ? addrinfo_from_hints(hints, list) : EAI_MEMORY;
	}
	if (r)
		rdma_freeaddrinfo(list);
	else
		*res = list;
	return r;
}
