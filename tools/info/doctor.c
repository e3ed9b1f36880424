/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor.h"
#include "examine.h"
#include "host.h"
#include "lines.h"
#include "reason.h"
#include "record.h"
#include "step.h"
#include "text.h"
#include "trial.h"

#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/dat_version.h>

/* The names that were examined, by result, and why those of others cannot be opened. */
struct findings {
	json_t *work, *fail, *others, *reasons;
};

static void
doctor_examine_registry(struct steps *steps)
{
	const char *version = dat_rearm_version();
	Dl_info info = { .dli_fname = NULL };

	(void)dladdr((const void *)(size_t)&dat_rearm_version, &info);
	if (strcmp(version, REARM_VERSION) == 0)
		step_add(steps, "registry", GOOD,
		    text_format("libdat2 %s: %s", version, info.dli_fname));
	else
		step_add(steps, "registry", WRONG,
		    text_format(
			"libdat2 is %s, and this program is of %s: %s; install both from one "
			"release",
			version, REARM_VERSION, info.dli_fname));
}

static void
doctor_step_names(struct steps *steps, const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	json_t *names = record_names(records, count), *list = reason_list(names);

	if (json_array_size(names) == 0)
		step_add(steps, "dat.conf", WRONG,
		    json_string("no name that programs can ask for: add a line, see dat.conf(5)"));
	else
		step_add(
		    steps, "dat.conf", GOOD, text_format("names: %s", json_string_value(list)));
	json_decref(list);
	json_decref(names);
}

/* What was read, bad lines, and the names.  The records, or NULL. */
static DAT_REARM_RECORD *
doctor_examine_conf(struct steps *steps, DAT_COUNT *count)
{
	const char *override = getenv("DAT_OVERRIDE");
	DAT_REARM_RECORD *records;
	DAT_RETURN ret;

	if (override != NULL)
		step_add(steps, "dat.conf", FACT,
		    text_format("DAT_OVERRIDE is set: only %s counts", override));
	records = record_list(count, &ret);
	step_add_all(steps, "dat.conf", FACT, lines_take_notes());
	if (records == NULL) {
		step_add_all(
		    steps, "dat.conf", WRONG, lines_explain("dat_rearm_list_records", ret));
		return NULL;
	}
	step_add_all(steps, "dat.conf", WRONG, lines_take_errors());
	doctor_step_names(steps, records, *count);
	return records;
}

static void
doctor_examine_host(struct steps *steps)
{
	json_t *devices, *files = host_forbidden();
	bool none;

	devices = host_devices(&none);
	step_add(steps, "devices", none ? FACT : GOOD, devices);
	if (files != NULL)
		step_add(steps, "permission", FACT, files);
	step_add(steps, "limits", FACT, host_limits());
}

/* The first record of a name that programs can ask for. */
static bool
doctor_is_first(const DAT_REARM_RECORD *records, DAT_COUNT i)
{
	DAT_COUNT j;

	for (j = 0; j <= i; j++)
		if (record_is_for_programs(&records[j]) &&
		    strcmp(records[j].name, records[i].name) == 0)
			return j == i;
	return false;
}

static bool
doctor_has_ours(const DAT_REARM_RECORD *records, DAT_COUNT count, const char *name)
{
	for (DAT_COUNT i = 0; i < count; i++)
		if (record_is_for_programs(&records[i]) && strcmp(records[i].name, name) == 0 &&
		    record_is_ours(&records[i]))
			return true;
	return false;
}

/* The library of the first record of a name, or NULL. */
static const char *
doctor_library(const DAT_REARM_RECORD *records, DAT_COUNT count, const char *name)
{
	for (DAT_COUNT i = 0; i < count; i++)
		if (record_is_for_programs(&records[i]) && strcmp(records[i].name, name) == 0)
			return records[i].library;
	return NULL;
}

/*
 * Those with these names, or all that programs can ask for; a name of NULL ends the list, which the
 * caller frees.
 */
static struct subject *
doctor_choose(char *const names[], const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	const bool asked = names[0] != NULL;
	struct subject *subjects, *next;
	size_t named = 0;
	DAT_COUNT i;

	while (names[named] != NULL)
		named++;
	subjects = next = calloc(named + (size_t)count + 1, sizeof *subjects);
	if (subjects == NULL)
		err(1, NULL);
	for (; *names != NULL; names++)
		*next++ = (struct subject){ .name = *names, .asked = true, .must_open = true };
	for (i = 0; !asked && i < count; i++)
		if (doctor_is_first(records, i))
			*next++ = (struct subject){
				.name = records[i].name,
				.must_open = doctor_has_ours(records, count, records[i].name),
			};
	return subjects;
}

/*
 * All of them before one is opened here: a process that forks should have no threads of a provider.
 */
