/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define POOL_NONE UINT32_MAX

/* Of the first page of a piece; of other pages nothing is valid but `free`, which is false. */
struct pool_page {
	uint32_t next, prev; /* of the list of free pieces of this order */
	uint8_t order;
	bool free;
};

static void
free_add(struct pool *pool, uint32_t at, uint8_t order)
{
	struct pool_page *page = &pool->pages[at];

	*page = (struct pool_page){ pool->free[order], POOL_NONE, order, true };
	if (page->next != POOL_NONE)
		pool->pages[page->next].prev = at;
	pool->free[order] = at;
	pool->whole += order == pool->top;
}

static void
free_remove(struct pool *pool, uint32_t at)
{
	struct pool_page *page = &pool->pages[at];

	if (page->prev == POOL_NONE)
		pool->free[page->order] = page->next;
	else
		pool->pages[page->prev].next = page->next;
	if (page->next != POOL_NONE)
		pool->pages[page->next].prev = page->prev;
	page->free = false;
	pool->whole -= page->order == pool->top;
}

static uint8_t
order_of(uint64_t bytes)
{
	uint8_t order = 0;

	while (((uint64_t)1 << POOL_PAGE_SHIFT << order) < bytes)
		order++;
	return order;
}

DAT_RETURN
pool_create(struct pool *pool, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, uint64_t bytes, uint32_t largest,
    uint32_t shares)
{
	const uint8_t top = order_of(largest);
	const uint64_t piece = (uint64_t)1 << POOL_PAGE_SHIFT << top;
	DAT_RETURN ret;

	assert(top < POOL_ORDERS);
	memset(pool, 0, sizeof *pool);
	bytes = (bytes + piece - 1) / piece * piece;
	pool->page_count = (uint32_t)(bytes >> POOL_PAGE_SHIFT);
	pool->pages = calloc(pool->page_count, sizeof *pool->pages);
	if (!pool->pages)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	ret = region_create(&pool->region, ia, pz, bytes,
	    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
	if (ret != DAT_SUCCESS) {
		free(pool->pages);
		pool->pages = NULL;
		return ret;
	}
	pthread_mutex_init(&pool->lock, NULL);
	for (unsigned int i = 0; i < POOL_ORDERS; i++)
		pool->free[i] = POOL_NONE;
	pool->last = &pool->first;
	pool->top = top;
	for (uint32_t at = pool->page_count; at > 0; at -= 1u << top)
		free_add(pool, at - (1u << top), top);
	pool->spare = shares < pool->whole / 2 ? shares : pool->whole / 2;
	return DAT_SUCCESS;
}

DAT_RETURN
pool_free(struct pool *pool)
{
	DAT_RETURN ret = region_free(&pool->region);

	if (pool->pages)
		pthread_mutex_destroy(&pool->lock);
	free(pool->pages);
	pool->pages = NULL;
	return ret;
}

static uint64_t
size_of(uint8_t order)
{
	return (uint64_t)1 << POOL_PAGE_SHIFT << order;
}

/* With the lock, as all that follows.  The order of the piece to cut it from, or POOL_ORDERS. */
static uint8_t
source_of(const struct pool *pool, const struct pool_share *share, uint8_t order)
{
	const uint64_t free_bytes = size_of(0) * pool->page_count - pool->used;
	const uint64_t wanted = share->used + size_of(order) + size_of(order);
	uint8_t from = order;

	while (from < POOL_ORDERS && pool->free[from] == POOL_NONE)
		from++;
	if (share->used == 0 || from >= POOL_ORDERS)
		return from;
	if (pool->starves || wanted > free_bytes)
		return POOL_ORDERS;
	if (from == pool->top && pool->whole + pool->holders <= pool->spare)
		return POOL_ORDERS;
	return from;
}

static bool
piece_take(struct pool *pool, struct pool_share *share, uint32_t bytes, struct pool_piece *piece)
{
	const uint8_t order = order_of(bytes);
	uint8_t from = source_of(pool, share, order);
	uint32_t at;

	if (from >= POOL_ORDERS)
		return false;
	at = pool->free[from];
	free_remove(pool, at);
	while (from > order) {
		from--;
		free_add(pool, at + (1u << from), from);
	}
	*piece = (struct pool_piece){
		.offset = (size_t)at << POOL_PAGE_SHIFT,
		.base = pool->region.base + ((size_t)at << POOL_PAGE_SHIFT),
		.share = share,
		.bytes = bytes,
		.order = order,
	};
	pool->holders += share->used == 0;
	share->used += size_of(order);
	pool->used += size_of(order);
	if (pool->used > pool->most)
		pool->most = pool->used;
	return true;
}

/* ---- those that wait ---- */

static void
share_append(struct pool *pool, struct pool_share *share)
{
	share->next = NULL;
	*pool->last = share;
	pool->last = &share->next;
}

static void
share_unlink(struct pool *pool, struct pool_share **link)
{
	struct pool_share *share = *link;

	*link = share->next;
	if (pool->last == &share->next)
		pool->last = link;
}

/* The first in the queue has left it. */
static void
share_advance(struct pool *pool, struct pool_share **link, struct pool_waiter *waiter)
{
	struct pool_share *share = *link;

	share->first = waiter->next;
	waiter->queued = false;
	share_unlink(pool, link);
	if (share->first)
		share_append(pool, share);
}

/* Of the shares that wait, one of those that have nothing, or of the others.  False: none can. */
static bool
serve_one(struct pool *pool, bool have_nothing)
{
	for (struct pool_share **link = &pool->first; *link; link = &(*link)->next) {
		struct pool_waiter *waiter = (*link)->first;

		if (((*link)->used == 0) != have_nothing ||
		    !piece_take(pool, *link, waiter->bytes, waiter->piece))
			continue;
		share_advance(pool, link, waiter);
		waiter->ready(waiter);
		return true;
	}
	return false;
}

static void
serve(struct pool *pool)
{
	while (serve_one(pool, true))
		;
	pool->starves = false;
	for (const struct pool_share *share = pool->first; share; share = share->next)
		pool->starves |= share->used == 0;
	while (!pool->starves && serve_one(pool, false))
		;
}

bool
pool_take(struct pool *pool, struct pool_share *share, uint32_t bytes, struct pool_waiter *waiter,
    struct pool_piece *piece)
{
	bool taken;

	pthread_mutex_lock(&pool->lock);
	taken = !share->first && piece_take(pool, share, bytes, piece);
	if (!taken && waiter) {
		waiter->queued = true;
		waiter->next = NULL;
		waiter->piece = piece;
		waiter->bytes = bytes;
		if (share->first) {
			share->last->next = waiter;
		} else {
			share->first = waiter;
			share_append(pool, share);
			pool->starves |= share->used == 0;
		}
		share->last = waiter;
		pool->waits++;
	}
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

void
pool_put(struct pool *pool, struct pool_piece *piece)
{
	uint32_t at = (uint32_t)(piece->offset >> POOL_PAGE_SHIFT);
	uint8_t order = piece->order;

	if (!piece->base)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->used -= size_of(order);
	piece->share->used -= size_of(order);
	pool->holders -= piece->share->used == 0;
	while (order + 1 < POOL_ORDERS) {
		const uint32_t buddy = at ^ 1u << order;

		if (buddy >= pool->page_count || !pool->pages[buddy].free ||
		    pool->pages[buddy].order != order)
			break;
		free_remove(pool, buddy);
		at &= ~(1u << order);
		order++;
	}
	free_add(pool, at, order);
	piece->base = NULL;
	serve(pool);
	pthread_mutex_unlock(&pool->lock);
}

bool
pool_forget(struct pool *pool, struct pool_share *share, struct pool_waiter *waiter)
{
	bool queued;

	pthread_mutex_lock(&pool->lock);
	queued = waiter->queued;
	if (queued && share->first == waiter) {
		struct pool_share **link = &pool->first;

		while (*link != share)
			link = &(*link)->next;
		share_advance(pool, link, waiter);
		serve(pool); /* there may be room for the next one */
	} else if (queued) {
		struct pool_waiter *before = share->first;

		while (before->next != waiter)
			before = before->next;
		before->next = waiter->next;
		if (share->last == waiter)
			share->last = before;
		waiter->queued = false;
	}
	pthread_mutex_unlock(&pool->lock);
	return queued;
}
