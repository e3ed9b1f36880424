/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/srq/srq_entry.h"

#include <string.h>

#include "dapl/evd/wr_id.h"

/* ---- the entries ---- */

/* Chains the entries from `first` on; the last one leads to `size`. */
static void
srq_chain(struct dapl_srq_entry *entries, uint32_t first, uint32_t size)
{
	for (uint32_t i = first; i < size; i++)
		entries[i] = (struct dapl_srq_entry){ .next = i + 1 };
}

int
dapl_srq_entries_create(struct dapl_srq *srq, DAT_COUNT depth)
{
	struct dapl_srq_entry *entries = os_alloc((size_t)depth, sizeof *entries);

	if (!entries)
		return -ENOMEM;
	srq_chain(entries, 0, (uint32_t)depth);
	/* A completion of the last queue in the slot may still be looked up here. */
	dapl_srq_lock(srq);
	srq->entries = entries;
	srq->size = (uint32_t)depth;
	srq->depth = depth;
	srq->free = 0;
	srq->posted = srq->taken = 0;
	memset(srq->buckets, 0, sizeof srq->buckets);
	srq->members = NULL;
	srq->generation = DAPL_WR_GENERATION_NONE;
	dapl_srq_unlock(srq);
	return 0;
}

void
dapl_srq_entries_name(struct dapl_srq *srq, uint64_t serial)
{
	dapl_srq_lock(srq);
	srq->generation = (uint32_t)serial & DAPL_WR_GENERATION_MASK;
	dapl_srq_unlock(srq);
}

void
dapl_srq_entries_free(struct dapl_srq *srq)
{
	struct dapl_srq_entry *entries;

	dapl_srq_lock(srq);
	entries = srq->entries;
	srq->entries = NULL;
	srq->size = 0;
	srq->generation = DAPL_WR_GENERATION_NONE;
	dapl_srq_unlock(srq);
	os_free(entries);
}

/* A shorter queue keeps its entries: those in use may be anywhere. */
int
dapl_srq_entries_resize(struct dapl_srq *srq, DAT_COUNT depth)
{
	const uint32_t size = (uint32_t)depth;
	struct dapl_srq_entry *fresh = NULL, *old = NULL;
	int r = 0;

	if (size > srq->size) { /* changes under membership alone */
		fresh = os_alloc(size, sizeof *fresh);
		if (!fresh)
			return -ENOMEM;
		srq_chain(fresh, srq->size, size);
	}
	dapl_srq_lock(srq);
	if (srq->posted + srq->taken > depth) {
		r = -EBUSY;
	} else {
		if (fresh) {
			/* The end of the chain leads to the first new entry: its index is the old
			 * size. */
			memcpy(fresh, srq->entries, srq->size * sizeof *fresh);
			old = srq->entries;
			srq->entries = fresh;
			srq->size = size;
		}
		srq->depth = depth;
	}
	dapl_srq_unlock(srq);
	os_free(r ? fresh : old);
	return r;
}

bool
dapl_srq_entry_post(struct dapl_srq *srq, DAT_DTO_COOKIE cookie, uint32_t *place)
{
	struct dapl_srq_entry *entry;

	if (srq->posted + srq->taken >= srq->depth)
		return false;
	*place = srq->free;
	entry = &srq->entries[*place];
	srq->free = entry->next;
	entry->cookie = cookie;
	entry->posted = true;
	entry->member = NULL;
	srq->posted++;
	return true;
}

static void
srq_entry_free(struct dapl_srq *srq, struct dapl_srq_entry *entry) REQUIRES(dapl_locks.srq)
{
	if (entry->posted)
		srq->posted--;
	else
		srq->taken--;
	entry->posted = false;
	entry->member = NULL;
	entry->next = srq->free;
	srq->free = (uint32_t)(entry - srq->entries);
}

void
dapl_srq_entry_retract(struct dapl_srq *srq, uint32_t place)
{
	srq_entry_free(srq, &srq->entries[place]);
}

/* ---- completions ---- */

/*
 * The locked queue and the entry of a completion, or NULL, unlocked, when the queue or the entry is
 * gone.
 */
static struct dapl_srq *
srq_enter(uint64_t id, struct dapl_srq_entry **entry) TRY_ACQUIRE(dapl_locks.srq)
    EXCLUDES(dapl_locks.srq)
{
	struct dapl_srq *srq = dapl_slab_at(&dapl_srq_slab, dapl_wr_id_slot(id));
	const uint32_t place = dapl_wr_id_place(id);

	if (!srq)
		return NULL;
	dapl_srq_lock(srq);
	if (srq->generation == dapl_wr_id_generation(id) && place < srq->size) {
		*entry = &srq->entries[place];
		return srq;
	}
	dapl_srq_unlock(srq);
	return NULL;
}

static struct dapl_srq_member **
srq_bucket(struct dapl_srq *srq, uint32_t qp_num)
{
	return &srq->buckets[qp_num % DAPL_SRQ_BUCKETS];
}

struct dapl_srq_member *
dapl_srq_take(const struct ibv_wc *wc)
{
	struct dapl_srq_member *member = NULL;
	struct dapl_srq_entry *entry;
	struct dapl_srq *srq = srq_enter(wc->wr_id, &entry);

	if (!srq)
		return NULL;
	if (entry->posted) {
		member = *srq_bucket(srq, wc->qp_num);
		while (member && member->qp_num != wc->qp_num)
			member = member->next;
		if (member) {
			entry->posted = false;
			entry->member = member;
			srq->posted--;
			srq->taken++;
		} else {
			srq_entry_free(srq, entry);
		}
	}
	dapl_srq_unlock(srq);
	return member;
}

struct dapl_srq_member *
dapl_srq_reap(uint64_t id, DAT_DTO_COOKIE *cookie)
{
	struct dapl_srq_member *member;
	struct dapl_srq_entry *entry;
	struct dapl_srq *srq = srq_enter(id, &entry);

	if (!srq)
		return NULL;
	member = entry->member;
	*cookie = entry->cookie;
	if (member)
		srq_entry_free(srq, entry);
	dapl_srq_unlock(srq);
	return member;
}
