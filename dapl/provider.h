/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider -- one dat.conf record that names this library
 *
 * Made by dat_provider_init() and never freed: registries follow the first word of any handle they
 * are given, also of a dead one, into the table.
 */
#ifndef REARM_DAPL_PROVIDER_H
#define REARM_DAPL_PROVIDER_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#define PROVIDER_PARAMS_MAX 512

struct provider {
	DAT_PROVIDER table; /* slot 0 points to info.ia_name */
	DAT_PROVIDER_INFO info;
	char params[PROVIDER_PARAMS_MAX];
	int inits; /* dat_provider_init() minus dat_provider_fini() calls */
	struct provider *next;
};

/* The provider that was initialised last under this IA name, or NULL; copies its parameters. */
struct provider *provider_find(const char *ia_name, char params[PROVIDER_PARAMS_MAX]);

/*
 * The registry that loaded us.  Its functions are looked up when they are needed, so that the
 * library can also be loaded where there is none.
 */
DAT_RETURN registry_add(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info);
DAT_RETURN registry_remove(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info);
/* The handle under which the consumer knows an IA.  No lock may be held. */
DAT_IA_HANDLE registry_ia_handle(DAT_IA_HANDLE ours);

#endif
