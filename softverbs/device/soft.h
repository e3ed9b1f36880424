/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft -- what every part of the software device shares
 *
 * softverbs is an RDMA device made of memory and threads, behind the functions that
 * <infiniband/verbs.h> and <rdma/rdma_cma.h> declare.  Every name with external linkage
 * is one of theirs or starts with soft_.
 *
 * annotate.h has the locks, in the order in which they are taken.
 */
#ifndef SOFT_SOFT_H
#define SOFT_SOFT_H

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <infiniband/verbs.h>

#include "annotate.h"
#include "served.h"

#define soft_container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define SOFT_MAX_QP 16384
#define SOFT_MAX_QP_WR 32768
#define SOFT_MAX_SGE 32
#define SOFT_MAX_INLINE 1024
#define SOFT_MAX_CQ 65536
#define SOFT_MAX_CQE 1048576
#define SOFT_MAX_SRQ 8192
#define SOFT_MAX_PD 32768
#define SOFT_MAX_AH 1048576
#define SOFT_MAX_MR 1048576
#define SOFT_MAX_MW 1048576
#define SOFT_MAX_RD_ATOM 128 /* a power of two */
#define SOFT_MAX_MSG (1u << 30)
#define SOFT_MAX_MR_SIZE (1ull << 46)
#define SOFT_LID 1
#define SOFT_LID_MAX 0xbfff /* those after it are of multicast groups */
#define SOFT_MTU 4096	    /* IBV_MTU_4096: bytes of a datagram */
#define SOFT_PORT 1
#define SOFT_GID_TABLE 2
#define SOFT_PKEY 0xffff
#define SOFT_COMP_VECTORS 8

#define SOFT_QPN_MAX 0xffffffu	/* numbers of queue pairs have 24 bits */
#define SOFT_PSN_MASK 0xffffffu /* so have the numbers of packets, which wrap */

/*
 * Where counters that run freely begin: shortly before they wrap, so that a mistake there shows in
 * every program, and not after four billion requests.
 */
#define SOFT_COUNT_FIRST (UINT32_MAX - 2)

/* Nanoseconds. */
#define SOFT_SECOND 1000000000u
#define SOFT_MILLISECOND 1000000u
#define SOFT_MICROSECOND 1000u

/* A random number; keys come from here, so it must not be guessable. */
uint32_t soft_random32(void);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t soft_now(void);

/* close(2) without being a cancellation point. */
void soft_close(int fd);

/*
 * Marks a function that accesses memory of the consumer for another process.  Its order with the
 * accesses of the consumer is made by that process, where ThreadSanitizer does not see it.
 */
#if __has_attribute(disable_sanitizer_instrumentation)
/* clang's no_sanitize leaves atomics in. */
#define SOFT_FOREIGN_ACCESS __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define SOFT_FOREIGN_ACCESS __attribute__((no_sanitize("thread"), noinline))
#endif

/* A variable of the library that is read often: no other object may have one in its place. */
#define SOFT_HIDDEN __attribute__((visibility("hidden")))

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SOFT_TSAN 1
#else
#define SOFT_TSAN 0
#endif

#endif