static void
doctor_try(struct subject *subjects, const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	for (; subjects->name != NULL; subjects++) {
		subjects->records = records;
		subjects->count = count;
		subjects->trial = trial_report(
		    subjects->name, NULL, doctor_library(records, count, subjects->name));
	}
}

/*
 * Adds the name to what was found.  Of a name that need not open the reason is printed at the end.
 */
static json_t *
doctor_examine(const struct subject *subject, bool quiet, bool verbose, struct findings *findings)
{
	const bool other = !subject->must_open && !trial_opens(subject->trial);
	json_t *names, *report, *place;

	report = examine_adapter(subject, quiet || (other && !verbose), verbose);
	if (other)
		names = findings->others;
	else if (json_is_true(json_object_get(report, "works")))
		names = findings->work;
	else
		names = findings->fail;
	json_array_append(names, json_object_get(report, "name"));
	if (!other)
		return report;
	for (DAT_COUNT i = 0; i < subject->count; i++)
		if (doctor_is_first(subject->records, i) &&
		    strcmp(subject->records[i].name, subject->name) == 0) {
			place = record_place(&subject->records[i]);
			reason_add(findings->reasons, json_object_get(subject->trial, "lines"),
			    subject->name, json_string_value(place));
			json_decref(place);
		}
	return report;
}

static void
doctor_print_others(const struct findings *findings)
{
	json_t *reason, *names, *list, *count, *text;
	const char *key;

	if (json_object_size(findings->reasons) > 0)
		text_print(0, 0, "", "other providers");
	json_object_foreach(findings->reasons, key, reason)
	{
		names = json_object_get(reason, "names");
		list = reason_list(names);
		count = reason_count(names);
		text = text_format("%s: %s", json_string_value(count), key);
		step_print("open", FACT, json_string_value(text), json_string_value(list));
		json_decref(list);
		json_decref(count);
		json_decref(text);
	}
}

/* "BEFORE; TEXT VERB".  Takes `before` and the text over. */
static json_t *
doctor_append(json_t *before, json_t *text, const char *verb)
{
	json_t *all = text_format("%s%s%s %s", json_string_value(before),
	    *json_string_value(before) != '\0' ? "; " : "", json_string_value(text), verb);

	json_decref(before);
	json_decref(text);
	return all;
}

/* As it is if there are no names. */
static json_t *
doctor_append_names(json_t *before, const json_t *names, const char *one, const char *several)
{
	const size_t count = json_array_size(names);

	return count != 0 ? doctor_append(before, reason_list(names), count == 1 ? one : several) :
			    before;
}

/* One line.  Takes the findings over. */
static json_t *
doctor_sum_up(bool ok, struct findings *findings)
{
	const char *verdict = "";
	json_t *summary, *line;

	if (!ok)
		verdict = "Something is wrong, see above";
	else if (json_array_size(findings->work) == 0)
		verdict = "No adapter works";
	summary = json_string(verdict);
	summary = doctor_append_names(summary, findings->work, "works", "work");
	summary = doctor_append_names(summary, findings->fail, "does not work", "do not work");
	if (json_array_size(findings->others) > 0)
		summary = doctor_append(
		    summary, reason_count(findings->others), "of other providers cannot be opened");
	line = text_format("%s.", json_string_value(summary));
	json_decref(summary);
	json_decref(findings->work);
	json_decref(findings->fail);
	json_decref(findings->others);
	json_decref(findings->reasons);
	return line;
}

json_t *
doctor_report(char *const names[], bool quiet, bool verbose)
{
	struct steps host = { .list = json_array(), .quiet = quiet, .ok = true };
	struct findings findings = { json_array(), json_array(), json_array(), json_object() };
	json_t *report = json_object(), *adapters = json_array(), *one;
	struct subject *subjects, *subject;
	DAT_REARM_RECORD *records;
	DAT_COUNT count = 0;
	bool ok;

	step_watch();
	if (!quiet)
		text_print(0, 0, "", "this host");
	doctor_examine_registry(&host);
	records = doctor_examine_conf(&host, &count);
	doctor_examine_host(&host);
	step_unwatch();
	subjects = doctor_choose(names, records, count);
	doctor_try(subjects, records, count);
	step_watch();
	for (subject = subjects; subject->name != NULL; subject++) {
		one = doctor_examine(subject, quiet, verbose, &findings);
		json_array_append_new(adapters, one);
		json_decref(subject->trial);
	}
	step_unwatch();
	if (!quiet && !verbose)
		doctor_print_others(&findings);
	free(subjects);
	free(records);
	ok = host.ok && json_array_size(findings.fail) == 0;
	json_object_set_new(report, "ok", json_boolean(ok && json_array_size(findings.work) > 0));
	json_object_set_new(report, "summary", doctor_sum_up(ok, &findings));
	json_object_set_new(report, "steps", host.list);
	json_object_set_new(report, "adapters", adapters);
	return report;
}
