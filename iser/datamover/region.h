/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region -- memory that the device may touch
 */
#ifndef ISER_REGION_H
#define ISER_REGION_H

#include <dat2/udat.h>
#include <stddef.h>

struct region {
	unsigned char *base; /* NULL: no region */
	size_t bytes;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
};

/* Zeroed, page-aligned memory, registered.  DAT_SUCCESS, or the region is untouched. */
DAT_RETURN region_create(struct region *region, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, size_t bytes,
    DAT_MEM_PRIV_FLAGS privileges);

/* Safe on a region that was never created, and twice. */
DAT_RETURN region_free(struct region *region);

/* The piece at `offset`, as a local segment. */
DAT_LMR_TRIPLET region_segment(const struct region *region, size_t offset, size_t length);

#endif
