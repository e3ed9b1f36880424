/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pz -- protection zone: a protection domain of the device
 */
#ifndef REARM_DAPL_PZ_H
#define REARM_DAPL_PZ_H

#include <infiniband/verbs.h>

#include "dapl/object/object.h"

struct dapl_pz {
	struct dapl_object obj;
	struct ibv_pd *pd; /* constant while open */
};

#endif
