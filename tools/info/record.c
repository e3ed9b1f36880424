/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"
#include "text.h"
#include "trial.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

DAT_REARM_RECORD *
record_list(DAT_COUNT *count, DAT_RETURN *ret)
{
	DAT_REARM_RECORD *records;

	*ret = dat_rearm_list_records(0, count, NULL);
	if (*ret != DAT_SUCCESS)
		return NULL;
	records = calloc((size_t)*count + 1, sizeof *records);
	if (records == NULL)
		err(1, NULL);
	*ret = dat_rearm_list_records(*count, count, records);
	return records;
}

bool
record_is_for_programs(const DAT_REARM_RECORD *record)
{
	return record->for_user_space && record->is_default &&
	       record->version_major == DAT_VERSION_MAJOR &&
	       record->version_minor == DAT_VERSION_MINOR;
}

json_t *
record_names(const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	json_t *names = json_array(), *seen = json_object(), *name;
	DAT_COUNT i;

	for (i = 0; i < count; i++) {
		if (!record_is_for_programs(&records[i]))
			continue;
		name = text_json(records[i].name);
		if (json_object_get(seen, json_string_value(name)) == NULL) {
			json_object_set_new(seen, json_string_value(name), json_true());
			json_array_append(names, name);
		}
		json_decref(name);
	}
	json_decref(seen);
	return names;
}

json_t *
record_place(const DAT_REARM_RECORD *record)
{
	if (record->file == NULL)
		return text_json("built in");
	return text_format("%s:%u", record->file, record->line);
}

static bool
record_is_same_key(const DAT_REARM_RECORD *a, const DAT_REARM_RECORD *b)
{
	return a->for_user_space && b->for_user_space && a->is_default && b->is_default &&
	       a->version_major == b->version_major && a->version_minor == b->version_minor &&
	       a->is_thread_safe == b->is_thread_safe && strcmp(a->name, b->name) == 0;
}

json_t *
record_obstacle(const DAT_REARM_RECORD *record, const DAT_REARM_RECORD *earlier)
{
	if (!record->for_user_space)
		return text_format(
		    "k%u.%u: for the kernel", record->version_major, record->version_minor);
	if (!record->is_default)
		return text_json("nondefault: switched off");
	if (record->version_major != DAT_VERSION_MAJOR ||
	    record->version_minor != DAT_VERSION_MINOR)
		return text_format("u%u.%u: programs for DAT 2.0 ask for u%u.%u",
		    record->version_major, record->version_minor, DAT_VERSION_MAJOR,
		    DAT_VERSION_MINOR);
	for (; earlier < record; earlier++)
		if (record_is_same_key(record, earlier))
			return text_format(
			    "used if the library of line %u cannot be loaded", earlier->line);
	return NULL;
}

bool
record_is_ours(const DAT_REARM_RECORD *record)
{
	static const char *const ours[] = { "libdaplrearm.so", "libdaplsoft.so" };
	const char *slash = strrchr(record->library, '/');
	const char *file = slash != NULL ? slash + 1 : record->library;

	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (strncmp(file, ours[i], strlen(ours[i])) == 0)
			return true;
	return false;
}

static json_t *
record_report_one(const DAT_REARM_RECORD *record, const DAT_REARM_RECORD *earlier)
{
	json_t *report = json_object(), *obstacle = record_obstacle(record, earlier), *trial;
	const bool thread_safe = record->is_thread_safe;

	json_object_set_new(report, "name", text_json(record->name));
	json_object_set_new(report, "version",
	    text_format("%c%u.%u", record->for_user_space ? 'u' : 'k', record->version_major,
		record->version_minor));
	json_object_set_new(report, "thread_safe", json_boolean(record->is_thread_safe));
	json_object_set_new(report, "default", json_boolean(record->is_default));
	json_object_set_new(report, "library", text_json(record->library));
	json_object_set_new(report, "parameters", text_json(record->parameters));
	json_object_set_new(report, "file", text_json(record->file));
	json_object_set_new(
	    report, "line", record->file != NULL ? json_integer(record->line) : json_null());
	json_object_set_new(report, "place", record_place(record));
	json_object_set_new(report, "rearm", json_boolean(record_is_ours(record)));
	trial = obstacle == NULL ?
		    trial_report(record->name, &thread_safe, record->library) :
		    json_pack("{s:b, s:[o], s:[]}", "opens", 0, "lines", obstacle, "output");
	json_object_update(report, trial);
	json_object_del(report, "notes");
	json_decref(trial);
	return report;
}

json_t *
record_report(const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	json_t *report = json_array();
	DAT_COUNT i;

	for (i = 0; i < count; i++)
		json_array_append_new(report, record_report_one(&records[i], records));
	return report;
}
