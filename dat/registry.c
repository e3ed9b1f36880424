/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/cancel.h"
#include "dat/catalog.h"
#include "dat/key.h"
#include "dat/log.h"
#include "dat/range.h"
#include "dat/record.h"
#include "dat/registry.h"

pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

static struct hash registry_entries; /* under registry_lock */
static __thread struct record *registry_owner;

/* The entry with this key, or NULL.  registry_lock held. */
static struct registry_entry *
registry_find_locked(const DAT_PROVIDER_INFO *key)
{
	struct hash_node *node = hash_first(&registry_entries, key_hash(key));
	struct registry_entry *entry;

	for (; node != NULL; node = hash_next(node)) {
		entry = HASH_MEMBER(node, struct registry_entry, node);
		if (key_equal(&entry->info, key))
			return entry;
	}
	return NULL;
}

static void
registry_add_locked(struct registry_entry *entry)
{
	struct record *owner = entry->owner;

	if (entry->is_foreign)
		range_count_foreign_locked(1);
	hash_add(&registry_entries, &entry->node, key_hash(&entry->info));
	if (owner == NULL)
		return;
	entry->next = owner->registered;
	entry->link = &owner->registered;
	if (entry->next != NULL)
		entry->next->link = &entry->next;
	owner->registered = entry;
}

static void
registry_remove_locked(struct registry_entry *entry)
{
	hash_remove(&registry_entries, &entry->node);
	if (entry->next != NULL)
		entry->next->link = entry->link;
	if (entry->link != NULL)
		*entry->link = entry->next;
	if (entry->is_foreign)
		range_count_foreign_locked(-1);
}

static bool
registry_is_terminated(const DAT_PROVIDER_INFO *info)
{
	return memchr(info->ia_name, '\0', sizeof info->ia_name) != NULL;
}

struct registry_entry *
registry_acquire(const DAT_PROVIDER_INFO *key)
{
	struct registry_entry *entry;

	pthread_mutex_lock(&registry_lock);
	entry = registry_find_locked(key);
	if (entry != NULL && catalog_hold_locked(entry->owner))
		entry->users++;
	else
		entry = NULL;
	pthread_mutex_unlock(&registry_lock);
	return entry;
}

void
registry_release(struct registry_entry *entry)
{
	struct record *owner = entry->owner;

	pthread_mutex_lock(&registry_lock);
	entry->users--; /* from now on the provider may remove it */
	pthread_mutex_unlock(&registry_lock);
	catalog_release(owner);
}

struct record *
registry_set_owner(struct record *owner)
{
	struct record *before = registry_owner;

	registry_owner = owner;
	return before;
}

bool
registry_owns(const struct record *owner, const DAT_PROVIDER_INFO *key)
{
	const struct registry_entry *entry;
	bool owns;

	pthread_mutex_lock(&registry_lock);
	entry = key != NULL ? registry_find_locked(key) : owner->registered;
	owns = entry != NULL && entry->owner == owner;
	pthread_mutex_unlock(&registry_lock);
	return owns;
}

void
registry_purge(struct record *owner)
{
	struct registry_entry *entry;

	for (;;) {
		pthread_mutex_lock(&registry_lock);
		entry = owner->registered;
		if (entry != NULL)
			registry_remove_locked(entry);
		pthread_mutex_unlock(&registry_lock);
		if (entry == NULL)
			break;
		log_message(LOG_ERRORS, "the provider of \"%s\" did not remove its registration",
		    entry->info.ia_name);
		free(entry);
	}
}

static const char *
registry_refusal(DAT_RETURN_TYPE type)
{
	switch (type) {
	case DAT_PROVIDER_ALREADY_REGISTERED:
		return "is registered already";
	case DAT_INVALID_PARAMETER:
		return "cannot register: its range of handles is not valid";
	default:
		return "cannot register: no memory";
	}
}

/* The range is NULL for a provider that has none. */
static DAT_RETURN
registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info,
    const struct dat_handle_range *range)
{
	DAT_RETURN ret = DAT_SUCCESS;
	struct registry_entry *entry;
	int r = 0;

	if (provider == NULL || provider->ia_open_func == NULL)
		return LOG_REFUSED("dat_registry_add_provider", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG1,
		    "argument 1: there is no table of functions, or it has no ia_open_func");
	if (info == NULL || !registry_is_terminated(info))
		return LOG_REFUSED("dat_registry_add_provider", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG2,
		    "argument 2: there is no information, or its name has no end");
	entry = calloc(1, sizeof *entry);
	if (entry == NULL)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	entry->info = *info;
	entry->provider = provider;
	entry->ia_open = provider->ia_open_func;
	entry->extendedop = provider->handle_extendedop_func;
	entry->owner = registry_owner;
	entry->is_foreign = range == NULL;

	pthread_mutex_lock(&registry_lock);
	if (registry_find_locked(info) != NULL)
		ret = DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE);
	else if (range != NULL)
		r = range_add_locked(range, provider);
	if (r < 0)
		ret = r == -EINVAL ? DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3) :
				     DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	if (ret == DAT_SUCCESS)
		registry_add_locked(entry);
	pthread_mutex_unlock(&registry_lock);
	if (ret != DAT_SUCCESS) {
		free(entry);
		log_message(
		    LOG_REGISTRY, "\"%s\" %s", info->ia_name, registry_refusal(DAT_GET_TYPE(ret)));
		return ret;
	}
	log_message(LOG_REGISTRY, "\"%s\" %u.%u %s has registered", info->ia_name,
	    info->dapl_version_major, info->dapl_version_minor, key_safety(info));
	return DAT_SUCCESS;
}

DAT_RETURN DAT_API
dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
	REGISTRY_UNCANCELLED;

	return registry_add_provider(provider, info, NULL);
}

DAT_RETURN DAT_API
dat_registry_add_ranged_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info,
    const struct dat_handle_range *range)
{
	REGISTRY_UNCANCELLED;

	if (range == NULL)
		return LOG_REFUSED("dat_registry_add_ranged_provider", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG3, "argument 3: there is no range");
	return registry_add_provider(provider, info, range);
}

DAT_RETURN DAT_API
dat_registry_remove_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
	REGISTRY_UNCANCELLED;
	struct registry_entry *entry;
	DAT_RETURN ret = DAT_SUCCESS;

	if (provider == NULL)
		return LOG_REFUSED("dat_registry_remove_provider", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG1, "argument 1: there is no table of functions");
	if (info == NULL || !registry_is_terminated(info))
		return LOG_REFUSED("dat_registry_remove_provider", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG2,
		    "argument 2: there is no information, or its name has no end");

	pthread_mutex_lock(&registry_lock);
	entry = registry_find_locked(info);
	if (entry == NULL || entry->provider != provider) {
		entry = NULL;
		ret = DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	} else if (entry->users != 0) {
		entry = NULL;
		ret = DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE);
	} else {
		registry_remove_locked(entry);
	}
	pthread_mutex_unlock(&registry_lock);
	free(entry);
	if (ret == DAT_SUCCESS)
		log_message(LOG_REGISTRY, "\"%s\" has removed its registration", info->ia_name);
	return ret;
}
