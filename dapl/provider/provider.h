/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider -- the providers of this library, one for each key of dat.conf
 */
#ifndef REARM_DAPL_PROVIDER_PROVIDER_H
#define REARM_DAPL_PROVIDER_PROVIDER_H

#include "dapl/object/lock.h"
#include "dapl/object/provider_key.h"

/* Copies the parameters of the provider's record. */
void dapl_provider_params(struct dapl_provider *provider, char params[DAPL_PROVIDER_PARAMS_MAX])
    EXCLUDES(dapl_locks.providers);

/* Opens the adapter of a record with that name, whatever its version and thread safety. */
DAT_RETURN dapl_provider_open_by_name(const char *name, DAT_IA_HANDLE *ia) DAPL_NO_LOCK;

#endif
