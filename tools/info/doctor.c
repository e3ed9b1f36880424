/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor.h"
#include "adapter.h"
#include "host.h"
#include "lines.h"
#include "pair.h"
#include "record.h"
#include "text.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/dat_version.h>

enum { STEP_SECONDS = 60, SHOWN_NAMES = 8, TRANSFER = 65536 };

/* GOOD and WRONG are results; a FACT may be either. */
enum result { GOOD, WRONG, FACT };

static const char *const results[] = { [GOOD] = "ok", [WRONG] = "wrong", [FACT] = "note" };

/* For the signal handler: the step that was made last. */
static char last_step[64] = "start";

struct doctor {
	json_t *steps; /* of the host, or of an adapter */
	bool quiet;
	bool ok;
};

/* A step may never end, in a device or a name server. */
static void
doctor_give_up(int signal)
{
	static const char before[] = "dat_info: no answer for a minute, after the step: ";

	(void)signal;
	(void)!write(STDERR_FILENO, before, sizeof before - 1);
	(void)!write(STDERR_FILENO, last_step, strlen(last_step));
	(void)!write(STDERR_FILENO, "\n", 1);
	_exit(1);
}

/* Adds a step with one text, which it takes over. */
static void
doctor_step(struct doctor *d, const char *name, enum result result, json_t *text)
{
	json_t *step = json_object();
	char label[64];

	snprintf(label, sizeof label, "%-12s %s", name, results[result]);
	if (!d->quiet) {
		text_print(2, 20, label, json_string_value(text));
		fflush(stdout);
	}
	json_object_set_new(step, "step", json_string(name));
	json_object_set_new(step, "result", json_string(results[result]));
	json_object_set_new(step, "text", text);
	json_array_append_new(d->steps, step);
	d->ok = d->ok && result != WRONG;
	snprintf(last_step, sizeof last_step, "%s", name);
	alarm(STEP_SECONDS);
}

/* A step for each text of an array, which it takes over. */
static void
doctor_steps(struct doctor *d, const char *name, enum result result, json_t *texts)
{
	json_t *text;
	size_t i;

	json_array_foreach(texts, i, text) doctor_step(d, name, result, json_incref(text));
	json_decref(texts);
}

static void
doctor_examine_registry(struct doctor *d)
{
	const char *version = dat_rearm_version();
	Dl_info info = { .dli_fname = NULL };

	(void)dladdr((const void *)(size_t)&dat_rearm_version, &info);
	if (strcmp(version, REARM_VERSION) == 0)
		doctor_step(
		    d, "registry", GOOD, text_format("libdat2 %s: %s", version, info.dli_fname));
	else
		doctor_step(d, "registry", WRONG,
		    text_format(
			"libdat2 is %s, and this program is of %s: %s; install both from one "
			"release",
			version, REARM_VERSION, info.dli_fname));
}

static void
doctor_step_names(struct doctor *d, const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	json_t *names = record_names(records, count), *name;
	const size_t total = json_array_size(names);
	char text[SHOWN_NAMES * DAT_NAME_MAX_LENGTH] = "";
	size_t i;

	json_array_foreach(names, i, name) if (i < SHOWN_NAMES) snprintf(text + strlen(text),
	    sizeof text - strlen(text), "%s %s", i != 0 ? "," : "", json_string_value(name));
	if (total == 0)
		doctor_step(d, "dat.conf", WRONG,
		    json_string("no name that programs can ask for: add a line, see dat.conf(5)"));
	else if (total <= SHOWN_NAMES)
		doctor_step(d, "dat.conf", GOOD, text_format("names:%s", text));
	else
		doctor_step(d, "dat.conf", GOOD,
		    text_format("names:%s and %zu more", text, total - SHOWN_NAMES));
	json_decref(names);
}

/* What was read, bad lines, and the names.  The records, or NULL. */
static DAT_REARM_RECORD *
doctor_examine_conf(struct doctor *d, DAT_COUNT *count)
{
	const char *override = getenv("DAT_OVERRIDE");
	DAT_REARM_RECORD *records;
	DAT_RETURN ret;

	if (override != NULL)
		doctor_step(d, "dat.conf", FACT,
		    text_format("DAT_OVERRIDE is set: only %s counts", override));
	records = record_list(count, &ret);
	doctor_steps(d, "dat.conf", FACT, lines_take_notes());
	if (records == NULL) {
		doctor_steps(d, "dat.conf", WRONG, lines_explain("dat_rearm_list_records", ret));
		return NULL;
	}
	doctor_steps(d, "dat.conf", WRONG, lines_take_errors());
	doctor_step_names(d, records, *count);
	return records;
}

static void
doctor_examine_host(struct doctor *d)
{
	json_t *devices, *files = host_forbidden();
	bool none;

	devices = host_devices(&none);
	doctor_step(d, "devices", none ? FACT : GOOD, devices);
	if (files != NULL)
		doctor_step(d, "permission", FACT, files);
	doctor_step(d, "limits", FACT, host_limits());
}

/* The records of the name, what keeps programs from them, and the interface of the first that counts. */
static void
doctor_examine_records(
    struct doctor *d, const char *name, const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	json_t *place, *obstacle;
	const char *where;
	bool usable, first = true;
	DAT_COUNT i;

	for (i = 0; i < count; i++) {
		if (strcmp(records[i].name, name) != 0)
			continue;
		place = record_place(&records[i]);
		obstacle = record_obstacle(&records[i], records);
		if (obstacle != NULL)
			doctor_step(d, "record", FACT,
			    text_format(
				"%s: %s", json_string_value(place), json_string_value(obstacle)));
		else
			doctor_step(d, "record", GOOD,
			    text_format("%s: %s \"%s\"", json_string_value(place),
				records[i].library, records[i].parameters));
		json_decref(place);
		if (obstacle == NULL && first) {
			char word[256];

			where = records[i].parameters + strspn(records[i].parameters, " \t");
			snprintf(word, sizeof word, "%.*s", (int)strcspn(where, " \t"), where);
			place = host_interface(word, &usable);
			doctor_step(d, "interface", usable ? GOOD : FACT, place);
			first = false;
		}
		json_decref(obstacle);
	}
}

