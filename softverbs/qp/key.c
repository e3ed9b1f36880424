/* SPDX-License-Identifier: BSD-3-Clause */
#include "key.h"
#include "softverbs/device/mutex.h"
#include "softverbs/device/runtime.h"

#include <stdlib.h>

/*
 * No thread takes it twice.  Writers have priority, so that a sequence of transfers cannot keep
 * one out.
 */
static struct soft_rwlock lock = SOFT_RWLOCK_INITIALIZER;
static struct soft_key **buckets GUARDED_BY(soft_locks.keys);
static size_t bucket_mask GUARDED_BY(soft_locks.keys);
static size_t count GUARDED_BY(soft_locks.keys);

/* Values that are alike are in one bucket. */
static struct soft_key **
key_bucket(uint32_t value) REQUIRES_SHARED(soft_locks.keys)
{
	return &buckets[value >> 8 & bucket_mask];
}

static void
key_link(struct soft_key *key) REQUIRES(soft_locks.keys)
{
	struct soft_key **bucket = key_bucket(key->value);

	key->next = *bucket;
	*bucket = key;
}

/* Doubles the table when it is full.  If memory is missing it stays as it is, and gets slower. */
static int
key_grow_table(void) REQUIRES(soft_locks.keys)
{
	size_t old = buckets ? bucket_mask + 1 : 0, size = old ? old * 2 : 64;
	struct soft_key **table, **previous = buckets, *key, *next;

	if (count < old)
		return 0;
	table = calloc(size, sizeof *table);
	if (!table)
		return old ? 0 : -ENOMEM;
	buckets = table;
	bucket_mask = size - 1;
	for (size_t i = 0; i < old; i++) {
		for (key = previous[i]; key; key = next) {
			next = key->next;
			key_link(key);
		}
	}
	free(previous);
	return 0;
}

void
soft_keys_lock_shared(void) UNCHECKED
{
	soft_rwlock_read(&lock);
}

void
soft_keys_unlock_shared(void) UNCHECKED
{
	soft_rwlock_unread(&lock);
}

void
soft_keys_lock(void) UNCHECKED
{
	soft_rwlock_write(&lock);
}

void
soft_keys_unlock(void) UNCHECKED
{
	soft_rwlock_unwrite(&lock);
}

int
soft_key_add(struct soft_key *key)
{
	static uint32_t serials;
	const int r = key_grow_table();

	if (r)
		return r;
	do
		key->value = soft_random32();
	while (!(key->value >> 8) || soft_key_find(key->value));
	key->serial = ++serials;
	key_link(key);
	count++;
	return 0;
}

void
soft_key_remove(struct soft_key *key)
{
	struct soft_key **link = key_bucket(key->value);

	while (*link != key)
		link = &(*link)->next;
	*link = key->next;
	if (--count == 0) {
		free(buckets);
		buckets = NULL;
	}
}

struct soft_key *
soft_key_find(uint32_t value)
{
	struct soft_key *key = buckets ? *key_bucket(value) : NULL;

	while (key && !soft_key_is_alike(key->value, value))
		key = key->next;
	return key;
}

void *
soft_key_translate(const struct ibv_pd *pd, const struct soft_qp *qp, uint32_t value,
    uint64_t address, uint64_t length, unsigned int access)
{
	const struct soft_key *key = buckets ? *key_bucket(value) : NULL;
	uint64_t offset;

	while (key && key->value != value)
		key = key->next;
	if (!key || (key->access & access) != access || (key->owner != pd && key->owner != qp))
		return NULL;
	offset = address - key->address; /* wraps to a huge number below the start */
	if (offset > key->length || length > key->length - offset)
		return NULL;
	return key->bytes + offset;
}

/* A thread of the parent may have had the lock, and the table half changed. */
void
soft_keys_reset(void) UNCHECKED
{
	soft_rwlock_init(&lock);
	soft_runtime_leak(buckets);
	buckets = NULL;
	bucket_mask = count = 0;
}
