/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_info -- what there is: adapters, attributes, settings; and what is wrong with a host
 */
#include <config.h>

#include <argp.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/dat_version.h>

#include "doctor.h"
#include "lines.h"
#include "record.h"
#include "setting.h"
#include "show.h"
#include "table.h"
#include "text.h"
#include "tools/printable.h"
#include "tools/streams.h"
#include "tools/written.h"
#include "trial.h"

enum { USAGE = 2, DOCTOR = 256, JSON, NAMES };

enum job { LIST, SHOW, NAME, SETTINGS, EXAMINE };

struct request {
	enum job job;
	bool json, verbose;
	char **names; /* NULL at the end */
};

static const struct argp_option options[] = {
	{ "environment", 'e', NULL, 0,
	    "Print the environment variables, and the fields and words of dat.conf, with their "
	    "defaults",
	    0 },
	{ "doctor", DOCTOR, NULL, 0,
	    "Examine this host step by step, from dat.conf to a transfer within this process", 0 },
	{ "names", NAMES, NULL, 0, "Print the names of dat.conf that programs can ask for", 0 },
	{ "verbose", 'v', NULL, 0,
	    "Print everything about each adapter, and what its library writes", 0 },
	{ "json", JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static const char about[] =
    "Print the adapters of dat.conf, or everything about those that are named."
    "\vThe exit status is 0; 1 if the file cannot be read, an adapter that was named cannot be "
    "opened, or the doctor found "
    "something wrong or no adapter that works; 2 after a wrong option.";

static void
print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "dat_info (%s) %s, with libdat2 %s\n", PACKAGE_NAME, PACKAGE_VERSION,
	    dat_rearm_version());
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static void
choose_job(struct argp_state *state, enum job job)
{
	struct request *request = state->input;

	if (request->job != LIST && request->job != job)
		argp_error(state, "--environment, --doctor and --names exclude each other");
	request->job = job;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'e':
		choose_job(state, SETTINGS);
		return 0;
	case DOCTOR:
		choose_job(state, EXAMINE);
		return 0;
	case NAMES:
		choose_job(state, NAME);
		return 0;
	case 'v':
		request->verbose = true;
		return 0;
	case JSON:
		request->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (*arg == '\0' || strlen(arg) >= DAT_NAME_MAX_LENGTH)
			argp_error(state, "a name has 1 to %d bytes", DAT_NAME_MAX_LENGTH - 1);
		return ARGP_ERR_UNKNOWN; /* all of them: ARGP_KEY_ARGS */
	case ARGP_KEY_ARGS:
		request->names = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if ((request->job == SETTINGS || request->job == NAME) && request->names[0] != NULL)
			argp_error(state, "%s is an argument too many", request->names[0]);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Frees the report. */
static void
finish_json(json_t *report)
{
	if (!text_dump(report))
		errx(1, "the report cannot be written as JSON");
	putchar('\n');
	json_decref(report);
}

/* {"KEY": value} */
static json_t *
wrap(const char *key, json_t *value)
{
	json_t *object = json_object();

	json_object_set_new(object, key, value);
	return object;
}

/* Whether one of these lines of the registry says that a file was not read. */
static bool
lines_miss_a_file(const json_t *lines)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) if (strncmp(json_string_value(line), "cannot read ",
						   strlen("cannot read ")) == 0) return true;
	return false;
}

static int
list(const struct request *request)
{
	DAT_REARM_RECORD *records;
	json_t *report, *lines, *line;
	DAT_COUNT count = 0;
	DAT_RETURN ret;
	int status;
	size_t i;

	records = record_list(&count, &ret);
	lines = records != NULL ? lines_take_errors() : lines_explain("dat.conf", ret);
	status = records == NULL || lines_miss_a_file(lines);
	report = record_report(records, count);
	free(records);
	if (request->json) {
		report = wrap("records", report);
		json_object_set_new(report, "lines", lines);
		json_object_set_new(report, "libdat2", json_string(dat_rearm_version()));
		finish_json(report);
	} else {
		json_array_foreach(lines, i, line) text_print(0, 0, "", json_string_value(line));
		if (request->verbose)
			table_print_all(report);
		else
			table_print(report);
		json_decref(lines);
		json_decref(report);
	}
	return status;
}

/* The names, each once. */
static int
list_names(bool json)
{
	json_t *names, *name, *lines, *line;
	DAT_REARM_RECORD *records;
	DAT_COUNT count = 0;
	DAT_RETURN ret;
	int status;
	size_t i;

	records = record_list(&count, &ret);
	lines = lines_take_errors();
	status = records == NULL || lines_miss_a_file(lines);
	/* Standard output is for programs that complete names. */
	json_array_foreach(lines, i, line) warnx("%s", json_string_value(line));
	json_decref(lines);
	names = record_names(records, count);
	json_array_foreach(names, i, name)
	{
		if (!json) {
			text_print_cell(json_string_value(name), 0);
			putchar('\n');
		}
	}
	if (json)
		finish_json(wrap("names", names));
	else
		json_decref(names);
	free(records);
	return status;
}

static int
show(char **names, bool json)
{
	json_t *reports = json_array(), *trials = json_array(), *report;
	int status = 0;
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		json_array_append_new(trials, trial_report(names[i], NULL, NULL));
	for (i = 0; names[i] != NULL; i++) {
		report = show_report(names[i], json_array_get(trials, i));
		if (!json_is_true(json_object_get(report, "opens")))
			status = 1;
		if (!json)
			show_print(report);
		json_array_append_new(reports, report);
	}
	json_decref(trials);
	if (json)
		finish_json(wrap("adapters", reports));
	else
		json_decref(reports);
	return status;
}

static int
settings(bool json)
{
	json_t *report = setting_report();

	if (json) {
		finish_json(wrap("settings", report));
	} else {
		setting_print(report);
		json_decref(report);
	}
	return 0;
}

static int
examine(const struct request *request)
{
	json_t *report = doctor_report(request->names, request->json, request->verbose);
	const bool ok = json_is_true(json_object_get(report, "ok"));

	if (request->json) {
		finish_json(report);
		return ok ? 0 : 1;
	}
	text_print_cell(json_string_value(json_object_get(report, "summary")), 0);
	putchar('\n');
	json_decref(report);
	return ok ? 0 : 1;
}

int
main(int argc, char **argv)
{
	static char *no_names[] = { NULL };
	struct request request = { .job = LIST, .names = no_names };
	const struct argp argp = { options, parse, "[NAME...]", about, NULL, NULL, NULL };
	int status = 0;

	streams_open();
	printable_arguments(argc, argv, USAGE);
	written_at_exit();
	argp_err_exit_status = USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &request);
	if (request.job == LIST && request.names[0] != NULL)
		request.job = SHOW;
	if (request.job != SETTINGS)
		lines_start();
	switch (request.job) {
	case LIST:
		status = list(&request);
		break;
	case SHOW:
		status = show(request.names, request.json);
		break;
	case NAME:
		status = list_names(request.json);
		break;
	case SETTINGS:
		status = settings(request.json);
		break;
	case EXAMINE:
		status = examine(&request);
		break;
	}
	return status;
}
