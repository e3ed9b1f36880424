/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dat/catalog.h"
#include "dat/log.h"
#include "dat/registry.h"
#include "dat/trust.h"

pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

static struct registry_entry *registry_entries;		/* under registry_lock */
static __thread struct catalog_record *registry_owner;

bool
registry_key_equal(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b)
{
	return a->dapl_version_major == b->dapl_version_major &&
	       a->dapl_version_minor == b->dapl_version_minor &&
	       a->is_thread_safe == b->is_thread_safe && strcmp(a->ia_name, b->ia_name) == 0;
}

/* The link to the entry with this key, or to NULL.  registry_lock held. */
static struct registry_entry **
find_locked(const DAT_PROVIDER_INFO *key)
{
	struct registry_entry **link = &registry_entries;

	while (*link != NULL && !registry_key_equal(&(*link)->info, key))
		link = &(*link)->next;
	return link;
}

static bool
is_terminated(const DAT_PROVIDER_INFO *info)
{
	return memchr(info->ia_name, '\0', sizeof info->ia_name) != NULL;
}

struct registry_entry *
registry_acquire(const DAT_PROVIDER_INFO *key)
{
	struct registry_entry *entry;

	pthread_mutex_lock(&registry_lock);
	entry = *find_locked(key);
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
	struct catalog_record *owner = entry->owner;

	pthread_mutex_lock(&registry_lock);
	entry->users--;			/* from here on the provider may remove it */
	pthread_mutex_unlock(&registry_lock);
	catalog_release(owner);
}

struct catalog_record *
registry_set_owner(struct catalog_record *owner)
{
	struct catalog_record *before = registry_owner;

	registry_owner = owner;
	return before;
}

bool
registry_owns(const struct catalog_record *owner, const DAT_PROVIDER_INFO *key)
{
	struct registry_entry *entry;

	pthread_mutex_lock(&registry_lock);
	for (entry = registry_entries; entry != NULL; entry = entry->next)
		if (entry->owner == owner && (key == NULL || registry_key_equal(&entry->info, key)))
			break;
	pthread_mutex_unlock(&registry_lock);
	return entry != NULL;
}

void
registry_purge(const struct catalog_record *owner)
{
	struct registry_entry **link, *entry;

	pthread_mutex_lock(&registry_lock);
	for (link = &registry_entries; (entry = *link) != NULL;) {
		if (entry->owner != owner) {
			link = &entry->next;
			continue;
		}
		log_message(LOG_ERRORS, "the provider of \"%s\" did not remove its registration",
			    entry->info.ia_name);
		*link = entry->next;
		trust_drop_locked(entry->provider);
		free(entry);
	}
	pthread_mutex_unlock(&registry_lock);
}

DAT_RETURN DAT_API
dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
	struct registry_entry *entry, **link;

	if (provider == NULL || provider->ia_open_func == NULL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	if (info == NULL || !is_terminated(info))
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	entry = calloc(1, sizeof *entry);
	if (entry == NULL)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	entry->info = *info;
	entry->provider = provider;
	entry->ia_open = provider->ia_open_func;
	entry->extendedop = provider->handle_extendedop_func;
	entry->owner = registry_owner;

	pthread_mutex_lock(&registry_lock);
	link = find_locked(info);
	if (*link != NULL) {
		pthread_mutex_unlock(&registry_lock);
		free(entry);
		log_message(LOG_REGISTRY, "\"%s\" is registered already", info->ia_name);
		return DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE);
	}
	if (!trust_add_locked(provider)) {
		pthread_mutex_unlock(&registry_lock);
		free(entry);
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	}
	*link = entry;
	pthread_mutex_unlock(&registry_lock);
	log_message(LOG_REGISTRY, "\"%s\" %u.%u %s has registered", info->ia_name,
		    info->dapl_version_major, info->dapl_version_minor,
		    info->is_thread_safe ? "threadsafe" : "nonthreadsafe");
	return DAT_SUCCESS;
}

DAT_RETURN DAT_API
dat_registry_remove_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
	struct registry_entry *entry, **link;
	DAT_RETURN ret = DAT_SUCCESS;

	if (provider == NULL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	if (info == NULL || !is_terminated(info))
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);

	pthread_mutex_lock(&registry_lock);
	link = find_locked(info);
	entry = *link;
	if (entry == NULL || entry->provider != provider) {
		entry = NULL;
		ret = DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	} else if (entry->users != 0) {
		entry = NULL;
		ret = DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE);
	} else {
		*link = entry->next;
		trust_drop_locked(provider);
	}
	pthread_mutex_unlock(&registry_lock);
	free(entry);
	if (ret == DAT_SUCCESS)
		log_message(LOG_REGISTRY, "\"%s\" has removed itself", info->ia_name);
	return ret;
}
