/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr -- registered memory regions
 */
#ifndef SOFT_MR_H
#define SOFT_MR_H

#include "key.h"
#include "softverbs/device/pd.h"

struct soft_mr {
	struct ibv_mr ibv;
	struct soft_key key;
	uint32_t windows GUARDED_BY(soft_locks.keys); /* that are bound to it */
	unsigned int access;			      /* as the program gave it */
	uint64_t pages;				      /* what it counts for; see memlock.h */
};

static inline struct soft_mr *
soft_mr_of(struct ibv_mr *mr)
{
	return soft_container_of(mr, struct soft_mr, ibv);
}

#endif
