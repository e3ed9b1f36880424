/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr1() */
#include "dat/pin.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>

bool
pin_library(void)
{
	static atomic_bool pinned; /* a library pins itself, so this is one for each */
	struct link_map *map;
	Dl_info info;
	void *handle;

	if (atomic_load_explicit(&pinned, memory_order_acquire))
		return true;
	if (!dladdr1((const void *)&pinned, &info, (void **)&map, RTLD_DL_LINKMAP))
		return false;
	if (map->l_name[0]) { /* the program itself, which has no name, stays anyway */
		handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		if (!handle)
			return false;
		dlclose(handle);
	}
	atomic_store_explicit(&pinned, true, memory_order_release);
	return true;
}
