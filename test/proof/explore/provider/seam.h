/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seam -- read ahead of every source of dapl/: what is no primitive of evd/os.h there
 *
 * An atomic variable is a scheduling point; descriptors are the model's and have no flags.
 */
#ifndef REARM_EXPLORE_SEAM_H
#define REARM_EXPLORE_SEAM_H

#include <fcntl.h>
#include <stdatomic.h>

#include "world.h"

/* So little that few endpoints, or requests to connect, reach each bound. */
#define CQ_DEPTH_MIN 4
#define REQUESTS_AT_ONCE 2

/* The compiler cannot see that the modelled errno is negated to something below zero. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#ifdef __clang__
#define SEAM_LOAD __c11_atomic_load
#define SEAM_STORE __c11_atomic_store
#define SEAM_ADD __c11_atomic_fetch_add
#define SEAM_SUB __c11_atomic_fetch_sub
#else
#define SEAM_LOAD __atomic_load_n
#define SEAM_STORE __atomic_store_n
#define SEAM_ADD __atomic_fetch_add
#define SEAM_SUB __atomic_fetch_sub
#endif

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#define atomic_load_explicit(p, order) (world_atomic((p), false, OS_SITE), SEAM_LOAD((p), (order)))
#define atomic_store_explicit(p, value, order) \
	(world_atomic((p), true, OS_SITE), SEAM_STORE((p), (value), (order)))
#define atomic_fetch_add_explicit(p, value, order) \
	(world_atomic((p), true, OS_SITE), SEAM_ADD((p), (value), (order)))
#define atomic_fetch_sub_explicit(p, value, order) \
	(world_atomic((p), true, OS_SITE), SEAM_SUB((p), (value), (order)))

#define fcntl(fd, ...) ((void)(fd), 0)

#endif
