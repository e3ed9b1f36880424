/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_platform_specific.h -- the scalar types of DAT, for Linux in user space
 */
#ifndef _DAT_PLATFORM_SPECIFIC_H_
#define _DAT_PLATFORM_SPECIFIC_H_

#if !defined(__linux__) || defined(__KERNEL__)
#error "these DAT headers are for programs in Linux user space"
#endif

#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Buffers that start on a multiple of this many bytes are the cheapest to transfer. */
#ifndef DAT_OPTIMAL_ALIGNMENT
#define DAT_OPTIMAL_ALIGNMENT 256
#endif

typedef u_int32_t DAT_UINT32;
typedef u_int64_t DAT_UINT64;
typedef unsigned long long DAT_UVERYLONG; /* the widest unsigned integer */
typedef void *DAT_PVOID;
/*
 * Memory that a call only reads.  C++ does not convert constant memory to DAT_PVOID; in C the
 * functions have the type of DAT 2.0.
 */
#ifdef __cplusplus
typedef const void *DAT_CONST_PVOID;
#else
typedef void *DAT_CONST_PVOID;
#endif
/* a number of things, or the bytes of private data */
typedef int DAT_COUNT;
typedef DAT_UINT64 DAT_PADDR;			/* a physical address */

/* A communicator of a common service point: the arguments of socket(2). */
typedef struct dat_comm {
	int domain;
	int type;
	int protocol;
} DAT_COMM;

typedef int DAT_FD;				/* a file descriptor */

typedef struct sockaddr DAT_SOCK_ADDR;
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;
#define DAT_AF_INET  AF_INET
#define DAT_AF_INET6 AF_INET6

/* An IA handle is a small integer under the registry; these convert it without a warning. */
#define DAT_IA_HANDLE_TO_UL(a) (unsigned long)(a)
#define DAT_UL_TO_IA_HANDLE(a) (DAT_IA_HANDLE)(a)

#define DAT_API
#define DAT_EXPORT extern

/* Direction marks of parameters in old sources: they expand to nothing. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

#endif
