/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "dat/catalog.h"
#include "dat/key.h"
#include "dat/log.h"
#include "dat/lookup.h"
#include "dat/record.h"
#include "dat/registry.h"

/*
 * The provider of a key, with a reference, or NULL.  The records of dat.conf may have to be loaded
 * for it; a provider that the program registered needs none.
 */
static struct registry_entry *
lookup_acquire_exactly(const DAT_PROVIDER_INFO *key)
{
	struct record *record = NULL;
	struct registry_entry *entry;

	(void)catalog_acquire(key, &record);
	entry = registry_acquire(key);
	catalog_release(record); /* the entry has a reference to its record */
	return entry;
}

/* Reports why there is none, unless the failure of a library was reported already. */
static void
lookup_explain(const DAT_PROVIDER_INFO *key, bool failed)
{
	char reason[896];

	record_explain(key, reason, sizeof reason);
	log_message(failed ? LOG_CATALOG : LOG_ERRORS,
	    "dat_ia_open(\"%.80s\"): no provider for u%u.%u %s: %s", key->ia_name,
	    key->dapl_version_major, key->dapl_version_minor, key_safety(key), reason);
}

struct registry_entry *
lookup_provider(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_PROVIDER_INFO key = {
		.dapl_version_major = major,
		.dapl_version_minor = minor,
		.is_thread_safe = thread_safe,
	}, safer;
	struct registry_entry *entry;

	strcpy(key.ia_name, name);
	/*
	 * A thread-safe provider may be used in place of one that is not, but not the other way
	 * round.
	 */
	safer = key;
	safer.is_thread_safe = DAT_TRUE;
	entry = lookup_acquire_exactly(&key);
	if (entry == NULL && thread_safe == DAT_FALSE)
		entry = lookup_acquire_exactly(&safer);
	if (entry == NULL)
		lookup_explain(&key, record_find(&key) != NULL || record_find(&safer) != NULL);
	return entry;
}
