/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe -- prints what dat_registry_list_providers() lists, a name a line; with a name of an
 * adapter it tries to open that instead
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
main(int argc, char **argv)
{
	DAT_PROVIDER_INFO infos[64], *list[64];
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	DAT_COUNT n;
	int i;

	if (argc > 1)
		return dat_ia_openv(argv[1], 8, &evd, &ia, 2, 0, DAT_TRUE) != DAT_SUCCESS;
	for (i = 0; i < 64; i++)
		list[i] = &infos[i];
	if (dat_registry_list_providers(64, &n, list) != DAT_SUCCESS)
		return 1;
	for (i = 0; i < n; i++)
		puts(infos[i].ia_name);
	return 0;
}
