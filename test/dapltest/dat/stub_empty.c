/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stub_empty -- a library that is no provider: it lacks dat_provider_init(), or with STUB_NO_FINI
 * only dat_provider_fini(), or with STUB_LACKING a function that it calls
 */
#include "stub_provider.h"

#if defined(STUB_NO_FINI) || defined(STUB_LACKING)
void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params);
void stub_function_that_no_library_has(void);

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params)
{
	(void)info;
	(void)params;
#ifdef STUB_LACKING
	if (info == NULL)
		stub_function_that_no_library_has();
#endif
}
#endif

#ifndef STUB_NO_FINI
void dat_provider_fini(const DAT_PROVIDER_INFO *info);

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	(void)info;
}
#endif
