/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_table.h"
#include "softverbs/device/mutex.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/slot.h"

#include <stdlib.h>

/*
 * A queue-pair number is the slot of the process and an index into this table.  Freed indexes are
 * reused as late as possible, so that an old number is not found.
 */
static struct soft_mutex lock = SOFT_MUTEX_INITIALIZER;
static struct entry {
	struct soft_qp *qp;
	uint32_t next_free; /* index, in a queue */
} * table;
static uint32_t used GUARDED_BY(soft_locks.table);
static uint32_t fresh GUARDED_BY(soft_locks.table);
static uint32_t free_head GUARDED_BY(soft_locks.table);
static uint32_t free_tail GUARDED_BY(soft_locks.table);
static uint32_t free_count GUARDED_BY(soft_locks.table);

static uint32_t
table_take_index(void) REQUIRES(soft_locks.table)
{
	uint32_t index;

	if (fresh < SOFT_MAX_QP)
		return fresh++;
	index = free_head;
	free_head = table[index].next_free;
	free_count--;
	return index;
}

static void
table_lock(void) ACQUIRE(soft_locks.table) UNCHECKED
{
	soft_mutex_lock(&lock);
}

static void
table_unlock(void) RELEASE(soft_locks.table) UNCHECKED
{
	soft_mutex_unlock(&lock);
}

/* The queue pair at an index, with a reference; false beyond the last. */
static bool
table_get(uint32_t index, struct soft_qp **qp) SOFT_NO_LEAF_LOCK
{
	bool inside;

	table_lock();
	inside = table && index < fresh;
	*qp = inside ? table[index].qp : NULL;
	if (*qp)
		soft_qp_get(*qp);
	table_unlock();
	return inside;
}

int
soft_qp_table_add(struct soft_qp *qp)
{
	uint32_t index;
	int r = -ENOMEM;

	table_lock();
	if (!table)
		table = calloc(SOFT_MAX_QP, sizeof *table);
	if (table && used < SOFT_MAX_QP) {
		index = table_take_index();
		used++;
		table[index].qp = qp;
		qp->ibv.qp_num = soft_slot_number() << SOFT_QPN_INDEX_BITS | index;
		qp->ibv.handle = index;
		r = 0;
	}
	table_unlock();
	return r;
}

void
soft_qp_table_remove(struct soft_qp *qp)
{
	uint32_t index = qp->ibv.handle;

	table_lock();
	table[index].qp = NULL;
	if (free_count++)
		table[free_tail].next_free = index;
	else
		free_head = index;
	free_tail = index;
	used--;
	table_unlock();
}

void
soft_qp_table_each(void (*fn)(struct soft_qp *qp, void *arg), void *arg)
{
	struct soft_qp *qp;

	for (uint32_t i = 0; table_get(i, &qp); i++) {
		if (!qp)
			continue;
		fn(qp, arg);
		soft_qp_put(qp);
	}
}

void
soft_qp_table_free(void)
{
	table_lock();
	free(table);
	table = NULL;
	fresh = free_count = 0;
	table_unlock();
}

struct soft_qp *
soft_qp_table_find(uint32_t qpn)
{
	struct soft_qp *qp = NULL;

	table_lock();
	if (table && soft_qpn_slot(qpn) == soft_slot_number())
		qp = table[qpn & (SOFT_MAX_QP - 1)].qp;
	if (qp)
		soft_qp_get(qp);
	table_unlock();
	return qp;
}

void
soft_qp_table_reset(void) UNCHECKED
{
	soft_mutex_init(&lock);
	soft_runtime_leak(table);
	table = NULL;
	used = fresh = free_count = 0;
}
