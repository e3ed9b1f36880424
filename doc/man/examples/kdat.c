/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/kdat.h>

/* As in a kDAPL source. */
static DAT_RETURN
register_page(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, void *page,
    DAT_VLEN length, DAT_LMR_HANDLE *lmr)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = page };
	DAT_LMR_CONTEXT context;
	DAT_RETURN ret;
	DAT_VADDR alignment;

	ret = dat_ia_memtype_hint(ia, DAT_MEM_TYPE_VIRTUAL, length,
	    DAT_MEM_OPTIMIZE_DONT_CARE, &length, &alignment);
	if (ret != DAT_SUCCESS)
		return ret;
	return dat_lmr_kcreate(ia, DAT_MEM_TYPE_VIRTUAL, region, length,
	    pz,
	    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
	    DAT_VA_TYPE_VA, DAT_MEM_OPTIMIZE_DONT_CARE, lmr, &context,
	    NULL, NULL, NULL);
}
