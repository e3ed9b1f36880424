/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>

#include "dapl/provider.h"

/*
 * A registry need not be in the global scope: a program may have loaded it privately.  What it then
 * still has is its name.
 */
static void *
find(const char *symbol)
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

DAT_RETURN
registry_add(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	DAT_RETURN (*fn)(const DAT_PROVIDER *, const DAT_PROVIDER_INFO *);

	*(void **)&fn = find("dat_registry_add_provider");
	return fn ? fn(table, info) : DAT_ERROR(DAT_INTERNAL_ERROR, 0);
}

DAT_RETURN
registry_remove(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	DAT_RETURN (*fn)(const DAT_PROVIDER *, const DAT_PROVIDER_INFO *);

	*(void **)&fn = find("dat_registry_remove_provider");
	return fn ? fn(table, info) : DAT_ERROR(DAT_INTERNAL_ERROR, 0);
}

DAT_IA_HANDLE
registry_ia_handle(DAT_IA_HANDLE ours)
{
	DAT_RETURN (*fn)(DAT_IA_HANDLE, DAT_IA_HANDLE *);
	DAT_IA_HANDLE theirs;

	*(void **)&fn = find("dats_get_ia_handle");
	if (!fn || fn(ours, &theirs) != DAT_SUCCESS)
		return ours;
	return theirs;
}
