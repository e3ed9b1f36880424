/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "dat/catalog.h"
#include "dat/library.h"
#include "dat/log.h"
#include "dat/record.h"
#include "dat/registry.h"

static pthread_cond_t catalog_settled = PTHREAD_COND_INITIALIZER;

/* Only opening an adapter loads libraries. */
static void
catalog_complain(const struct record *record, const char *reason)
{
	char where[PATH_MAX + 16];

	record_where(record, where, sizeof where);
	log_message(
	    LOG_ERRORS, "dat_ia_open(\"%.80s\"): %s: %s", record->info.ia_name, where, reason);
}

/*
 * Loads the library and lets the provider register.  No lock is held, because a constructor or init
 * may call the registry.  An init that registered nothing has failed and released its resources;
 * fini is called only if it registered, but with another key.
 */
static int
catalog_load_record(struct record *record)
{
	struct record *outer;
	char reason[640];
	int r;

	r = library_open(&record->library, record->path, reason, sizeof reason);
	if (r < 0) {
		catalog_complain(record, reason);
		return r;
	}
	outer = registry_set_owner(record);
	record->library.init(&record->info, record->ia_params);
	(void)registry_set_owner(outer);
	if (registry_owns(record, &record->info))
		return 0;
	snprintf(reason, sizeof reason, "the provider %s did not register this name", record->path);
	catalog_complain(record, reason);
	if (registry_owns(record, NULL)) {
		record->library.fini(&record->info);
		registry_purge(record);
	}
	library_close(&record->library);
	return -ENOENT;
}

static void
catalog_unload_record(struct record *record)
{
	record->library.fini(&record->info);
	registry_purge(record);
	library_close(&record->library);
}

/* The record of the chain that is loaded, or NULL.  Lock held. */
static struct record *
catalog_loaded_locked(struct record *first)
{
	struct record *record = first->loaded == 0 ? NULL : first;

	while (record != NULL && record->state != RECORD_LOADED)
		record = record->same_key;
	return record;
}

/* Drops and retakes the lock: 0 or -ENOENT. */
static int
catalog_load_locked(struct record *record)
{
	int r;

	record->state = RECORD_LOADING;
	record->worker = pthread_self();
	pthread_mutex_unlock(&registry_lock);
	r = catalog_load_record(record);
	pthread_mutex_lock(&registry_lock);
	record->state = r == 0 ? RECORD_LOADED : RECORD_UNLOADED;
	record->users = 0;
	record->first->loaded += r == 0;
	pthread_cond_broadcast(&catalog_settled);
	return r;
}

int
catalog_acquire(const DAT_PROVIDER_INFO *key, struct record **out)
{
	struct record *first = record_find(key), *next = first, *found = NULL;

	if (first == NULL)
		return -ENOENT;
	pthread_mutex_lock(&registry_lock);
	while (found == NULL && next != NULL) {
		/* A record that is loaded is used even if an earlier one failed to load. */
		found = catalog_loaded_locked(first);
		if (found != NULL)
			break;
		if (next->state == RECORD_UNLOADED) {
			if (catalog_load_locked(next) == 0)
				found = next;
			next = next->same_key;
		} else if (pthread_equal(next->worker, pthread_self())) {
			/* Otherwise an init that opens its own adapter would wait without end. */
			next = next->same_key;
		} else {
			pthread_cond_wait(&catalog_settled, &registry_lock);
		}
	}
	if (found != NULL)
		found->users++;
	pthread_mutex_unlock(&registry_lock);
	if (found == NULL)
		return -ENOENT;
	*out = found;
	return 0;
}

bool
catalog_hold_locked(struct record *record)
{
	if (record == NULL)
		return true;
	if (record->state != RECORD_LOADED)
		return false;
	record->users++;
	return true;
}

void
catalog_release(struct record *record)
{
	if (record == NULL)
		return;
	pthread_mutex_lock(&registry_lock);
	if (--record->users == 0) {
		record->state = RECORD_UNLOADING;
		record->worker = pthread_self();
		record->first->loaded--;
		pthread_mutex_unlock(&registry_lock);
		catalog_unload_record(record);
		pthread_mutex_lock(&registry_lock);
		record->state = RECORD_UNLOADED;
		pthread_cond_broadcast(&catalog_settled);
	}
	pthread_mutex_unlock(&registry_lock);
}
