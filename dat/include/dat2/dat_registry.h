/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_registry.h -- the interface between a provider library and the registry
 *
 * A provider library exports dat_provider_init() and dat_provider_fini().  When the first IA of
 * its line in dat.conf is opened, the registry loads the library and calls init, which must call
 * dat_registry_add_provider().  After the last close the registry calls fini, which must call
 * dat_registry_remove_provider(), and then closes the library with dlclose(3), which unloads it
 * unless it keeps itself, as those of Rearm do: their init calls dlopen(3) of the library with
 * RTLD_NOLOAD and RTLD_NODELETE.  Do not link with -z nodelete instead: glibc then keeps a library
 * even if its load fails half-way, without its constructors, and gives it to the next who loads it.
 *
 * Arguments of these calls:
 *
 *	`provider`	the table of the provider
 *	`info`		the key: name, version and thread safety
 */
#ifndef _DAT_REGISTRY_H_
#define _DAT_REGISTRY_H_

#include <dat2/udat.h>
#include <dat2/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Registers a provider.  Its key is `info`: name, major, minor, thread safety.  The caller is
 * dat_provider_init(), with the info that it got, or a program that contains a provider.
 *
 * `info` is copied, and so are the functions ia_open and handle_extendedop of the table, which
 * must be set.  The table must stay valid until dat_registry_remove_provider() has succeeded.
 *
 *	DAT_SUCCESS				the provider is registered
 *	DAT_INVALID_PARAMETER/ARG1		provider or its ia_open is NULL
 *	DAT_INVALID_PARAMETER/ARG2		info is NULL or its name not terminated
 *	DAT_PROVIDER_ALREADY_REGISTERED		the key is taken
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *
 * A handle of such a provider may have any address.  Therefore, while one is registered, the
 * registry reads the first word at every aligned pointer that a program passes as a handle: a wild
 * pointer may crash the program.
 *
 * Threads: any; no lock of the registry is held while init runs.  From: DAT 2.0; headers.
 */
DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info);

/*
 * The addresses of the handles of a provider, including its IAs: base, base + step, base + 2 *
 * step and so on, below base + size.
 */
struct dat_handle_range {
	void *base;		/* a multiple of step, not below 64 KiB */
	DAT_UINT64 size;	/* in bytes, a multiple of step */
	DAT_UINT64 step;	/* in bytes, a power of two, at least the size of a pointer */
};

/*
 * Registers a provider whose handles are all in one range of addresses.  As
 * dat_registry_add_provider(), but from this call to the
 * end of the process the provider guarantees that at every multiple of `step` in the range a word
 * can be read, which is NULL or a table of the provider and is written atomically, and that the
 * tables, their functions and the range stay valid (dlopen() it with RTLD_NODELETE).  So the
 * registry can recognise a handle by its address.  Any other value gives DAT_INVALID_HANDLE, and
 * its memory is not read unless a provider without a range is registered too.  The functions of
 * the provider must detect handles that were freed or have the wrong kind.
 *
 * A range may be registered again, for other keys of one library.  Ranges are never removed.  Not
 * in Debian's libdat2: a provider that also runs there looks this function up with dlsym(), and
 * uses dat_registry_add_provider() if there is none, or if it fails for lack of resources.
 *
 *	`range`		the addresses of the handles
 *
 *	DAT_SUCCESS				the provider is registered
 *	DAT_INVALID_PARAMETER/ARG1		provider or its ia_open is NULL
 *	DAT_INVALID_PARAMETER/ARG2		info is NULL or its name not terminated
 *	DAT_INVALID_PARAMETER/ARG3		range is NULL, is none, or overlaps another one
 *	DAT_PROVIDER_ALREADY_REGISTERED		the key is taken
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or 16 libraries have a range already
 *
 * Threads: any; no lock of the registry is held while init runs.  From: Rearm.
 */
DAT_RETURN DAT_API dat_registry_add_ranged_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info, const struct dat_handle_range *range);

