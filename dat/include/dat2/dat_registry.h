/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_registry.h -- what a provider library and the registry want from each other
 *
 * A provider library exports dat_provider_init() and dat_provider_fini().  The registry loads
 * the library when an IA of its line in dat.conf is opened first, and calls init, which must call
 * dat_registry_add_provider(); after the last close it calls fini, which must call
 * dat_registry_remove_provider(), and unloads the library.
 */
#ifndef _DAT_REGISTRY_H_
#define _DAT_REGISTRY_H_

#include <dat2/udat.h>
#include <dat2/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info);

DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER *provider,
			    const DAT_PROVIDER_INFO *info);

#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_INIT_FUNC_STR  "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_STR  "dat_provider_fini"

typedef void(DAT_API *DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *info,
			    const char *ia_params);
typedef void(DAT_API *DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO *info);

/* Whether two providers are ways to the same adapter. */
typedef enum dat_ha_relationship {
	DAT_HA_FALSE = 0,
	DAT_HA_TRUE = 1,
	DAT_HA_UNKNOWN = 2,
	DAT_HA_CONFLICTING = 3,			/* each provider says something else */
	DAT_HA_EXTENSION_BASE = 4
} DAT_HA_RELATIONSHIP;

DAT_RETURN DAT_API dat_registry_providers_related(const DAT_NAME_PTR a, const DAT_NAME_PTR b,
			    DAT_HA_RELATIONSHIP *answer);

DAT_RETURN DAT_API dat_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name,
			    DAT_BOOLEAN *answer);

DAT_RETURN DAT_API dats_get_ia_handle(DAT_IA_HANDLE in, DAT_IA_HANDLE *out);

#ifdef __cplusplus
}
#endif

#endif
