/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/conf.h"
#include "dat/key.h"
#include "dat/log.h"
#include "dat/record.h"

#define LAST_RESORT "/etc/dat.conf"

/* How many entries of a long file a message shows. */
enum { SHOWN_NAMES = 8, SHOWN_LINES = 4 };

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by `reading` until `known` is set; fixed from then on. */
static struct {
	bool known;
	char path[PATH_MAX];	     /* the file that was read, or that could not be */
	bool missing;		     /* it could not be read */
	bool searched;		     /* DAT_OVERRIDE is not set */
	struct record *first, *last; /* in the order of the file */
	struct hash keys, names;     /* the first record of each */
} file;

static struct record *
record_find_key(const DAT_PROVIDER_INFO *key)
{
	struct hash_node *node = hash_first(&file.keys, key_hash(key));

	for (; node != NULL; node = hash_next(node))
		if (key_equal(&HASH_MEMBER(node, struct record, of_key)->info, key))
			return HASH_MEMBER(node, struct record, of_key);
	return NULL;
}

static struct record *
record_find_name(const char *name)
{
	struct hash_node *node = hash_first(&file.names, key_name_hash(name));

	for (; node != NULL; node = hash_next(node))
		if (strcmp(HASH_MEMBER(node, struct record, of_name)->info.ia_name, name) == 0)
			return HASH_MEMBER(node, struct record, of_name);
	return NULL;
}

/* Appends a record to the list of the file, of its name and of its chain. */
static void
record_append(struct record *record)
{
	struct record *first;

	if (file.last != NULL)
		file.last->next = record;
	else
		file.first = record;
	file.last = record;

	first = record_find_name(record->info.ia_name);
	if (first != NULL) {
		first->last_same_name->same_name = record;
	} else {
		first = record;
		hash_add(&file.names, &record->of_name, key_name_hash(record->info.ia_name));
	}
	first->last_same_name = record;

	if (!record->for_user_space || !record->is_default)
		return;
	first = record_find_key(&record->info);
	if (first != NULL) {
		first->last_same_key->same_key = record;
	} else {
		first = record;
		hash_add(&file.keys, &record->of_key, key_hash(&record->info));
	}
	first->last_same_key = record;
	record->first = first;
}

static void
record_free(struct record *record)
{
	free(record->path);
	free(record->ia_params);
	free(record);
}

static int
record_take(void *arg, const struct conf_record *conf)
{
	struct record *record = calloc(1, sizeof *record);

	(void)arg;
	if (record == NULL)
		return -ENOMEM;
	strcpy(record->info.ia_name, conf->ia_name);
	record->info.dapl_version_major = conf->major;
	record->info.dapl_version_minor = conf->minor;
	record->info.is_thread_safe = conf->thread_safe ? DAT_TRUE : DAT_FALSE;
	record->line = conf->line;
	record->for_user_space = conf->for_user_space;
	record->is_default = conf->is_default;
	record->path = strdup(conf->library);
	record->ia_params = strdup(conf->ia_params);
	if (record->path == NULL || record->ia_params == NULL) {
		record_free(record);
		return -ENOMEM;
	}
	record_append(record);
	return 0;
}

static void
record_free_all(void)
{
	struct record *record, *next;

	for (record = file.first; record != NULL; record = next) {
		next = record->next;
		record_free(record);
	}
	file.first = file.last = NULL;
	hash_clear(&file.keys);
	hash_clear(&file.names);
}

/*
 * Errors that may not occur at the next try.  A missing file, or one without permission, is not
 * among them.
 */
