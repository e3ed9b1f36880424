/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * registry -- the registry that loaded this library
 *
 * Its functions are looked up when they are needed, so that the library can also be loaded where
 * there is no registry.
 */
#ifndef REARM_DAPL_REGISTRY_H
#define REARM_DAPL_REGISTRY_H

#include <dat2/udat.h>
#include <dat2/dat_log.h>
#include <dat2/dat_registry.h>

#include "dapl/object/lock.h"

DAT_RETURN dapl_registry_add(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info) DAPL_NO_LOCK;
DAT_RETURN dapl_registry_remove(
    const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info) DAPL_NO_LOCK;
/* dat_rearm_log() of the registry, or NULL. */
__typeof__(dat_rearm_log) *dapl_registry_find_log(void) DAPL_NO_LOCK;
/* The handle under which the consumer knows an IA. */
DAT_IA_HANDLE dapl_registry_ia_handle(DAT_IA_HANDLE ours) DAPL_NO_ADAPTER_LOCK;

#endif
