/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/catalog.h"
#include "dat/conf.h"
#include "dat/library.h"
#include "dat/log.h"
#include "dat/registry.h"

/* LOADING and UNLOADING belong to one thread, which works without the lock. */
enum record_state { RECORD_UNLOADED, RECORD_LOADING, RECORD_LOADED, RECORD_UNLOADING };

/* What is not the lock's is fixed once the file is read. */
struct catalog_record {
	struct catalog_record *next;
	unsigned int index;			/* its place in the file */
	DAT_PROVIDER_INFO info;
	char *path;
	char *ia_params;
	struct library library;			/* of LOADED, or of the working thread */
	enum record_state state;		/* under registry_lock */
	unsigned int users;			/* under registry_lock */
	pthread_t worker;			/* under registry_lock; of the working states */
};

static pthread_mutex_t catalog_reading = PTHREAD_MUTEX_INITIALIZER;
static bool catalog_known;				/* under catalog_reading */
static pthread_cond_t catalog_settled = PTHREAD_COND_INITIALIZER;
static struct catalog_record *catalog_records;	/* in file order; fixed once known */

static int
take_record(void *arg, const struct conf_record *conf)
{
	struct catalog_record ***end = arg, *record;

	if (!conf->for_user_space || !conf->is_default)
		return 0;
	record = calloc(1, sizeof *record);
	if (record == NULL)
		return -ENOMEM;
	strcpy(record->info.ia_name, conf->ia_name);
	record->info.dapl_version_major = conf->major;
	record->info.dapl_version_minor = conf->minor;
	record->info.is_thread_safe = conf->thread_safe ? DAT_TRUE : DAT_FALSE;
	record->index = conf->line;
	record->path = strdup(conf->library);
	record->ia_params = strdup(conf->ia_params);
	if (record->path == NULL || record->ia_params == NULL) {
		free(record->path);
		free(record->ia_params);
		free(record);
		return -ENOMEM;
	}
	**end = record;
	*end = &record->next;
	return 0;
}

static void
free_records(struct catalog_record *record)
{
	struct catalog_record *next;

	for (; record != NULL; record = next) {
		next = record->next;
		free(record->path);
		free(record->ia_params);
		free(record);
	}
}

