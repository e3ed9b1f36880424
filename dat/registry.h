/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * registry -- the dynamic registry: the providers that have registered
 *
 * A provider is found by the exact key {name, major, minor, thread safety}.  An entry with open IAs
 * cannot be removed.
 */
#ifndef REARM_DAT_REGISTRY_H
#define REARM_DAT_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "dat/hash.h"

/*
 * Guards this registry and the catalog; the first in the lock order.  Never held while a library is
 * loaded or a function of a provider runs.
 */
extern pthread_mutex_t registry_lock;

struct record;

/* Only the links and `users` change; the table belongs to the provider. */
struct registry_entry {
	struct hash_node node;
	struct registry_entry *next,
	    **link; /* link in the list of one owner; NULL without an owner */
	DAT_PROVIDER_INFO info;
	const DAT_PROVIDER *provider;
	DAT_IA_OPEN_FUNC ia_open;
	DAT_HANDLE_EXTENDEDOP_FUNC extendedop;
	struct record *owner; /* the record whose library registered it, or NULL */
	bool is_foreign;      /* the provider has no range of handles */
	unsigned int users;   /* open IAs */
};

/*
 * The entry with this key, with a reference to it and to its owner; NULL if there is none.  Every
 * open IA has such a reference.
 */
struct registry_entry *registry_acquire(const DAT_PROVIDER_INFO *key);

/* Drops both references, which may unload the library of the owner. */
void registry_release(struct registry_entry *entry);

/*
 * Sets the owner of what this thread registers until the next call.  Returns the previous owner: an
 * init may open an adapter, and so load another library, before it registers.
 */
struct record *registry_set_owner(struct record *owner);

/* True if `owner` has registered: with this key, or (key NULL) with any. */
bool registry_owns(const struct record *owner, const DAT_PROVIDER_INFO *key);

/*
 * Removes the registrations that `owner` has left, because its library is about to be unloaded.
 * Logs each.
 */
void registry_purge(struct record *owner);

#endif