/*
 * Removes a registration.  The caller is dat_provider_fini(), or the program that registered the
 * provider.
 *
 *	DAT_SUCCESS				the registration is removed
 *	DAT_INVALID_PARAMETER/ARG1, ARG2	provider or info is NULL, or the name not
 *						terminated
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						the key is not registered, or with another table
 *	DAT_PROVIDER_IN_USE			IAs of it are open
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
 * init gets the key of the line of dat.conf and its seventh field.  Both are valid during the call
 * only: copy them.  init has no return value; a library that has not registered is unloaded.  fini
 * gets the same key.
 */
typedef void(DAT_API *DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *info,
			    const char *ia_params);
typedef void(DAT_API *DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO *info);

/* A record of dat.conf(5), or the one that is built in.  The texts stay valid. */
typedef struct dat_rearm_record {
	const char *name;
	const char *library;
	const char *parameters;
	const char *file;			/* NULL: built in */
	DAT_UINT32 line;			/* of the file; 0: built in */
	DAT_UINT32 version_major;
	DAT_UINT32 version_minor;
	DAT_BOOLEAN for_user_space;		/* u, not k */
	DAT_BOOLEAN is_thread_safe;
	DAT_BOOLEAN is_default;			/* false: nondefault, switched off */
} DAT_REARM_RECORD;

/*
 * Copies the records of dat.conf(5) in the order of the file, and last the one that is built in.
 * Records that no program can open are among them: those with k, and those that are switched off.
 * Several records may have one name.
 *
 *	`max`		how many fit into the list
 *	`entries`	output: how many records there are, also if that is more than `max`
 *	`list`		output: the first of them; NULL if `max` is 0
 *
 *	DAT_SUCCESS				*entries is set, and the list is filled
 *	DAT_INVALID_PARAMETER/ARG1, ARG2, ARG3	max is negative, a pointer is NULL
 *	DAT_INSUFFICIENT_RESOURCES		dat.conf could not be read for lack of memory or of
 *						descriptors; the next call tries again
 *
 * Threads: any.  From: Rearm.
 */
DAT_RETURN DAT_API dat_rearm_list_records(DAT_COUNT max, DAT_COUNT *entries, DAT_REARM_RECORD *list);

/* Whether two providers lead to the same adapter. */
typedef enum dat_ha_relationship {
	DAT_HA_FALSE = 0,
	DAT_HA_TRUE = 1,
	DAT_HA_UNKNOWN = 2,
	DAT_HA_CONFLICTING = 3,			/* the providers disagree */
	DAT_HA_EXTENSION_BASE = 4
} DAT_HA_RELATIONSHIP;

/*
 * Returns whether two names of dat.conf(5) lead to one adapter.  A name is related to itself.  For
 * two names the answer is DAT_HA_UNKNOWN, because only an open provider can find out: see
 * dat_ia_ha_related().  Not in Debian's libdat2.
 *
 *	`a`, `b`	the names
 *	`answer`	output: DAT_HA_UNKNOWN, or DAT_HA_TRUE for one name
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
 * Asks the provider of an open IA whether the adapter of another name can take over its
 * connections.  Not in Debian's libdat2.  A provider of Rearm answers DAT_FALSE: its connections
 * have one path.
 *
 *	`name`		the name of the other adapter in dat.conf
 *	`answer`	output
 *
 *	DAT_SUCCESS				*answer is set
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG2, ARG3	a pointer is NULL
 *	DAT_MODEL_NOT_SUPPORTED			the provider does not know
 *
 * Threads: any.  From: headers.
 */
DAT_RETURN DAT_API dat_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name,
			    DAT_BOOLEAN *answer);

/*
 * Translates an IA handle: the integer of the program to the pointer of the provider, or the
 * pointer to the integer.  A provider uses it for the ia_handle in queries and events.  Two open
 * IAs of one provider must have different pointers.
 *
 *	`in`		the one handle
 *	`out`		output: the other
 *
 *	DAT_SUCCESS				*out is the other value
 *	DAT_INVALID_HANDLE/IA			in is neither of them
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
