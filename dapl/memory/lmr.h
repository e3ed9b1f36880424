/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lmr -- local memory region: memory the device may reach
 */
#ifndef REARM_DAPL_LMR_H
#define REARM_DAPL_LMR_H

#include "dapl/memory/pz.h"

struct dapl_lmr {
	struct dapl_object obj;
	struct dapl_pz *pz; /* holds a reference; constant while open, as is what follows */
	struct ibv_mr *mr;
	DAT_MEM_TYPE type;
	DAT_REGION_DESCRIPTION region;
	char shared_id[DAT_LMR_COOKIE_SIZE]; /* of DAT_MEM_TYPE_SHARED_VIRTUAL */
	DAT_VLEN length;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
	bool unbindable; /* no remote region can be bound to it */
	/*
	 * Posted binds to this region whose completion was not polled.  Increases under the
	 * object's lock.
	 */
	atomic_uint binds;
};

/* The address of the first byte, as triplets have it. */
static inline DAT_VADDR
dapl_lmr_base(const struct dapl_lmr *lmr)
{
	return lmr->va_type == DAT_VA_TYPE_ZB ? 0 : (DAT_VADDR)(uintptr_t)lmr->mr->addr;
}

#define DAPL_PRIV_REMOTE_ATOMIC 0x40 /* of the InfiniBand extension */
#define DAPL_PRIV_KNOWN (DAT_MEM_PRIV_ALL_FLAG | DAPL_PRIV_REMOTE_ATOMIC)

#endif
