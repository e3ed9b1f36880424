/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/region.h"

#include <stdint.h>
#include <sys/mman.h>

DAT_RETURN
region_create(struct region *region, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, size_t bytes,
    DAT_MEM_PRIV_FLAGS privileges)
{
	DAT_REGION_DESCRIPTION where = { 0 };
	struct region r = { .bytes = bytes };
	DAT_VADDR registered_address;
	DAT_VLEN registered_bytes;
	DAT_RETURN ret;
	void *base;

	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	r.base = base;
	where.for_va = base;
	ret = dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, where, bytes, pz, privileges, DAT_VA_TYPE_VA,
	    &r.lmr, &r.lmr_context, &r.rmr_context, &registered_bytes, &registered_address);
	if (ret != DAT_SUCCESS) {
		munmap(base, bytes);
		return ret;
	}
	*region = r;
	return DAT_SUCCESS;
}

DAT_RETURN
region_free(struct region *region)
{
	DAT_RETURN ret;

	if (!region->base)
		return DAT_SUCCESS;
	ret = dat_lmr_free(region->lmr);
	/* Memory that is still registered stays mapped: the device may write to it. */
	if (ret == DAT_SUCCESS)
		munmap(region->base, region->bytes);
	*region = (struct region){ 0 };
	return ret;
}

DAT_LMR_TRIPLET
region_segment(const struct region *region, size_t offset, size_t length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)(region->base + offset),
		.segment_length = (DAT_SEG_LENGTH)length,
		.lmr_context = region->lmr_context,
	};
}