static bool
record_is_shortage(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* 0, -ENOENT if there is no such file, or an error of record_is_shortage(): then nothing was read. */
static int
record_read_file(const char *path, bool must_exist)
{
	FILE *in;
	int r;

	snprintf(file.path, sizeof file.path, "%s", path);
	in = fopen(path, "re");
	file.missing = in == NULL;
	if (in == NULL) {
		r = errno;
		if (must_exist || (r != ENOENT && r != ENOTDIR))
			log_message(LOG_ERRORS, "cannot read %s: %s", path, strerror(r));
		if (record_is_shortage(r))
			return -r;
		return must_exist ? 0 : -ENOENT;
	}
	r = conf_parse(in, path, record_take, NULL);
	fclose(in);
	if (record_is_shortage(-r)) {
		log_message(LOG_ERRORS, "cannot read %s: %s", path, strerror(-r));
		record_free_all();
		return r;
	}
	return 0;
}

static int
record_read_files(void)
{
	const char *override = secure_getenv("DAT_OVERRIDE");
	int r;

	if (override != NULL)
		return record_read_file(override, true);
	file.searched = true;
	r = record_read_file(REARM_DAT_CONF, false);
	if (r == -ENOENT)
		r = record_read_file(LAST_RESORT, false);
	if (r == -ENOENT)
		log_message(LOG_CATALOG, "neither %s nor %s exists", REARM_DAT_CONF, LAST_RESORT);
	return r;
}

/*
 * Reads the file once in a process.  If memory or descriptors are short it returns false, and the
 * next call tries again.
 */
static bool
record_read_once(void)
{
	bool known;
	int state;

	/* Reading files is a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&reading);
	if (!file.known)
		file.known = !record_is_shortage(-record_read_files());
	known = file.known;
	pthread_mutex_unlock(&reading);
	pthread_setcancelstate(state, NULL);
	return known;
}

struct record *
record_find(const DAT_PROVIDER_INFO *key)
{
	return record_read_once() ? record_find_key(key) : NULL;
}

bool
record_has_name(const char *name)
{
	const struct record *record;

	record = record_read_once() ? record_find_name(name) : NULL;
	while (record != NULL && record->first == NULL)
		record = record->same_name;
	return record != NULL;
}

int
record_count(void)
{
	return record_read_once() ? (int)file.keys.count : 0;
}

int
record_list(DAT_PROVIDER_INFO **out, int max)
{
	const struct record *record;
	int count = 0;

	if (!record_read_once())
		return 0;
	for (record = file.first; record != NULL && count < max; record = record->next)
		if (record->first == record)
			*out[count++] = record->info;
	return count;
}

/* ---- messages ---- */

/* Appends to a text; truncates what does not fit. */
static void __attribute__((format(printf, 3, 4)))
record_add(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, size - length, format, args);
	va_end(args);
}

static void
record_add_lines(const struct record *record, char *text, size_t size)
{
	int n;

	record_add(text, size, "%s has the name", file.path);
	for (n = 0; record != NULL && n < SHOWN_LINES; record = record->same_name, n++)
		record_add(text, size, "%s in line %u as %c%u.%u %s%s", n == 0 ? "" : ",",
		    record->line, record->for_user_space ? 'u' : 'k',
		    record->info.dapl_version_major, record->info.dapl_version_minor,
		    key_safety(&record->info), record->is_default ? "" : " nondefault");
	if (record != NULL)
		record_add(text, size, ", and in further lines");
}

static void
record_add_names(char *text, size_t size)
{
	const struct record *record = file.first;
	int n = 0;

	record_add(text, size, "%s has no such name", file.path);
	for (; record != NULL && n < SHOWN_NAMES; record = record->next)
		if (record->first == record)
			record_add(
			    text, size, "%s %s", n++ == 0 ? "; it has" : ",", record->info.ia_name);
	if (n == 0)
		record_add(text, size, ", nor any other");
	else if (file.keys.count > (size_t)n)
		record_add(text, size, " and %zu more", file.keys.count - (size_t)n);
}

void
record_explain(const char *name, char *text, size_t size)
{
	const struct record *record;

	*text = '\0';
	if (!record_read_once()) {
		record_add(text, size, "dat.conf could not be read");
		return;
	}
	record = record_find_name(name);
	if (file.missing && file.searched)
		record_add(
		    text, size, "neither %s nor %s can be read", REARM_DAT_CONF, LAST_RESORT);
	else if (file.missing)
		record_add(text, size, "%s cannot be read", file.path);
	else if (record != NULL)
		record_add_lines(record, text, size);
	else
		record_add_names(text, size);
}
