/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>

#include "dapl/object/handle.h"
#include "dapl/object/registry.h"
#include "dapl/object/provider_key.h"

/*
 * A registry need not be in the global scope: a program may have loaded it privately.  Then it can
 * only be found by its name.
 */
static void *
registry_find(const char *symbol)
{
	void *fn = dlsym(RTLD_DEFAULT, symbol);
	void *lib;

	if (fn)
		return fn;
	lib = dlopen("libdat2.so.2", RTLD_LAZY | RTLD_NOLOAD);
	if (!lib)
		return NULL;
	fn = dlsym(lib, symbol);
	dlclose(lib);
	return fn;
}

/*
 * Finds a function that Debian's registry does not have.  A process may have two registries: the
 * function must belong to the one that has `sibling`.
 */
static void *
registry_find_further(const char *symbol, const void *sibling)
{
	void *fn = registry_find(symbol);
	Dl_info ours, its;

	return fn && dladdr(fn, &ours) && dladdr(sibling, &its) && ours.dli_fbase == its.dli_fbase ?
		   fn :
		   NULL;
}

DAT_RETURN
dapl_registry_add(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	__typeof__(dat_registry_add_ranged_provider) *add_ranged;
	__typeof__(dat_registry_add_provider) *add;
	struct dat_handle_range range;
	DAT_RETURN ret;
	void *fn;

	fn = registry_find("dat_registry_add_provider");
	if (!fn)
		return DAT_ERROR(DAT_INTERNAL_ERROR, 0);
	*(void **)&add = fn;
	*(void **)&add_ranged = registry_find_further("dat_registry_add_ranged_provider", fn);
	if (add_ranged && dapl_handle_range(&range)) {
		ret = add_ranged(table, info, &range);
		if (DAT_GET_TYPE(ret) != DAT_INSUFFICIENT_RESOURCES)
			return ret;
	}
	return add(table, info);
}

DAT_RETURN
dapl_registry_remove(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	DAT_RETURN (*fn)(const DAT_PROVIDER *, const DAT_PROVIDER_INFO *);

	*(void **)&fn = registry_find("dat_registry_remove_provider");
	return fn ? fn(table, info) : DAT_ERROR(DAT_INTERNAL_ERROR, 0);
}

__typeof__(dat_rearm_log) *
dapl_registry_find_log(void)
{
	const void *add = registry_find("dat_registry_add_provider");
	__typeof__(dat_rearm_log) *log;

	*(void **)&log = add ? registry_find_further("dat_rearm_log", add) : NULL;
	return log;
}

DAT_IA_HANDLE
dapl_registry_ia_handle(DAT_IA_HANDLE ours)
{
	DAT_RETURN (*fn)(DAT_IA_HANDLE, DAT_IA_HANDLE *);
	DAT_IA_HANDLE theirs;

	*(void **)&fn = registry_find("dats_get_ia_handle");
	if (!fn || fn(ours, &theirs) != DAT_SUCCESS)
		return ours;
	return theirs;
}
