/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault_option.h"
#include "option_file.h"
#include "parent.h"
#include "say.h"
#include "streams.h"
#include "topology_option.h"
#include "softverbs/fault/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One variable of the environment has 128 KiB. */

#define DEPTH 10
#define DEPTH_MAX 1000000
#define JOBS_MAX 256
#define HANG_AFTER 15
#define HANG_AFTER_MAX 86400

enum { FAULTS = 512, CONTROL, SWEEP, CALLS, DEPTH_OPTION, COMPARE, JSON, HANG };

struct soft_fault_options soft_fault_options = {
	.depth = DEPTH, .jobs = 1, .hang_after = HANG_AFTER
};

/* The last option that means nothing without --sweep. */
static const char *sweep_option;

static const struct argp_option options[] = {
	{ "faults", FAULTS, "SPEC|FILE", 0,
	    "Let calls of libibverbs and librdmacm fail, and incidents happen: "
	    "CALL[:nth=N|:each=N|:p=P][:from=SECONDS]"
	    "[:process=N|NAME][:device=NAME][:errno=NAME], and what faults.md has for incidents, "
	    "separated by "
	    "commas, or a file with such lines. --faults=list prints the calls, their errors, and "
	    "the incidents",
	    2 },
	{ "control", CONTROL, NULL, 0,
	    "Let softverbs-ctl of this user make calls fail and incidents happen in the processes "
	    "of the run, and list what they have",
	    2 },
	{ "sweep", SWEEP, NULL, 0,
	    "Run the program once, and then once for each call that it has made, with that call "
	    "failing; report crashes, hangs, leaks and lost data",
	    2 },
	{ "calls", CALLS, "LIST", 0,
	    "With --sweep: only these calls, as CALL[:process=N][:errno=NAME] separated by commas",
	    2 },
	{ "depth", DEPTH_OPTION, "N", 0,
	    "With --sweep: the first N calls of each function in each process (10)", 2 },
	{ "jobs", 'j', "N", 0, "With --sweep: N runs at a time (1)", 2 },
	{ "hang-after", HANG, "SECONDS", 0,
	    "With --sweep: a run hangs after 10 times the time of one without faults, and not "
	    "before SECONDS (15)",
	    2 },
	{ "compare", COMPARE, "COMMAND", 0,
	    "With --sweep: run COMMAND CLEAN OUTPUT after each run that ends with 0; if it fails, "
	    "the run has lost data",
	    2 },
	{ "json", JSON, "FILE", 0,
	    "With --sweep: write the result of each run to FILE; results that are there are not "
	    "made again",
	    2 },
	{ 0 },
};

static const char *const conventions[] = {
	[SOFT_FAILS_NULL] = "NULL, errno",
	[SOFT_FAILS_MINUS] = "-1, errno",
	[SOFT_FAILS_ERROR] = "the error",
	[SOFT_FAILS_NEGATIVE] = "-error",
	[SOFT_FAILS_REREG] = "ERR_CMD, errno",
};

static const struct {
	unsigned int takes;
	const char *name;
} parts[] = { { SOFT_TAKES_FOR, "for=" }, { SOFT_TAKES_OF, "of=" }, { SOFT_TAKES_TIME, "time=" },
	{ SOFT_TAKES_RATE, "rate=" }, { SOFT_TAKES_BYTES, "bytes=" },
	{ SOFT_TAKES_DEVICE, "device=" }, { SOFT_TAKES_PORT, "port=" }, { SOFT_TAKES_WAY, "way=" },
	{ SOFT_TAKES_PEER, "peer=" }, { SOFT_TAKES_DATA, "data=" } };

/* What a rule of the incident may, or must, say besides. */
static const char *
fault_takes(enum soft_incident incident, char *text, size_t size)
{
	const struct soft_incident_line *line = &soft_incidents[incident];
	const char *key = soft_incident_key(incident);

	int length = snprintf(text, size, "%s%s%s", line->kind == SOFT_OCCURS ? "at= call=" : "",
	    key ? key : "", key ? "=" : "");

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (line->takes & parts[i].takes)
			length +=
			    snprintf(text + length, size - (size_t)length, " %s", parts[i].name);
	return text + (*text == ' ');
}

static void __attribute__((noreturn)) fault_list(void)
{
	char errors[256], takes[64];

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		printf("%s\t%s\t%s\t%s\n", soft_call_name(call),
		    conventions[soft_calls[call].convention],
		    soft_error_list(call, errors, sizeof errors), soft_calls[call].clause);
	for (enum soft_incident incident = 0; incident < SOFT_INCIDENT_COUNT; incident++)
		printf("%s\t%s\t%s\t%s\n", soft_incidents[incident].name,
		    fault_takes(incident, takes, sizeof takes),
		    soft_incident_values(incident, errors, sizeof errors),
		    soft_incidents[incident].clause);
	exit(soft_streams_flush() ? 0 : EXIT_USAGE);
}

