/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kdat.h -- the names of kDAPL for its sources that are compiled in user space
 *
 * Includes udat.h and dat_upcall.h and adds the types, constants and calls of kDAPL that make
 * sense in user space.  The layouts are uDAPL's throughout.
 */
#ifndef _KDAT_H_
#define _KDAT_H_

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that only a kernel can register: every call refuses these types. */
#define DAT_MEM_TYPE_PHYSICAL		((DAT_MEM_TYPE)0x10)
#define DAT_MEM_TYPE_PLATFORM		((DAT_MEM_TYPE)0x20)
#define DAT_MEM_TYPE_IA			((DAT_MEM_TYPE)0x40)
#define DAT_MEM_TYPE_BYPASS		((DAT_MEM_TYPE)0x80)
#define DAT_MEM_TYPE_PHYSICAL_VAR_PAGES ((DAT_MEM_TYPE)0x100)

typedef enum dat_mem_optimize_flags {
	DAT_MEM_OPTIMIZE_DONT_CARE = 0x00,
	DAT_MEM_OPTIMIZE_IA = 0x01,
	DAT_MEM_OPTIMIZE_MIN_EXPOSURE = 0x02,
	DAT_MEM_OPTIMIZE_EXACT_EXPOSURE = 0x04
} DAT_MEM_OPTIMIZE_FLAGS;

#define DAT_MEM_OPT DAT_MEM_OPTIMIZE_FLAGS

typedef enum dat_lmr_scope {
	DAT_LMR_SCOPE_EP = 0,
	DAT_LMR_SCOPE_PZ = 1,
	DAT_LMR_SCOPE_ANY = 2
} DAT_LMR_SCOPE;

static inline DAT_RETURN
dat_lmr_kcreate(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
		DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
		DAT_VA_TYPE va_type, DAT_MEM_OPTIMIZE_FLAGS optimize, DAT_LMR_HANDLE *lmr,
		DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context,
		DAT_VLEN *registered_length, DAT_VADDR *registered_address)
{
	if (type != DAT_MEM_TYPE_VIRTUAL && type != DAT_MEM_TYPE_LMR)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if ((unsigned int)optimize & ~0x7u)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	return dat_lmr_create(ia, type, region, length, pz, privileges, va_type, lmr, lmr_context,
			      rmr_context, registered_length, registered_address);
}

static inline DAT_RETURN
dat_ia_memtype_hint(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_VLEN length,
		    DAT_MEM_OPTIMIZE_FLAGS optimize, DAT_VLEN *preferred_length,
		    DAT_VADDR *preferred_alignment)
{
	DAT_HANDLE_TYPE kind;
	DAT_RETURN ret;

	ret = dat_get_handle_type(ia, &kind);
	if (ret != DAT_SUCCESS || kind != DAT_HANDLE_TYPE_IA)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (type != DAT_MEM_TYPE_VIRTUAL && type != DAT_MEM_TYPE_LMR)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if ((unsigned int)optimize & ~0x7u)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (preferred_length == NULL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (preferred_alignment == NULL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	*preferred_length = length;
	*preferred_alignment = DAT_OPTIMAL_ALIGNMENT;
	return DAT_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
