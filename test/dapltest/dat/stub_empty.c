/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stub_empty -- a library that is no provider: it lacks dat_provider_init(), or with STUB_NO_FINI
 * only dat_provider_fini()
 */
#include "stub_provider.h"

#ifdef STUB_NO_FINI
void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params);

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params)
{
	(void)info;
	(void)params;
}
#else
void dat_provider_fini(const DAT_PROVIDER_INFO *info);

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	(void)info;
}
#endif
