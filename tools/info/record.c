/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"
#include "adapter.h"
#include "lines.h"
#include "text.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long an adapter may take to open: looking up a host name can take a while. */
enum { OPEN_SECONDS = 60 };

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
	json_t *names = json_array(), *name, *other;
	DAT_COUNT i;
	size_t j;

	for (i = 0; i < count; i++) {
		if (!record_is_for_programs(&records[i]))
			continue;
		name = text_json(records[i].name);
		json_array_foreach(names, j, other) if (json_equal(name, other)) break;
		if (j == json_array_size(names))
			json_array_append(names, name);
		json_decref(name);
	}
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

/* Opens the adapter: what the library said of it, and the device. */
static void
record_try(const DAT_REARM_RECORD *record, json_t *report)
{
	const bool thread_safe = record->is_thread_safe;
	struct adapter adapter;
	const char *call;
	json_t *said;
	DAT_RETURN ret;

	ret = adapter_open(&adapter, record->name, &thread_safe, &call);
	said = ret == DAT_SUCCESS ? lines_take_errors() : lines_explain(call, ret);
	json_object_set_new(report, "opens", json_boolean(ret == DAT_SUCCESS));
	json_object_set_new(report, "lines", said);
	if (ret != DAT_SUCCESS)
		return;
	json_object_set_new(report, "device", text_json(adapter.ia_attr.adapter_name));
	adapter_close(&adapter);
}

static void
record_add_line(json_t *report, json_t *line)
{
	json_t *lines = json_array();

	json_array_append_new(lines, line);
	json_object_set_new(report, "opens", json_false());
	json_object_set_new(report, "lines", lines);
}

/* What ended the process that tried, before it reported. */
static json_t *
record_explain_end(const DAT_REARM_RECORD *record, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return text_format("%s does not open the adapter within %d seconds",
		    record->library, OPEN_SECONDS);
	if (WIFSIGNALED(status))
		return text_format(
		    "%s ends the program: %s", record->library, strsignal(WTERMSIG(status)));
	return text_format("%s ends the program", record->library);
}

/*
 * In a process of its own: a library that crashes or blocks does not keep the others from the list.  If there can be
 * none, in this one.
 */
static void
record_try_apart(const DAT_REARM_RECORD *record, json_t *report)
{
	int ends[2] = { -1, -1 }, status;
	json_t *answer;
	pid_t child = -1;

	if (pipe2(ends, O_CLOEXEC) == 0)
		child = fork();
	if (child < 0) {
		if (ends[0] >= 0) {
			close(ends[0]);
			close(ends[1]);
		}
		record_try(record, report);
		return;
	}
	if (child == 0) {
		alarm(OPEN_SECONDS);
		answer = json_object();
		record_try(record, answer);
		_exit(json_dumpfd(answer, ends[1], 0) == 0 ? 0 : 1);
	}
	close(ends[1]);
	answer = json_loadfd(ends[0], 0, NULL);
	close(ends[0]);
	if (waitpid(child, &status, 0) != child)
		err(1, "waitpid");
	if (answer != NULL)
		json_object_update(report, answer);
	else
		record_add_line(report, record_explain_end(record, status));
	json_decref(answer);
}

static json_t *
record_report_one(const DAT_REARM_RECORD *record, const DAT_REARM_RECORD *earlier)
{
	json_t *report = json_object(), *obstacle = record_obstacle(record, earlier);

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
	if (obstacle == NULL)
		record_try_apart(record, report);
	else
		record_add_line(report, obstacle);
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

static const char *
record_text(const json_t *record, const char *key)
{
	return json_string_value(json_object_get(record, key));
}

static void
record_print_one(const json_t *record)
{
	const bool opens = json_is_true(json_object_get(record, "opens"));
	json_t *text, *line;
	size_t i;

	text = text_format("%s: %s %s%s, %s", record_text(record, "name"),
	    record_text(record, "version"),
	    json_is_true(json_object_get(record, "thread_safe")) ? "threadsafe" : "nonthreadsafe",
	    json_is_true(json_object_get(record, "default")) ? "" : " nondefault",
	    record_text(record, "place"));
	text_print(0, 0, "", json_string_value(text));
	json_decref(text);
	text = text_format(
	    "%s \"%s\"", record_text(record, "library"), record_text(record, "parameters"));
	text_print(2, 0, "", json_string_value(text));
	json_decref(text);
	text = opens ? text_format("device %s", record_text(record, "device")) : NULL;
	if (text != NULL)
		text_print(2, 7, "opens:", json_string_value(text));
	json_decref(text);
	json_array_foreach(json_object_get(record, "lines"), i, line)
	    text_print(2, opens ? 7 : 4, opens ? "" : "no:", json_string_value(line));
}

void
record_print(const json_t *report)
{
	json_t *record;
	size_t i;

	json_array_foreach(report, i, record) record_print_one(record);
}
