/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr.h"
#include "mapping.h"
#include "memlock.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"
#include "softverbs/wire/grant.h"
#include "softverbs/device/unserved.h"

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
	atomic_uint *count = &soft_context_of(mr->ibv.context)->mrs;
	int r = soft_context_count(count, soft_limits(mr->ibv.context)->max_mr);

	if (r)
		return r;
	soft_keys_lock();
	r = soft_key_add(&mr->key);
	mr->ibv.lkey = mr->ibv.rkey = mr->ibv.handle = mr->key.value;
	soft_keys_unlock();
	*count -= r != 0;
	return r;
}

/* 0, or -EBUSY if windows are bound to it. */
static int
mr_remove(struct soft_mr *mr) SOFT_NO_KEYS_LOCK
{
	bool bound;

	soft_keys_lock();
	bound = mr->windows;
	if (!bound) {
		soft_key_remove(&mr->key);
		soft_grant_revoke_used();
		soft_context_of(mr->ibv.context)->mrs--;
	}
	soft_keys_unlock();
	return bound ? -EBUSY : 0;
}

static int
mr_check_access(unsigned int access)
{
	if (access & IBV_ACCESS_ON_DEMAND) {
		SOFT_UNSERVED("ibv_reg_mr with IBV_ACCESS_ON_DEMAND");
		return -EOPNOTSUPP;
	}
	if (access & ~(unsigned int)ACCESS_KNOWN)
		return -EINVAL;
	/* Remote writing includes local writing. */
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/* Errors of the first transfer are found here. */
static int
mr_check(const struct ibv_context *context, const void *addr, size_t length, uint64_t iova,
    unsigned int access)
{
	const int r = mr_check_access(access);

	if (r)
		return r;
	if (length > soft_limits(context)->max_mr_size ||
	    (uintptr_t)addr + length < (uintptr_t)addr || iova + length < iova)
		return -EINVAL;
	return soft_mapping_check(addr, length, access & ACCESS_WRITES);
}

struct ibv_mr *
soft_ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	SOFT_UNCANCELLED;
	struct soft_mr *mr;
	int r;

	if (soft_context_is_stale(soft_context_of(pd->context)))
		r = -EIO;
	else
		r = mr_check(pd->context, addr, length, iova, access);
	if (r) {
		errno = -r;
		return NULL;
	}
	mr = calloc(1, sizeof *mr);
	if (!mr)
		return NULL;
	mr->ibv =
	    (struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
	mr->access = access;
	mr->key = (struct soft_key){
		.access = access | SOFT_ACCESS_LOCAL_READ,
		.owner = soft_pd_root(pd),
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
soft_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	SOFT_UNCANCELLED;

	return soft_ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *
soft_ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	SOFT_UNCANCELLED;

	return soft_ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

/*
 * What the region is to be.  Windows keep to the range and the domain that it had when they were
 * bound, so there must be none: 0, or -EBUSY.
 */
static int
mr_change(struct soft_mr *mr, int flags, const struct soft_key *key) SOFT_NO_KEYS_LOCK
{
	int r = 0;

	soft_keys_lock();
	if (mr->windows) {
		r = -EBUSY;
	} else {
		if (flags & IBV_REREG_MR_CHANGE_PD)
			mr->key.owner = key->owner;
		if (flags & IBV_REREG_MR_CHANGE_ACCESS)
			mr->key.access = key->access;
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
			mr->key.bytes = key->bytes;
			mr->key.address = mr->key.access & IBV_ACCESS_ZERO_BASED ? 0 : key->address;
			mr->key.length = key->length;
		}
		soft_grant_revoke_used();
	}
	soft_keys_unlock();
	return r;
}

/* What the input of ibv_rereg_mr() can be seen to be: the region is as it was. */
static bool
mr_is_change_good(const struct ibv_mr *mr, int flags, const struct ibv_pd *pd, const void *addr,
    size_t length, int access)
{
	if (!flags || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)
		return false;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!addr || !length))
		return false;
	if (flags & IBV_REREG_MR_CHANGE_PD && (!pd || pd->context != mr->context))
		return false;
	return flags & IBV_REREG_MR_CHANGE_ACCESS || !access;
}

/* The region keeps its keys. */
static int
mr_rereg(struct soft_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	const bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	const unsigned int rights =
	    flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned int)access : mr->access;
	struct soft_key key;
	uint64_t pages = 0;
	int r;

	if (!moves) {
		addr = mr->ibv.addr;
		length = mr->ibv.length;
	}
	r = mr_check(mr->ibv.context, addr, length, (uintptr_t)addr, rights);
	if (!r && moves)
		r = soft_memlock_add(addr, length, &pages);
	if (r)
		return r;
	key = (struct soft_key){
		.access = rights | SOFT_ACCESS_LOCAL_READ,
		.owner = flags & IBV_REREG_MR_CHANGE_PD ? soft_pd_root(pd) : NULL,
		.bytes = addr,
		.address = (uintptr_t)addr,
		.length = length,
	};
	r = mr_change(mr, flags, &key);
	if (moves) {
		soft_memlock_remove(r ? pages : mr->pages);
		mr->pages = r ? mr->pages : pages;
	}
	if (r)
		return r;
	mr->access = rights;
	mr->ibv.addr = addr;
	mr->ibv.length = length;
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		soft_pd_of(mr->ibv.pd)->users--;
		soft_pd_of(pd)->users++;
		mr->ibv.pd = pd;
	}
	return 0;
}

int
soft_ibv_rereg_mr(
    struct ibv_mr *ibv, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	SOFT_UNCANCELLED;
	int r;

	if (!mr_is_change_good(ibv, flags, pd, addr, length, access)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (soft_context_is_stale(soft_context_of(ibv->context)))
		r = -EIO;
	else
		r = mr_rereg(soft_mr_of(ibv), flags, pd, addr, length, access);
	if (!r)
		return 0;
	errno = -r;
	return IBV_REREG_MR_ERR_CMD;
}

int
soft_ibv_dereg_mr(struct ibv_mr *ibv)
{
	SOFT_UNCANCELLED;
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