/* The lines that say which library was loaded. */
static void
doctor_examine_library(struct doctor *d)
{
	json_t *notes = lines_take_notes(), *note;
	size_t i;

	json_array_foreach(
	    notes, i, note) if (strncmp(json_string_value(note), "loaded ", strlen("loaded ")) == 0)
	    doctor_step(d, "library", GOOD, json_incref(note));
	json_decref(notes);
}

/* True if the adapter is open. */
static bool
doctor_examine_open(struct doctor *d, const char *name, struct adapter *adapter)
{
	json_t *errors;
	const char *call;
	DAT_RETURN ret;

	ret = adapter_open(adapter, name, NULL, &call);
	errors = ret == DAT_SUCCESS ? lines_take_errors() : lines_explain(call, ret);
	doctor_examine_library(d);
	doctor_steps(d, "open", WRONG, errors);
	if (ret != DAT_SUCCESS)
		return false;
	doctor_step(d, "open", GOOD,
	    text_format("device %s, port %s", adapter->ia_attr.adapter_name,
		adapter_named(adapter, "DAT_IB_PORT_STATUS") != NULL ?
		    adapter_named(adapter, "DAT_IB_PORT_STATUS") :
		    "in an unknown state"));
	return true;
}

/* A step that failed says why; true if it has not failed. */
static bool
doctor_judge(struct doctor *d, const char *name, json_t *failure, json_t *success)
{
	if (failure == NULL) {
		doctor_step(d, name, GOOD, success);
		return true;
	}
	json_decref(success);
	doctor_steps(d, name, WRONG, failure);
	return false;
}

static DAT_SEG_LENGTH
doctor_length(const DAT_IA_ATTR *attr)
{
	DAT_SEG_LENGTH length = TRANSFER;

	if (attr->max_message_size < length)
		length = attr->max_message_size;
	return attr->max_rdma_size < length ? attr->max_rdma_size : length;
}

/* What else can be tried, because a device alone may be the cause. */
static json_t *
doctor_connect(struct pair *pair)
{
	json_t *failure = pair_connect(pair);

	if (failure != NULL)
		json_array_append_new(failure,
		    json_string(
			"try to connect without DAT: rping -s, and rping -c -a ADDRESS with the "
			"address of the adapter; if that fails, too, the cause is in the device "
			"or its network"));
	return failure;
}

static void
doctor_examine_transfer(struct doctor *d, const struct adapter *adapter, struct pair *pair)
{
	const DAT_SEG_LENGTH length = doctor_length(&adapter->ia_attr);

	if (doctor_judge(d, "memory", pair_register(pair),
		text_format("2 regions of %d bytes are registered", PAIR_MEMORY)) &&
	    doctor_judge(d, "endpoints", pair_create(pair), json_string("2 endpoints")) &&
	    doctor_judge(d, "connection", doctor_connect(pair), json_string("established")))
		(void)doctor_judge(d, "transfer", pair_transfer(pair, length),
		    text_format("%u bytes written, sent and read are right", length));
}

/* An adapter that was not asked for and cannot be opened gets no more than the reason. */
static json_t *
doctor_examine(struct doctor *all, const char *name, bool asked, const DAT_REARM_RECORD *records,
    DAT_COUNT count)
{
	struct doctor d = { .steps = json_array(), .quiet = all->quiet, .ok = true };
	json_t *report = json_object();
	struct adapter adapter;
	struct pair pair;

	if (!d.quiet)
		text_print(0, 0, "", name);
	if (asked)
		doctor_examine_records(&d, name, records, count);
	if (doctor_examine_open(&d, name, &adapter)) {
		pair_init(&pair, &adapter);
		doctor_examine_transfer(&d, &adapter, &pair);
		adapter_close(&adapter);
		pair_free(&pair);
	}
	json_object_set_new(report, "name", text_json(name));
	json_object_set_new(report, "ok", json_boolean(d.ok));
	json_object_set_new(report, "steps", d.steps);
	all->ok = all->ok && d.ok;
	return report;
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

json_t *
doctor_report(char *const names[], bool quiet)
{
	struct doctor d = { .steps = json_array(), .quiet = quiet, .ok = true };
	json_t *report = json_object(), *adapters = json_array();
	DAT_REARM_RECORD *records;
	DAT_COUNT count = 0, i;

	(void)signal(SIGALRM, doctor_give_up);
	alarm(STEP_SECONDS);
	if (!quiet)
		text_print(0, 0, "", "this host");
	doctor_examine_registry(&d);
	records = doctor_examine_conf(&d, &count);
	doctor_examine_host(&d);
	for (i = 0; names[0] == NULL && i < count; i++)
		if (doctor_is_first(records, i))
			json_array_append_new(
			    adapters, doctor_examine(&d, records[i].name, false, records, count));
	for (; *names != NULL; names++)
		json_array_append_new(adapters, doctor_examine(&d, *names, true, records, count));
	alarm(0);
	free(records);
	json_object_set_new(report, "ok", json_boolean(d.ok));
	json_object_set_new(report, "steps", d.steps);
	json_object_set_new(report, "adapters", adapters);
	return report;
}
