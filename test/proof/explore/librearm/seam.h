/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seam -- read ahead of every source of rearm/: what is no primitive of evd/os.h there
 *
 * An atomic variable is a scheduling point; the flags of a descriptor are the model's.
 */
#ifndef REARM_EXPLORE_LIBREARM_SEAM_H
#define REARM_EXPLORE_LIBREARM_SEAM_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "world.h"

#include "rearm/internal.h"

/* So little that a few events, and few threads, reach every bound. */
#undef REARM_BATCH
#define REARM_BATCH EVD_BATCH
#undef REARM_POOL
#define REARM_POOL 2

/* The compiler cannot see that the modelled errno is negated to something below zero. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#undef atomic_load
#undef atomic_store
#define atomic_load(p) \
	(world_atomic((p), false, OS_SITE), atomic_load_explicit((p), memory_order_seq_cst))
#define atomic_store(p, value) \
	(world_atomic((p), true, OS_SITE), \
	    atomic_store_explicit((p), (value), memory_order_seq_cst))

/* channels.c: F_GETFL and F_SETFL. */
int librearm_fcntl(int fd, int command, ...);
#define fcntl(...) librearm_fcntl(__VA_ARGS__)

#endif
