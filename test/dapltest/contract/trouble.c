/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"
#include "trouble.h"

#include <dlfcn.h>

void (*trouble_no_resize)(bool on);
void (*trouble_overrun)(int n);
void (*trouble_refuse_arms)(int n);
void (*trouble_raise)(int event_type);

void
trouble_find(void)
{
	void *library = dlopen(TROUBLE_PATH, RTLD_NOW | RTLD_NOLOAD);

	ck_assert_ptr_nonnull(library);
	*(void **)&trouble_no_resize = dlsym(library, "soft_trouble_no_resize");
	*(void **)&trouble_overrun = dlsym(library, "soft_trouble_overrun");
	*(void **)&trouble_refuse_arms = dlsym(library, "soft_trouble_refuse_arms");
	*(void **)&trouble_raise = dlsym(library, "soft_trouble_raise");
	ck_assert(trouble_no_resize && trouble_overrun && trouble_refuse_arms && trouble_raise);
	dlclose(library);
}