/* What may be over at the next try; a file that is not there, or not for us, stays so. */
static bool
is_shortage(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* 0, -ENOENT if there is no such file, or a shortage: then nothing was read. */
static int
read_file(const char *path, bool must_exist)
{
	struct catalog_record *records = NULL, **end = &records;
	FILE *in;
	int r;

	in = fopen(path, "re");
	if (in == NULL) {
		r = errno;
		if (must_exist || (r != ENOENT && r != ENOTDIR))
			log_message(LOG_ERRORS, "cannot read %s: %s", path, strerror(r));
		if (is_shortage(r))
			return -r;
		return must_exist ? 0 : -ENOENT;
	}
	r = conf_parse(in, path, take_record, &end);
	fclose(in);
	if (is_shortage(-r)) {
		log_message(LOG_ERRORS, "cannot read %s: %s", path, strerror(-r));
		free_records(records);
		return r;
	}
	catalog_records = records;
	return 0;
}

static int
read_files(void)
{
	const char *override = secure_getenv("DAT_OVERRIDE");
	int r;

	if (override != NULL)
		return read_file(override, true);
	r = read_file(REARM_DAT_CONF, false);
	if (r == -ENOENT)
		r = read_file("/etc/dat.conf", false);
	if (r == -ENOENT)
		log_message(LOG_CATALOG, "there is neither %s nor /etc/dat.conf", REARM_DAT_CONF);
	return r;
}

/* Once in the life of a process, but a shortage while it is read is not for life. */
static void
read_catalog(void)
{
	int state;

	/* Reading files is a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&catalog_reading);
	if (!catalog_known)
		catalog_known = !is_shortage(-read_files());
	pthread_mutex_unlock(&catalog_reading);
	pthread_setcancelstate(state, NULL);
}

/*
 * Loads the library and lets the provider register.  No lock is held: a constructor or init may
 * call us.  An init that registered nothing has failed and cleaned up after itself, so fini is for
 * one that registered something else.
 */
static int
load_record(struct catalog_record *record)
{
	struct catalog_record *outer;
	int r;

	r = library_open(&record->library, record->path);
	if (r < 0)
		return r;
	outer = registry_set_owner(record);
	record->library.init(&record->info, record->ia_params);
	(void)registry_set_owner(outer);
	if (registry_owns(record, &record->info))
		return 0;
	log_message(LOG_ERRORS, "provider %s did not register \"%s\"", record->path,
		    record->info.ia_name);
	if (registry_owns(record, NULL)) {
		record->library.fini(&record->info);
		registry_purge(record);
	}
	library_close(&record->library);
	return -ENOENT;
}

static void
unload_record(struct catalog_record *record)
{
	record->library.fini(&record->info);
	registry_purge(record);
	library_close(&record->library);
}

/* The first record after `index` with this key, in this state or (-1) in any.  Lock held. */
static struct catalog_record *
next_locked(const DAT_PROVIDER_INFO *key, unsigned int index, int state)
{
	struct catalog_record *record;

	for (record = catalog_records; record != NULL; record = record->next)
		if (record->index > index && registry_key_equal(&record->info, key) &&
		    (state < 0 || (int)record->state == state))
			break;
	return record;
}

int
catalog_acquire(const DAT_PROVIDER_INFO *key, struct catalog_record **out)
{
	struct catalog_record *record;
	unsigned int tried = 0;
	int r = -ENOENT;

	read_catalog();
	pthread_mutex_lock(&registry_lock);
	while (r != 0) {
		/* What is loaded already wins over what failed to load before it. */
		record = next_locked(key, 0, RECORD_LOADED);
		if (record != NULL) {
			record->users++;
			r = 0;
			break;
		}
		record = next_locked(key, tried, -1);
		if (record == NULL)
			break;
		if (record->state != RECORD_UNLOADED) {
			/* A provider that opens itself from its own init would wait for ever. */
			if (pthread_equal(record->worker, pthread_self()))
				tried = record->index;
			else
				pthread_cond_wait(&catalog_settled, &registry_lock);
			continue;
		}
		record->state = RECORD_LOADING;
		record->worker = pthread_self();
		pthread_mutex_unlock(&registry_lock);
		r = load_record(record);
		pthread_mutex_lock(&registry_lock);
		record->state = r == 0 ? RECORD_LOADED : RECORD_UNLOADED;
		record->users = r == 0 ? 1 : 0;
		pthread_cond_broadcast(&catalog_settled);
		tried = record->index;
	}
	pthread_mutex_unlock(&registry_lock);
	if (r == 0)
		*out = record;
	return r;
}

bool
catalog_hold_locked(struct catalog_record *record)
{
	if (record == NULL)
		return true;
	if (record->state != RECORD_LOADED)
		return false;
	record->users++;
	return true;
}

void
catalog_release(struct catalog_record *record)
{
	if (record == NULL)
		return;
	pthread_mutex_lock(&registry_lock);
	if (--record->users == 0) {
		record->state = RECORD_UNLOADING;
		record->worker = pthread_self();
		pthread_mutex_unlock(&registry_lock);
		unload_record(record);
		pthread_mutex_lock(&registry_lock);
		record->state = RECORD_UNLOADED;
		pthread_cond_broadcast(&catalog_settled);
	}
	pthread_mutex_unlock(&registry_lock);
}

/* Whether an earlier record has the same key: then this one is its understudy. */
static bool
is_understudy(const struct catalog_record *record)
{
	const struct catalog_record *other = catalog_records;

	while (other != record && !registry_key_equal(&other->info, &record->info))
		other = other->next;
	return other != record;
}

int
catalog_list(DAT_PROVIDER_INFO **out, int max)
{
	const struct catalog_record *record;
	int count = 0;

	read_catalog();
	for (record = catalog_records; record != NULL; record = record->next) {
		if (is_understudy(record))
			continue;
		if (count < max)
			*out[count] = record->info;
		count++;
	}
	return count;
}

bool
catalog_has_name(const char *name)
{
	const struct catalog_record *record;

	read_catalog();
	for (record = catalog_records; record != NULL; record = record->next)
		if (strcmp(record->info.ia_name, name) == 0)
			return true;
	return false;
}
