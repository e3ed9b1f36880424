/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr.h"
#include "mapping.h"

#include <stdlib.h>

struct soft_mr {
	struct ibv_mr ibv;
	struct soft_mr *next; /* in its bucket */
	uint64_t iova;	      /* the address of its first byte in work requests */
	unsigned int access;
};

#define ACCESS_KNOWN \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
	    IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

#define ACCESS_WRITES (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/*
 * No thread takes the lock twice.  Writers have priority, so that they get the lock during a
 * sequence of transfers.
 */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static struct soft_mr **buckets GUARDED_BY(soft_locks.keys);
static size_t bucket_mask GUARDED_BY(soft_locks.keys);
static size_t count GUARDED_BY(soft_locks.keys);

static struct soft_mr *
mr_find(uint32_t key) REQUIRES_SHARED(soft_locks.keys)
{
	struct soft_mr *mr = buckets ? buckets[key & bucket_mask] : NULL;

	while (mr && mr->ibv.lkey != key)
		mr = mr->next;
	return mr;
}

static void
mr_link(struct soft_mr *mr) REQUIRES(soft_locks.keys)
{
	struct soft_mr **bucket = &buckets[mr->ibv.lkey & bucket_mask];

	mr->next = *bucket;
	*bucket = mr;
}

/*
 * Doubles the table when it is full.  Without memory the table keeps its size, and lookups get
 * slower.
 */
static int
mr_grow_table(void) REQUIRES(soft_locks.keys)
{
	size_t old = buckets ? bucket_mask + 1 : 0, size = old ? old * 2 : 64;
	struct soft_mr **table, **previous = buckets, *mr, *next;

	if (count < old)
		return 0;
	table = calloc(size, sizeof *table);
	if (!table)
		return old ? 0 : -ENOMEM;
	buckets = table;
	bucket_mask = size - 1;
	for (size_t i = 0; i < old; i++) {
		for (mr = previous[i]; mr; mr = next) {
			next = mr->next;
			mr_link(mr);
		}
	}
	free(previous);
	return 0;
}

static void
mr_lock_exclusively(void) ACQUIRE(soft_locks.keys) SOFT_NO_CQ_LOCK UNCHECKED
{
	pthread_rwlock_wrlock(&lock);
}

static void
mr_unlock(void) RELEASE(soft_locks.keys) UNCHECKED
{
	pthread_rwlock_unlock(&lock);
}

static int
mr_add(struct soft_mr *mr) SOFT_NO_KEYS_LOCK
{
	uint32_t key;
	int r;

	mr_lock_exclusively();
	r = count < SOFT_MAX_MR ? mr_grow_table() : -ENOMEM;
	if (!r) {
		do
			key = soft_random32();
		while (!key || mr_find(key));
		mr->ibv.lkey = mr->ibv.rkey = mr->ibv.handle = key;
		mr_link(mr);
		count++;
	}
	mr_unlock();
	return r;
}

static void
mr_remove(struct soft_mr *mr) SOFT_NO_KEYS_LOCK
{
	struct soft_mr **link;

	mr_lock_exclusively();
	link = &buckets[mr->ibv.lkey & bucket_mask];
	while (*link != mr)
		link = &(*link)->next;
	*link = mr->next;
	if (--count == 0) {
		free(buckets);
		buckets = NULL;
	}
	mr_unlock();
}

void
soft_mr_lock(void) UNCHECKED
{
	pthread_rwlock_rdlock(&lock);
}

void
soft_mr_unlock(void) UNCHECKED
{
	pthread_rwlock_unlock(&lock);
}

void *
soft_mr_translate(
    const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, unsigned int access)
{
	const struct soft_mr *mr = mr_find(key);
	uint64_t offset;

	if (!mr || mr->ibv.pd != pd || (mr->access & access) != access)
		return NULL;
	offset = address - mr->iova; /* wraps to a huge number below the start */
	if (offset > mr->ibv.length || length > mr->ibv.length - offset)
		return NULL;
	return (char *)mr->ibv.addr + offset;
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct soft_mr *mr;
	int r = 0;

	if (soft_context_is_stale(soft_context_of(pd->context)))
		r = -EIO;
	else if (access & ~(unsigned int)ACCESS_KNOWN)
		r = access & IBV_ACCESS_ON_DEMAND ? -EOPNOTSUPP : -EINVAL;
	else if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
		 !(access & IBV_ACCESS_LOCAL_WRITE))
		r = -EINVAL; /* remote writing includes local writing */
	else if (length > SOFT_MAX_MR_SIZE || (uintptr_t)addr + length < (uintptr_t)addr ||
		 iova + length < iova)
		r = -EINVAL;
	else /* errors of the first transfer are found here */
		r = soft_mapping_check(addr, length, access & ACCESS_WRITES);
	if (r) {
		errno = -r;
		return NULL;
	}
	mr = calloc(1, sizeof *mr);
	if (!mr)
		return NULL;
	mr->ibv =
	    (struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
	mr->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
	mr->access = access;
	r = mr_add(mr);
	if (r) {
		free(mr);
		errno = -r;
		return NULL;
	}
	soft_pd_of(pd)->users++;
	return &mr->ibv;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *
ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

int
ibv_dereg_mr(struct ibv_mr *ibv)
{
	struct soft_mr *mr = soft_container_of(ibv, struct soft_mr, ibv);

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return 0;
	mr_remove(mr);
	soft_pd_of(ibv->pd)->users--;
	free(mr);
	return 0;
}
