/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr.h"
#include "mapping.h"
#include "memlock.h"

#include <stdlib.h>

#define ACCESS_KNOWN \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
	    IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

/* What the memory has to be writable for.  As in the kernel: a window may be for writing. */
#define ACCESS_WRITES \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | \
	    IBV_ACCESS_MW_BIND)

/* 0, or -ENOMEM. */
static int
mr_add(struct soft_mr *mr) SOFT_NO_KEYS_LOCK
{
	int r;

	soft_keys_lock();
	r = soft_key_add(&mr->key);
	mr->ibv.lkey = mr->ibv.rkey = mr->ibv.handle = mr->key.value;
	soft_keys_unlock();
	return r;
}

/* 0, or -EBUSY if windows are bound to it. */
static int
mr_remove(struct soft_mr *mr) SOFT_NO_KEYS_LOCK
{
	bool bound;

	soft_keys_lock();
	bound = mr->windows;
	if (!bound)
		soft_key_remove(&mr->key);
	soft_keys_unlock();
	return bound ? -EBUSY : 0;
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
	mr->key = (struct soft_key){
		.access = access | SOFT_ACCESS_LOCAL_READ,
		.owner = pd,
		.bytes = addr,
		.address = access & IBV_ACCESS_ZERO_BASED ? 0 : iova,
		.length = length,
	};
	r = soft_memlock_add(addr, length, &mr->pages);
	if (r)
		goto free_mr;
	r = mr_add(mr);
	if (r)
		goto unlock;
	soft_pd_of(pd)->users++;
	return &mr->ibv;

unlock:
	soft_memlock_remove(mr->pages);
free_mr:
	free(mr);
	errno = -r;
	return NULL;
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
	struct soft_mr *mr = soft_mr_of(ibv);

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return 0;
	if (mr_remove(mr))
		return EBUSY;
	soft_pd_of(ibv->pd)->users--;
	soft_memlock_remove(mr->pages);
	free(mr);
	return 0;
}
