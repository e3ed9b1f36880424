/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_key -- one key of dat.conf whose record names this library
 *
 * A key is an interface name, an API version and a thread safety.  Each key has its own table
 * and parameters.  A registry passes only the name to ia_open.  Several keys can have the same
 * name, so each of their providers has its own ia_open function (slot 2 of the table), which
 * identifies the key.
 *
 * Made by dat_provider_init() and never freed: registries follow the first word of any handle they
 * are given, also of a freed one, to the table.
 */
#ifndef REARM_DAPL_PROVIDER_KEY_H
#define REARM_DAPL_PROVIDER_KEY_H

#include <stdbool.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#define DAPL_PROVIDER_PARAMS_MAX 512

struct dapl_provider {
	DAT_PROVIDER table; /* slot 0 points to info.ia_name, slot 2 is this provider's alone */
	DAT_PROVIDER_INFO info;
	unsigned int rank; /* among the providers of this name; index of the opener in slot 2 */
	/* dapl_ia_open() or the one that traces it. */
	DAT_RETURN(*open)
	(struct dapl_provider *provider, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
	    DAT_IA_HANDLE *ia);
	struct dapl_provider *next; /* with the same hash */
	/* Guarded by the lock of the list of providers: provider.c. */
	char params[DAPL_PROVIDER_PARAMS_MAX];
	bool registered;
};

#endif
