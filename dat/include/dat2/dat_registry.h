/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_registry.h -- what a provider library and the registry want from each other
 *
 * A provider library exports dat_provider_init() and dat_provider_fini().  The registry loads
 * the library when an IA of its line in dat.conf is opened first, and calls init, which must call
 * dat_registry_add_provider(); after the last close it calls fini, which must call
 * dat_registry_remove_provider(), and unloads the library.
 */
#ifndef _DAT_REGISTRY_H_
#define _DAT_REGISTRY_H_

#include <dat2/udat.h>
#include <dat2/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Registers a provider under the key `info` = {name, major, minor, thread safety}.  Called from
 * dat_provider_init() with the info that came in, or by a program that has a provider of its own
 * inside.
 *
 * `info` is copied, and of the table the functions ia_open and handle_extendedop: both must be set
 * before.  The table itself must stay until dat_registry_remove_provider() has succeeded.
 *
 *	DAT_SUCCESS				it is registered
 *	DAT_INVALID_PARAMETER/ARG1		provider or its ia_open is NULL
 *	DAT_INVALID_PARAMETER/ARG2		info is NULL or its name not terminated
 *	DAT_PROVIDER_ALREADY_REGISTERED		the key is taken
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *
 * A handle of such a provider may be any address, so while one is registered every aligned pointer that
 * a program passes as a handle is followed to its first word: a wild one may crash the program.
 *
 * Threads: any; no lock of the registry is held while init runs.  From: DAT 2.0; headers.
 */
DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info);

/*
 * Where the handles of a provider lie, its IAs included: at base, base + step, base + 2 * step and so
 * on, below base + size.
 */
struct dat_handle_range {
	void *base;		/* a multiple of step, not below 64 KiB */
	DAT_UINT64 size;	/* in bytes, a multiple of step */
	DAT_UINT64 step;	/* in bytes, a power of two, at least the size of a pointer */
};

/*
 * The same for a provider that has all its handles in one range of addresses.  It promises, from
 * this call to the end of the process: at every multiple of `step` in the range a word can be read,
 * which is NULL or a table of the provider and is written atomically; and the tables, the functions
 * in them and the range stay (link the library with -z nodelete).  So the registry tells a pointer
 * from a handle by comparing: what is no handle gives DAT_INVALID_HANDLE, and memory elsewhere is
 * not touched unless a provider without a range is registered, too.  What is a handle of a dead
 * object, or of another kind, the provider's functions have to find out.
 *
 * A range may be given again, for other keys of one library; ranges never go.  Not in Debian's libdat2:
 * a provider that is to run there looks this function up with dlsym(), and registers with
 * dat_registry_add_provider() if there is none, or if this one fails for want of resources.
 *
 *	as dat_registry_add_provider(), and
 *	DAT_INVALID_PARAMETER/ARG3		range is NULL, is none, or overlaps another one
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	also: 16 libraries have a range
 *
 * Threads: any; no lock of the registry is held while init runs.  From: Rearm.
 */
DAT_RETURN DAT_API dat_registry_add_ranged_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info, const struct dat_handle_range *range);

/*
 * Takes a registration back: from dat_provider_fini(), or from the program that made it.
 *
 *	DAT_SUCCESS				it is gone
 *	DAT_INVALID_PARAMETER/ARG1, ARG2	provider or info is NULL, or the name not
 *						terminated
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						the key is not registered, or with another table
 *	DAT_PROVIDER_IN_USE			IAs are open through it
 *
 * Threads: any.  From: DAT 2.0; headers.
 */
DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info);

#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_INIT_FUNC_STR  "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_STR  "dat_provider_fini"

/*
 * init gets the key of the line of dat.conf and its seventh field, both only for the call: copy
 * them.  It has no return value: what has not registered is unloaded.  fini gets the same key.
 */
typedef void(DAT_API *DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *info,
			    const char *ia_params);
typedef void(DAT_API *DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO *info);

/* Whether two providers are ways to the same adapter. */
typedef enum dat_ha_relationship {
	DAT_HA_FALSE = 0,
	DAT_HA_TRUE = 1,
	DAT_HA_UNKNOWN = 2,
	DAT_HA_CONFLICTING = 3,			/* each provider says something else */
	DAT_HA_EXTENSION_BASE = 4
} DAT_HA_RELATIONSHIP;

/*
 * Tells whether two names of dat.conf lead to one adapter.  A name is related to itself; of two
 * names DAT_HA_UNKNOWN is the answer, because only opened providers could tell: see
 * dat_ia_ha_related().  Not in Debian's libdat2.
 *
 *	DAT_SUCCESS				*answer is set
 *	DAT_INVALID_PARAMETER/ARG1, ARG2, ARG3	a pointer is NULL
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						a name is not in dat.conf
 *
 * Threads: any.  From: headers; the answer is Rearm.
 */
DAT_RETURN DAT_API dat_registry_providers_related(const DAT_NAME_PTR a, const DAT_NAME_PTR b,
			    DAT_HA_RELATIONSHIP *answer);

/*
 * Asks the provider of an open IA whether another name leads to the same adapter.  Not in Debian's
 * libdat2.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				*answer is set
 *	DAT_INVALID_HANDLE/IA			ia names no open IA
 *	DAT_INVALID_PARAMETER/ARG2, ARG3	a pointer is NULL
 *	DAT_MODEL_NOT_SUPPORTED			the provider cannot tell
 *
 * Threads: any.  From: headers.
 */
DAT_RETURN DAT_API dat_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name,
			    DAT_BOOLEAN *answer);

/*
 * Translates an IA handle: the program's integer to the provider's pointer, and the provider's
 * pointer to the program's integer.  A provider uses it for the ia_handle that queries and events
 * report.  Two open IAs of one provider must have two pointers.
 *
 *	DAT_SUCCESS				*out is the other one
 *	DAT_INVALID_HANDLE/IA			in is neither
 *	DAT_INVALID_PARAMETER/ARG2		out is NULL
 *
 * Threads: any; a provider may call it from within any of its functions but ia_open, where the
 * integer is not known yet.  From: implementations; no header of DAT 2.0 declares it.
 */
DAT_RETURN DAT_API dats_get_ia_handle(DAT_IA_HANDLE in, DAT_IA_HANDLE *out);

#ifdef __cplusplus
}
#endif

#endif
