/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dat/catalog.h"
#include "dat/log.h"
#include "dat/lookup.h"
#include "dat/record.h"
#include "dat/registry.h"

/*
 * The provider of a key, in use, or NULL.  Records of dat.conf may have to be loaded for it; a
 * provider that the program itself has registered needs none.
 */
static struct registry_entry *
acquire_exactly(const DAT_PROVIDER_INFO *key)
{
	struct record *record = NULL;
	struct registry_entry *entry;

	(void)catalog_acquire(key, &record);
	entry = registry_acquire(key);
	catalog_release(record);	/* the entry holds the record of its own */
	return entry;
}

struct registry_entry *
lookup_provider(const char *name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_PROVIDER_INFO key = {
		.dapl_version_major = major,
		.dapl_version_minor = minor,
		.is_thread_safe = thread_safe,
	};
	struct registry_entry *entry;

	strcpy(key.ia_name, name);
	entry = acquire_exactly(&key);
	if (entry == NULL && thread_safe == DAT_FALSE) {
		/* Thread-safe is more than what was asked for; the other way it would be less. */
		key.is_thread_safe = DAT_TRUE;
		entry = acquire_exactly(&key);
	}
	if (entry == NULL)
		log_message(LOG_CATALOG, "no provider for \"%s\" %u.%u %s%s", name, major, minor,
			    thread_safe ? "threadsafe" : "nonthreadsafe",
			    record_has_name(name) ? ": dat.conf has the name with other keys, or "
						     "its library failed" : "");
	return entry;
}
