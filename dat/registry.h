/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * registry -- the dynamic registry: the providers that have registered
 *
 * A provider is found by the exact key {name, major, minor, thread safety}.  An entry that IAs are
 * open through cannot be removed.
 */
#ifndef REARM_DAT_REGISTRY_H
#define REARM_DAT_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "dat/hash.h"

/*
 * Rank 1.  Guards this registry and the catalog; never held while a library is loaded or while a
 * function of a provider runs.
 */
extern pthread_mutex_t registry_lock;

struct record;

/* Only the links and `users` change; the table stays the provider's. */
struct registry_entry {
	struct hash_node node;
	struct registry_entry *next, **link;	/* among those of one owner; NULL without an owner */
	DAT_PROVIDER_INFO info;
	const DAT_PROVIDER *provider;
	DAT_IA_OPEN_FUNC ia_open;
	DAT_HANDLE_EXTENDEDOP_FUNC extendedop;
	struct record *owner;	/* whose library registered it, or NULL */
	bool is_foreign;	/* has no range of handles */
	unsigned int users;		/* open IAs */
};

/*
 * The entry with this key, counted as in use, its owner too; NULL if there is none.  Every open IA
 * holds its entry.
 */
struct registry_entry *registry_acquire(const DAT_PROVIDER_INFO *key);

/* Gives both back, which may unload the owner's library. */
void registry_release(struct registry_entry *entry);

/*
 * What this thread registers until the next call belongs to `owner`.  Returns the owner before: an
 * init may open an adapter, and so load another library, before it registers.
 */
struct record *registry_set_owner(struct record *owner);

/* Whether `owner` has registered: with this key, or (key NULL) at all. */
bool registry_owns(const struct record *owner, const DAT_PROVIDER_INFO *key);

/* Forgets what `owner` has left behind: its library is about to be unloaded.  Logs each. */
void registry_purge(struct record *owner);

#endif
