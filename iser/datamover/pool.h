/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool -- registered memory of a fixed size, from which the commands of all connections take theirs
 *
 * Pieces are powers of two, halved and joined again.  Who finds no room waits in a queue: no task
 * takes before the first in it, so that a large piece is not kept waiting by small ones.  What
 * holds a piece must not wait for another.
 */
#ifndef ISER_DATAMOVER_POOL_H
#define ISER_DATAMOVER_POOL_H

#include "iser/datamover/region.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define POOL_PAGE_SHIFT 12
#define POOL_ORDERS 20 /* the largest piece is 4 KiB << 19 */

struct pool_page;

struct pool_piece {
	unsigned char *base; /* NULL: none */
	size_t offset;	     /* in the region */
	uint32_t bytes;	     /* as asked for */
	uint8_t order;
};

/* A place in the queue; zeroed at first, apart from `ready`. */
struct pool_waiter {
	void (*ready)(struct pool_waiter *waiter); /* any thread, with the pool's lock: only post */
	struct pool_waiter *next;
	bool queued;
	bool told; /* ready() was called, and no try has followed */
};

struct pool {
	struct region region;
	pthread_mutex_t lock; /* of all below */
	struct pool_page *pages;
	uint32_t page_count;
	uint32_t free[POOL_ORDERS]; /* first page of a free piece, or POOL_NONE */
	struct pool_waiter *first, *last;
	uint64_t used, most, waits;
};

/*
 * `bytes` is rounded up to a multiple of `largest`, which is rounded up to a power of two.
 * DAT_SUCCESS, or nothing is allocated.
 */
DAT_RETURN pool_create(
    struct pool *pool, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, uint64_t bytes, uint32_t largest);

/* No piece is taken.  Safe on a zeroed pool. */
DAT_RETURN pool_free(struct pool *pool);

/*
 * False if there is no room, or others wait: `waiter` is in the queue then, and its ready() is
 * called when another try makes sense.
 */
bool pool_take(
    struct pool *pool, uint32_t bytes, struct pool_waiter *waiter, struct pool_piece *piece);

/* A piece that is none is fine. */
void pool_put(struct pool *pool, struct pool_piece *piece);

/* Leaves the queue.  True if ready() was called and no try has followed. */
bool pool_forget(struct pool *pool, struct pool_waiter *waiter);

#endif
