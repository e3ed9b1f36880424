/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_probe -- prints what dat_registry_list_providers() lists, a name a line
 */
#include <stdio.h>
#include <unistd.h>

#include <dat2/udat.h>

/* LeakSanitizer asks.  It may not look into a set-uid process, and would end it for that. */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return getuid() != geteuid();
}

int
main(void)
{
	DAT_PROVIDER_INFO infos[64], *list[64];
	DAT_COUNT n;
	int i;

	for (i = 0; i < 64; i++)
		list[i] = &infos[i];
	if (dat_registry_list_providers(64, &n, list) != DAT_SUCCESS)
		return 1;
	for (i = 0; i < n; i++)
		puts(infos[i].ia_name);
	return 0;
}