static void
fault_set(const char *value, struct argp_state *state)
{
	struct soft_rules *rules = malloc(sizeof *rules);
	char *file = NULL, error[256];
	struct stat there;

	if (!strcmp(value, "list"))
		fault_list();
	/* No rule has a slash; a file with the name of a call is named by one. */
	if (strchr(value, '/') ||
	    (!strchr(value, ':') && soft_call_find(value, strlen(value)) == SOFT_CALL_COUNT &&
		!stat(value, &there)))
		file = soft_option_read_file("--faults", value, state);
	if (!rules)
		soft_parent_fail("--faults");
	if (!file && !value[strspn(value, " ,;\t\r\n")])
		soft_wrong(state,
		    "--faults=: no rule; write one as ibv_reg_mr:nth=1, a file of rules, list, or "
		    "none");
	if (!soft_rules_read(file ? file : value, rules, error, sizeof error))
		soft_wrong(state, "--faults%s%s: %s", file ? "=" : "", file ? value : "", error);
	soft_fault_options.faults = rules->count;
	if (rules->count)
		soft_parent_set("SOFTVERBS_FAULTS", file ? file : value);
	else
		unsetenv("SOFTVERBS_FAULTS");
	free(rules);
	free(file);
}

static unsigned int
fault_number(const char *option, const char *value, unsigned int most, struct argp_state *state)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (!*value || value[strspn(value, "0123456789")] || !number || number > most)
		soft_wrong(state, "%s=%s: not a whole number from 1 to %u", option, value, most);
	return (unsigned int)number;
}

/* What is swept chooses the calls by their numbers itself. */
static void
fault_set_calls(const char *list, struct argp_state *state)
{
	struct soft_rules *calls = &soft_fault_options.calls;
	char error[256];

	if (!soft_rules_read(list, calls, error, sizeof error))
		soft_wrong(state, "--calls: %s", error);
	if (!calls->count)
		soft_wrong(state, "--calls=%s: no calls", list);
	for (unsigned int i = 0; i < calls->count; i++)
		if (calls->rules[i].of_incidents || calls->rules[i].when != SOFT_EACH ||
		    calls->rules[i].n != 1 || calls->rules[i].from || *calls->rules[i].device)
			soft_wrong(
			    state, "--calls=%s: only process= and errno= are possible", list);
	soft_fault_options.calls_text = list;
}

/* The devices that the rules name; --topology may come after --faults. */
static void
fault_check_devices(struct argp_state *state)
{
	const struct soft_topology *topology = soft_topology_chosen();
	struct soft_rules *rules = malloc(sizeof *rules);
	char error[256];

	if (!rules)
		soft_parent_fail("--faults");
	if (topology && soft_rules_read(getenv("SOFTVERBS_FAULTS"), rules, error, sizeof error))
		for (unsigned int i = 0; i < rules->count; i++) {
			const char *name = rules->rules[i].device;
			unsigned int d = 0;

			while (d < topology->count && strcmp(topology->devices[d].name, name) != 0)
				d++;
			if (*name && d == topology->count)
				soft_wrong(state, "--faults: device=%s: the only device%s %s%s",
				    name, d > 1 ? "s are" : " is", topology->devices[0].name,
				    d > 1 ? " and others of --topology" : "");
		}
	free(rules);
}

static void
fault_check_options(struct argp_state *state)
{
	if (soft_fault_options.faults)
		fault_check_devices(state);
	if (sweep_option && !soft_fault_options.sweep)
		soft_wrong(state, "%s needs --sweep", sweep_option);
	if (soft_fault_options.sweep && soft_fault_options.faults)
		soft_wrong(state, "--sweep chooses the faults itself; --faults is not possible");
	if (soft_fault_options.sweep && soft_fault_options.control)
		soft_wrong(state, "--sweep chooses the faults itself; --control is not possible");
}

static error_t
fault_parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case FAULTS:
		fault_set(arg, state);
		return 0;
	case CONTROL:
		soft_fault_options.control = true;
		soft_parent_set("SOFTVERBS_CONTROL", "1");
		return 0;
	case SWEEP:
		soft_fault_options.sweep = true;
		return 0;
	case CALLS:
		sweep_option = "--calls";
		fault_set_calls(arg, state);
		return 0;
	case DEPTH_OPTION:
		sweep_option = "--depth";
		soft_fault_options.depth = fault_number(sweep_option, arg, DEPTH_MAX, state);
		return 0;
	case 'j':
		sweep_option = "--jobs";
		soft_fault_options.jobs = fault_number(sweep_option, arg, JOBS_MAX, state);
		return 0;
	case HANG:
		sweep_option = "--hang-after";
		soft_fault_options.hang_after =
		    fault_number(sweep_option, arg, HANG_AFTER_MAX, state);
		return 0;
	case COMPARE:
		sweep_option = "--compare";
		if (!arg[strspn(arg, " \t\n")])
			soft_wrong(state, "--compare=: no command");
		soft_fault_options.compare = arg;
		return 0;
	case JSON:
		sweep_option = "--json";
		if (!*arg)
			soft_wrong(state, "--json=: no name of a file");
		soft_fault_options.json = arg;
		return 0;
	case ARGP_KEY_END:
		fault_check_options(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp soft_fault_argp = { .options = options, .parser = fault_parse };
