/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pd -- a protection domain
 */
#ifndef SOFT_PD_H
#define SOFT_PD_H

#include "soft/device/context.h"

struct soft_pd {
	struct ibv_pd ibv;
	atomic_uint users; /* MRs, windows, QPs, SRQs and address handles; freed only at 0 */
};

static inline struct soft_pd *
soft_pd_of(struct ibv_pd *pd)
{
	return soft_container_of(pd, struct soft_pd, ibv);
}

#endif
