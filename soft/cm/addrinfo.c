/* SPDX-License-Identifier: BSD-3-Clause */
/* rdma_getaddrinfo() */
#include "cm.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

static struct sockaddr *
addrinfo_copy_address(const struct sockaddr *address, socklen_t length)
{
	struct sockaddr *copy = malloc(length);

	if (copy)
		memcpy(copy, address, length);
	return copy;
}

static int
addrinfo_fill(
    struct rdma_addrinfo *info, const struct addrinfo *found, const struct rdma_addrinfo *hints)
{
	struct sockaddr *address = addrinfo_copy_address(found->ai_addr, found->ai_addrlen);

	if (!address)
		return EAI_MEMORY;
	info->ai_flags = hints ? hints->ai_flags : 0;
	info->ai_family = found->ai_family;
	info->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	info->ai_qp_type = info->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	if (hints && hints->ai_qp_type)
		info->ai_qp_type = hints->ai_qp_type;
	if (info->ai_flags & RAI_PASSIVE) {
		info->ai_src_addr = address;
		info->ai_src_len = found->ai_addrlen;
		return 0;
	}
	info->ai_dst_addr = address;
	info->ai_dst_len = found->ai_addrlen;
	if (hints && hints->ai_src_len) {
		info->ai_src_addr = addrinfo_copy_address(hints->ai_src_addr, hints->ai_src_len);
		if (!info->ai_src_addr)
			return EAI_MEMORY;
		info->ai_src_len = hints->ai_src_len;
	}
	return 0;
}

void
rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
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
rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
    struct rdma_addrinfo **res)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *found;
	struct rdma_addrinfo *info;
	int r;

	if (!node && !service && !hints)
		return soft_cm_result(EINVAL);
	if (hints) {
		want.ai_family =
		    hints->ai_flags & RAI_FAMILY || hints->ai_family ? hints->ai_family : AF_UNSPEC;
		if (hints->ai_flags & RAI_PASSIVE)
			want.ai_flags |= AI_PASSIVE;
		if (hints->ai_flags & RAI_NUMERICHOST)
			want.ai_flags |= AI_NUMERICHOST;
	}
	r = getaddrinfo(node, service ? service : "0", &want, &found);
	if (r)
		return r;
	info = calloc(1, sizeof *info);
	r = info ? addrinfo_fill(info, found, hints) : EAI_MEMORY;
	freeaddrinfo(found);
	if (r)
		rdma_freeaddrinfo(info);
	else
		*res = info;
	return r;
}
