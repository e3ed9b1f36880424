/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/handle.h"

#include <pthread.h>
#include <sys/mman.h>

#define STEP (1u << 12) /* cells made accessible at once */
#define IDLE_MIN 65536u

_Static_assert(offsetof(struct dapl_handle, provider) == 0, "registries read the first word");

_Atomic(uintptr_t) dapl_handle_base = DAPL_HANDLE_NO_BASE;

/*
 * A wr_id has 20 bits of some serial numbers: these bits soon wrap, so a mistake there shows in
 * every program.
 */
#define SERIAL_FIRST ((1u << 20) - 8)

static struct {
	pthread_mutex_t lock;
	uint32_t made; /* cells below this index have been used */
	uint32_t open; /* cells below this index can be written */
	struct dapl_handle *first, *last;
	uint32_t idle;
	uint64_t last_serial;
} cells = { .lock = PTHREAD_MUTEX_INITIALIZER, .last_serial = SERIAL_FIRST };

static void
handle_lock_cells(void) ACQUIRE(dapl_locks.handles) UNCHECKED
{
	pthread_mutex_lock(&cells.lock);
}

static void
handle_unlock_cells(void) RELEASE(dapl_locks.handles) UNCHECKED
{
	pthread_mutex_unlock(&cells.lock);
}

/*
 * The range, reserved at the first use.  All of it is readable, because a registry reads the first
 * word of a handle before the provider gets the call.  Only cells in use need memory.
 */
static struct dapl_handle *
handle_reserve(void) REQUIRES(dapl_locks.handles)
{
	const uintptr_t at = atomic_load_explicit(&dapl_handle_base, memory_order_relaxed);
	struct dapl_handle *base;

	if (at != DAPL_HANDLE_NO_BASE)
		return (struct dapl_handle *)at;
	base = mmap(NULL, DAPL_HANDLE_CELLS * sizeof *base, PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&dapl_handle_base, (uintptr_t)base, memory_order_release);
	return base;
}

bool
dapl_handle_range(struct dat_handle_range *range)
{
	struct dapl_handle *base;

	handle_lock_cells();
	base = handle_reserve();
	handle_unlock_cells();
	*range = (struct dat_handle_range){ base, DAPL_HANDLE_CELLS * sizeof *base, sizeof *base };
	return base != NULL;
}

/* Makes the range writable in steps, so that unused parts need no memory. */
static struct dapl_handle *
handle_fresh_cell(void) REQUIRES(dapl_locks.handles)
{
	struct dapl_handle *base = handle_reserve();
	const uint32_t n = cells.made;

	if (!base)
		return NULL;
	if (n == cells.open) {
		if (n == DAPL_HANDLE_CELLS ||
		    mprotect(base + n, STEP * sizeof *base, PROT_READ | PROT_WRITE))
			return NULL;
		cells.open += STEP;
	}
	cells.made = n + 1;
	return base + n;
}

struct dapl_handle *
dapl_handle_create(
    const DAT_PROVIDER *provider, enum dapl_kind kind, void *object, uint64_t *serial)
{
	struct dapl_handle *h = NULL;

	handle_lock_cells();
	if (cells.idle <= IDLE_MIN)
		h = handle_fresh_cell();
	if (!h && cells.first) {
		h = cells.first;
		cells.first = h->next;
		if (!cells.first)
			cells.last = NULL;
		cells.idle--;
	}
	if (h) {
		*serial = ++cells.last_serial;
		atomic_store_explicit(&h->serial, *serial, memory_order_relaxed);
		atomic_store_explicit(&h->provider, provider, memory_order_relaxed);
		atomic_store_explicit(&h->object, object, memory_order_relaxed);
		atomic_store_explicit(
		    &h->tag, DAPL_HANDLE_MAGIC | (uint32_t)kind, memory_order_release);
	}
	handle_unlock_cells();
	return h;
}

void
dapl_handle_free(struct dapl_handle *h)
{
	handle_lock_cells();
	atomic_store_explicit(&h->tag, 0, memory_order_release);
	h->next = NULL;
	if (cells.last)
		cells.last->next = h;
	else
		cells.first = h;
	cells.last = h;
	cells.idle++;
	handle_unlock_cells();
}
