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
pool_create(struct pool *pool, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, uint64_t bytes, uint32_t largest)
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
	for (uint32_t at = pool->page_count; at > 0; at -= 1u << top)
		free_add(pool, at - (1u << top), top);
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

/* With the lock. */
static bool
piece_take(struct pool *pool, uint32_t bytes, struct pool_piece *piece)
{
	const uint8_t order = order_of(bytes);
	uint8_t from = order;
	uint32_t at;

	while (from < POOL_ORDERS && pool->free[from] == POOL_NONE)
		from++;
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
		.bytes = bytes,
		.order = order,
	};
	pool->used += (uint64_t)1 << POOL_PAGE_SHIFT << order;
	if (pool->used > pool->most)
		pool->most = pool->used;
	return true;
}

static void
tell_first(struct pool *pool)
{
	struct pool_waiter *first = pool->first;

	if (!first || first->told)
		return;
	first->told = true;
	first->ready(first);
}

static void
waiter_remove(struct pool *pool, struct pool_waiter *waiter)
{
	struct pool_waiter **link = &pool->first, *before = NULL;

	if (!waiter->queued)
		return;
	while (*link != waiter) {
		before = *link;
		link = &before->next;
	}
	*link = waiter->next;
	if (pool->last == waiter)
		pool->last = before;
	waiter->queued = false;
}

bool
pool_take(struct pool *pool, uint32_t bytes, struct pool_waiter *waiter, struct pool_piece *piece)
{
	bool taken;

	pthread_mutex_lock(&pool->lock);
	waiter->told = false;
	taken = (!pool->first || pool->first == waiter) && piece_take(pool, bytes, piece);
	if (taken && waiter->queued) {
		waiter_remove(pool, waiter);
		tell_first(pool); /* there may be room for it, too */
	} else if (!taken && !waiter->queued) {
		waiter->queued = true;
		waiter->next = NULL;
		if (pool->first)
			pool->last->next = waiter;
		else
			pool->first = waiter;
		pool->last = waiter;
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
	pool->used -= (uint64_t)1 << POOL_PAGE_SHIFT << order;
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
	tell_first(pool);
	pthread_mutex_unlock(&pool->lock);
	piece->base = NULL;
}

bool
pool_forget(struct pool *pool, struct pool_waiter *waiter)
{
	bool told;

	pthread_mutex_lock(&pool->lock);
	told = waiter->told;
	if (waiter->queued) {
		waiter_remove(pool, waiter);
		tell_first(pool);
	}
	pthread_mutex_unlock(&pool->lock);
	return told;
}
