/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool -- registered memory of a fixed size, from which the commands of all connections take theirs
 *
 * Pieces are powers of two, halved and joined again.  Who finds no room waits in the queue of its
 * share, in which no task takes before the first: a large piece is not kept waiting by small ones.
 *
 * What holds a piece may keep it as long as its peer likes.  So no share takes all:
 *
 *	- One that has nothing takes whatever is free, and before all others.
 *	- One that has something takes no more than it leaves, and for each other of the shares that
 *	  were announced a piece of the largest size stays, as far as half of the pool goes.
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

/* What a connection has of the pool, and its queue; zeroed at first. */
struct pool_share {
	uint64_t used;
	struct pool_waiter *first, *last;
	struct pool_share *next; /* that waits, too */
};

struct pool_piece {
	unsigned char *base; /* NULL: none */
	struct pool_share *share;
	size_t offset;	/* in the region */
	uint32_t bytes; /* as asked for */
	uint8_t order;
};

/* A place in the queue; zeroed at first, apart from `ready`. */
struct pool_waiter {
	void (*ready)(struct pool_waiter *waiter); /* any thread, with the pool's lock: only post */
	struct pool_waiter *next;
	struct pool_piece *piece;
	uint32_t bytes;
	bool queued;
};

struct pool {
	struct region region;
	pthread_mutex_t lock; /* of all below */
	struct pool_page *pages;
	uint32_t page_count;
	uint32_t free[POOL_ORDERS];	  /* first page of a free piece, or POOL_NONE */
	struct pool_share *first, **last; /* that wait: who has got a piece goes to the end */
	bool starves;			  /* one that waits has nothing */
	uint32_t whole;			  /* free pieces of the largest size */
	uint32_t spare;			  /* so many of them are for shares that have nothing */
	uint32_t holders;		  /* shares that have something */
	uint8_t top;			  /* order of the largest size */
	uint64_t used, most, waits;
};

/*
 * `bytes` is rounded up to a multiple of `largest`, which is rounded up to a power of two; `shares`
 * is how many there will be at most.  DAT_SUCCESS, or nothing is allocated.
 */
DAT_RETURN pool_create(struct pool *pool, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, uint64_t bytes,
    uint32_t largest, uint32_t shares);

/* No piece is taken.  Safe on a zeroed pool. */
DAT_RETURN pool_free(struct pool *pool);

/*
 * False if there is no room: `waiter`, unless it is NULL, is in the queue then, and its ready() is
 * called when *piece is there.
 */
bool pool_take(struct pool *pool, struct pool_share *share, uint32_t bytes,
    struct pool_waiter *waiter, struct pool_piece *piece);

/* A piece that is none is fine. */
void pool_put(struct pool *pool, struct pool_piece *piece);

/* Leaves the queue.  False if it was not in it: ready() has been called. */
bool pool_forget(struct pool *pool, struct pool_share *share, struct pool_waiter *waiter);

#endif
