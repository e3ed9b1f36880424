/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/builtin.h"
#include "dat/conf.h"
#include "dat/key.h"
#include "dat/log.h"
#include "dat/record.h"

/*
 * Where the file is looked for without DAT_OVERRIDE: as configured, by the contract, and where
 * distributions keep it.
 */
static const char *const places[] = { REARM_DAT_CONF, "/etc/dat.conf", "/etc/rdma/dat.conf" };
#define PLACES (sizeof places / sizeof *places)

/* How many entries of a long file a message shows. */
enum { SHOWN_NAMES = 8, SHOWN_LINES = 4 };

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

/* A file that was looked for. */
struct record_source {
	char path[PATH_MAX];
	int error; /* why it could not be read, or 0 */
};

/* Guarded by `reading` until `known` is set; fixed from then on. */
static struct {
	bool known;
	struct record_source sources[PLACES]; /* all but the last one have no record */
	int source_count;
	struct record *first, *last; /* in the order of the file, then the one without a file */
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

/* 0, or an error of record_is_shortage(): then nothing was read. */
static int
record_read_file(const char *path, bool must_exist)
{
	struct record_source *source = &file.sources[file.source_count];
	FILE *in;
	int r;

	snprintf(source->path, sizeof source->path, "%s", path);
	in = fopen(path, "re");
	source->error = r = in == NULL ? errno : 0;
	if (r == 0) {
		r = -conf_parse(in, path, record_take, NULL);
		fclose(in);
		if (r == 0)
			log_message(LOG_CATALOG, "%s was read%s", path,
			    file.first == NULL ? ": there is no record in it" : "");
	} else if (!must_exist && (r == ENOENT || r == ENOTDIR)) {
		log_message(LOG_CATALOG, "%s does not exist", path);
	}
	if (record_is_shortage(r) ||
	    (source->error != 0 && (must_exist || (r != ENOENT && r != ENOTDIR))))
		log_message(LOG_ERRORS, "cannot read %s: %s", path, strerror(r));
	if (!record_is_shortage(r)) {
		file.source_count++;
		return 0;
	}
	record_free_all();
	return -r;
}

/* The record without a file, unless the file has one of its name.  0 or -ENOMEM. */
static int
record_add_builtin(void)
{
	struct conf_record builtin;
	char path[PATH_MAX];
	int r;

	if (record_find_name(BUILTIN_NAME) != NULL)
		return 0;
	builtin_record(&builtin, path);
	r = record_take(NULL, &builtin);
	if (r != 0)
		record_free_all();
	return r;
}

static int
record_read_files(void)
{
	const char *override = secure_getenv("DAT_OVERRIDE");
	int r = 0;

	file.source_count = 0;
	if (override != NULL)
		return record_read_file(override, true);
	/* A file that was left empty does not hide the one that has the records. */
	for (size_t i = 0; i < PLACES && r == 0 && file.first == NULL; i++)
		if (i == 0 || strcmp(places[i], REARM_DAT_CONF) != 0)
			r = record_read_file(places[i], false);
	return r == 0 ? record_add_builtin() : r;
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

int
record_describe(DAT_REARM_RECORD *out, int max)
{
	const struct record *record;
	int count = 0;

	if (!record_read_once())
		return -ENOMEM;
	for (record = file.first; record != NULL; record = record->next, count++)
		if (count < max)
			out[count] = (DAT_REARM_RECORD){
				.name = record->info.ia_name,
				.library = record->path,
				.parameters = record->ia_params,
				.file = record->line == 0 ?
					    NULL :
					    file.sources[file.source_count - 1].path,
				.line = record->line,
				.version_major = record->info.dapl_version_major,
				.version_minor = record->info.dapl_version_minor,
				.for_user_space = record->for_user_space ? DAT_TRUE : DAT_FALSE,
				.is_thread_safe = record->info.is_thread_safe,
				.is_default = record->is_default ? DAT_TRUE : DAT_FALSE,
			};
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

/* What keeps the program from this record, in brackets; nothing if the provider itself failed. */
static void
record_add_obstacle(
    const struct record *record, const DAT_PROVIDER_INFO *key, char *text, size_t size)
{
	const DAT_PROVIDER_INFO *info = &record->info;

	if (!record->for_user_space)
		record_add(text, size, " (k: for the kernel)");
	else if (!record->is_default)
		record_add(text, size, " (which switches it off)");
	else if (info->dapl_version_major != key->dapl_version_major ||
		 info->dapl_version_minor != key->dapl_version_minor)
		record_add(text, size, " (the program asks for u%u.%u)", key->dapl_version_major,
		    key->dapl_version_minor);
	else if (info->is_thread_safe == DAT_FALSE && key->is_thread_safe != DAT_FALSE)
		record_add(text, size, " (the program asks for threadsafe)");
}

/* The records of a name, from this one on. */
static void
record_add_lines(const struct record *record, const DAT_PROVIDER_INFO *key, char *text, size_t size)
{
	int n;

	if (record->line == 0)
		record_add(text, size, "the name is built in");
	else
		record_add(text, size, "%s has the name", file.sources[file.source_count - 1].path);
	for (n = 0; record != NULL && n < SHOWN_LINES; record = record->same_name, n++) {
		record_add(text, size, n == 0 ? "" : ",");
		if (record->line != 0)
			record_add(text, size, " in line %u", record->line);
		record_add(text, size, " as %c%u.%u %s%s", record->for_user_space ? 'u' : 'k',
		    record->info.dapl_version_major, record->info.dapl_version_minor,
		    key_safety(&record->info), record->is_default ? "" : " nondefault");
		record_add_obstacle(record, key, text, size);
	}
	if (record != NULL)
		record_add(text, size, ", and in further lines");
	record_add(text, size, "; change a line, or add one: dat.conf(5)");
}

/* A file without a record. */
static void
record_add_useless(const struct record_source *source, char *text, size_t size)
{
	record_add(text, size, "%s (%s)", source->path,
	    source->error != 0 ? strerror(source->error) : "no record in it");
}

/* Equal but for their case, in ASCII. */
static bool
record_is_letter(char a, char b)
{
	return a == b || ((a ^ b) == 0x20 && (a | 0x20) >= 'a' && (a | 0x20) <= 'z');
}

/*
 * Whether `edits` insertions, removals and replacements of one character make `b` of `a`, whatever
 * the case.
 */
static bool
record_is_near(const char *a, const char *b, int edits)
{
	while (*a != '\0' && record_is_letter(*a, *b))
		a++, b++;
	if (*a == *b)
		return true;
	if (edits == 0)
		return false;
	return (*a != '\0' && record_is_near(a + 1, b, edits - 1)) ||
	       (*b != '\0' && record_is_near(a, b + 1, edits - 1)) ||
	       (*a != '\0' && *b != '\0' && record_is_near(a + 1, b + 1, edits - 1));
}

/*
 * The one name that was probably meant: the same but for the case of letters; or one edit from
 * `name`, or two if there is none with one.  Half of a short name is too much.  NULL if there is
 * none, or if there are several.
 */
static const char *
record_meant(const char *name)
{
	const char *meant = NULL;
	bool several = false;

	for (int edits = 0; edits <= 2 && !meant && strlen(name) > 2 * (size_t)edits; edits++)
		for (const struct record *r = file.first; r != NULL; r = r->next) {
			if (r->first != r || !record_is_near(name, r->info.ia_name, edits))
				continue;
			several = several || (meant != NULL && strcmp(meant, r->info.ia_name) != 0);
			meant = r->info.ia_name;
		}
	return several ? NULL : meant;
}

/* Whether the record stands for its name: a name may have several keys. */
static bool
record_is_first_of_name(const struct record *record)
{
	const struct record *first = record_find_name(record->info.ia_name);

	while (first->first != first)
		first = first->same_name;
	return first == record;
}

/* The names that are there instead. */
static void
record_add_names(const char *name, char *text, size_t size)
{
	const char *meant = record_meant(name);
	const struct record *record = file.first, *builtin = NULL;
	size_t total = 0, n = 0;

	if (file.last != NULL && file.last->line == 0)
		builtin = file.last;
	if (file.first != builtin) {
		record_add(
		    text, size, "%s has no such name", file.sources[file.source_count - 1].path);
		for (; record != builtin; record = record->next) {
			if (record->first != record || !record_is_first_of_name(record) ||
			    ++total > SHOWN_NAMES)
				continue;
			record_add(
			    text, size, "%s %s", n++ == 0 ? "; it has" : ",", record->info.ia_name);
		}
		if (total > n)
			record_add(text, size, " and %zu more", total - n);
	} else {
		for (int i = 0; i < file.source_count; i++) {
			record_add(text, size, "%s",
			    i > 0		  ? " nor in " :
			    file.source_count > 1 ? "there is no record, neither in " :
						    "there is no record in ");
			record_add_useless(&file.sources[i], text, size);
		}
	}
	if (builtin != NULL)
		record_add(text, size, "; %s is built in", builtin->info.ia_name);
	if (meant != NULL)
		record_add(text, size, "; did you mean %s? If not,", meant);
	record_add(text, size, "%s add a line: dat.conf(5)", meant != NULL ? "" : ";");
}

void
record_explain(const DAT_PROVIDER_INFO *key, char *text, size_t size)
{
	const struct record *record;

	*text = '\0';
	if (!record_read_once()) {
		record_add(text, size, "dat.conf could not be read");
		return;
	}
	record = record_find_name(key->ia_name);
	if (record != NULL)
		record_add_lines(record, key, text, size);
	else
		record_add_names(key->ia_name, text, size);
}

void
record_where(const struct record *record, char *text, size_t size)
{
	if (record->line == 0)
		snprintf(text, size, "built in");
	else
		snprintf(
		    text, size, "%s:%u", file.sources[file.source_count - 1].path, record->line);
}
