/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kdat.h -- the names of kDAPL, for kDAPL sources that are compiled in user space
 *
 * Includes udat.h and dat_upcall.h and adds the types, constants and calls of kDAPL that make
 * sense in user space.  The layouts are uDAPL's throughout: DAT_EVD_PARAM has a CNO and no upcall,
 * the provider's attributes have pz_support where kDAPL has upcall_policy, and DAT_LMR_COOKIE is
 * uDAPL's.
 *
 * Absent, because only a kernel can do it or know it:
 *
 *	memory by physical address	DAT_PHYSICAL_VAR_PAGES; for_array, for_physical,
 *					for_platform, for_ia of DAT_REGION_DESCRIPTION
 *	fast registration		dat_lmr_allocate(), dat_lmr_fmr(), dat_lmr_invalidate()
 *	the reserved region		dat_ia_reserved_lmr()
 *	attributes			is_interrupt_safe, fmr_supported,
 *					lmr_for_fmr_scope_supported,
 *					reserved_lmr_supported; DAT_LMR_STATE
 *
 * A source that uses one of these does not compile.
 *
 * Arguments of the calls below:
 *
 *	`type`		DAT_MEM_TYPE_VIRTUAL or DAT_MEM_TYPE_LMR
 *	`region`	where the memory is
 *	`length`	in bytes
 *	`optimize`	a hint, which has no effect
 *	`pz`		a protection zone
 *	`privileges`	bits: DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_MEM_PRIV_REMOTE_WRITE_FLAG and
 *			others
 *	`va_type`	where the addresses of the region start: DAT_VA_TYPE_VA or DAT_VA_TYPE_ZB
 *	`lmr`		output: the new region
 *	`lmr_context`	output: what local segments name the region by; or NULL
 *	`rmr_context`	output: what the other side names the region by; or NULL
 *	`registered_length`  output: in bytes; or NULL
 *	`registered_address`  output: where the region starts; or NULL
 *	`preferred_length`  output: in bytes
 *	`preferred_alignment`  output: in bytes
 */
#ifndef _KDAT_H_
#define _KDAT_H_

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that only a kernel can register: the calls below refuse these types. */
#define DAT_MEM_TYPE_PHYSICAL		((DAT_MEM_TYPE)0x10)
#define DAT_MEM_TYPE_PLATFORM		((DAT_MEM_TYPE)0x20)
#define DAT_MEM_TYPE_IA			((DAT_MEM_TYPE)0x40)
#define DAT_MEM_TYPE_BYPASS		((DAT_MEM_TYPE)0x80)
#define DAT_MEM_TYPE_PHYSICAL_VAR_PAGES ((DAT_MEM_TYPE)0x100)

/* Hints for a registration.  They are accepted and have no effect. */
typedef enum dat_mem_optimize_flags {
	DAT_MEM_OPTIMIZE_DONT_CARE = 0x00,
	DAT_MEM_OPTIMIZE_IA = 0x01,
	DAT_MEM_OPTIMIZE_MIN_EXPOSURE = 0x02,
	DAT_MEM_OPTIMIZE_EXACT_EXPOSURE = 0x04
} DAT_MEM_OPTIMIZE_FLAGS;

#define DAT_MEM_OPT DAT_MEM_OPTIMIZE_FLAGS

/* Where an allocated region may be used. */
typedef enum dat_lmr_scope {
	DAT_LMR_SCOPE_EP = 0,
	DAT_LMR_SCOPE_PZ = 1,
	DAT_LMR_SCOPE_ANY = 2
} DAT_LMR_SCOPE;

/*
 * Registers memory as dat_lmr_create() does, with kDAPL's arguments.
 *
 *	DAT_SUCCESS				*lmr is the new region
 *	DAT_INVALID_HANDLE/IA, PZ		ia is no open IA; pz is no protection zone
 *	DAT_INVALID_HANDLE/LMR			for_lmr_handle is not a local region
 *	DAT_INVALID_PARAMETER/ARG2		a type other than VIRTUAL and LMR
 *	DAT_INVALID_PARAMETER/ARG3		the memory is not mapped, or does not allow the
 *						access
 *	DAT_INVALID_PARAMETER/ARG4		length is 0 or more than the device has
 *	DAT_INVALID_PARAMETER/ARG6		unknown privileges
 *	DAT_INVALID_PARAMETER/ARG7		unknown type of address
 *	DAT_INVALID_PARAMETER/ARG8		unknown optimization; or lmr is NULL, because ARG8
 *						is its number in dat_lmr_create()
 *	DAT_PRIVILEGES_VIOLATION		the process may not register memory
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY_REGION  the process may not lock so much memory, or the
 *						device has no more regions
 *	DAT_MODEL_NOT_SUPPORTED			zero-based addresses, as with dat_lmr_create()
 *
 * Threads: any.  From: headers (kDAPL).
 */
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

/*
 * Returns the best length and alignment for a registration: `length` unchanged, and
 * DAT_OPTIMAL_ALIGNMENT.
 *
 *	DAT_SUCCESS				both are set
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG2		a type other than VIRTUAL and LMR
 *	DAT_INVALID_PARAMETER/ARG4		unknown optimization
 *	DAT_INVALID_PARAMETER/ARG5, ARG6	a pointer is NULL
 *
 * Threads: any.  From: headers (kDAPL).
 */
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
