/* SPDX-License-Identifier: BSD-3-Clause */
#include "setting.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `value` is what may be written, `initial` what counts without it, `unit` the unit of both. */
struct setting {
	const char *name;
	const char *value;
	const char *initial;
	const char *unit;
	const char *about;
};

struct group {
	const char *kind;
	const char *reader;
	const char *title;
	const struct setting *settings;
};

#define PERSONALITIES "strict, late, spurious, coalescing, delayed"

static const struct setting of_registry[] = {
	{ "DAT_OVERRIDE", "FILE", NULL, NULL,
	    "The file that is read in place of dat.conf in the directory for configuration, in "
	    "/etc and "
	    "in /etc/rdma; rearm-soft is then not built in" },
	{ "DAT_DBG_TYPE",
	    "words or a number: none, errors (1), general (2), conf (4), registry (8), "
	    "connections (0x10), calls (0x20), hints (0x40), all",
	    "errors", NULL, "Which lines the registry and the provider of Rearm print" },
	{ "DAT_DBG_DEST", "words or a number: stderr (0), stdout (1), syslog (2)", "stderr", NULL,
	    "Where they print; without it a function of dat_rearm_set_log() gets the lines" },
	{ .name = NULL },
};

static const struct setting of_provider[] = {
	{ "DAPL_DBG_TYPE",
	    "words or a number: none, errors (1), connections (0x18), calls (0x100), results "
	    "(0x200), all",
	    "errors", NULL, "Which lines the provider prints, beside those of DAT_DBG_TYPE" },
	{ "DAPL_DBG_DEST", "words or a number: stderr (0), stdout (1), syslog (2)", "stderr", NULL,
	    "Where the provider prints" },
	{ "DAPL_STATS", "0, or 10 to 60000", NULL, "milliseconds",
	    "In place of stats= in the parameters of every adapter; 0 switches that off" },
	{ .name = NULL },
};

static const struct setting of_device[] = {
	{ "SOFTVERBS_PERSONALITY", PERSONALITIES, "strict", NULL,
	    "What the software device does where the specification leaves a choice" },
	{ "SOFTVERBS_TIME_FACTOR", "0.01 to 100", "1", NULL,
	    "Multiplies the times that the device waits for other processes" },
	{ "SOFTVERBS_LISTENER_WAIT", "0 to 60000", "200", "milliseconds",
	    "For how long a connection request waits for a listener that does not exist yet" },
	{ "SOFTVERBS_LISTENERS_RETURN", "0 or 1", "0", NULL,
	    "A request for a listener that was closed waits as well; softverbs-run sets 1" },
	{ "SOFTVERBS_RNR_TIMER", "0 or 1", "0", NULL,
	    "A message that found no receive waits for the timer of its NAK; softverbs-run sets "
	    "1" },
	{ "SOFTVERBS_MEMLOCK", "0 or 1", "0", NULL,
	    "Registered memory counts against the limit of locked memory (ulimit -l)" },
	{ "SOFTVERBS_SOCKETS", "0 or 1", "0", NULL,
	    "Requests to and from other processes go over sockets, not through shared memory" },
	{ "SOFTVERBS_NO_PULL", "0 or 1", "0", NULL,
	    "No data is read from the memory of other processes, nor by them from this one's" },
	{ "SOFTVERBS_TOPOLOGY", "TEXT", NULL, NULL,
	    "The devices and their ports; softverbs-run --topology sets it" },
	{ "SOFTVERBS_FILES", "DIRECTORY", NULL, NULL,
	    "Set by softverbs-run --topology: where the files of the devices are" },
	{ "SOFTVERBS_FAULTS", "RULES", NULL, NULL,
	    "Which calls of verbs and of the connection manager fail; softverbs-run --faults sets "
	    "it" },
	{ "SOFTVERBS_FAULTS_SEED", "NUMBER", "1", NULL, "The seed of p= in these rules" },
	{ "SOFTVERBS_FAULTS_RECORD", "FILE", NULL, NULL,
	    "Set by softverbs-run --faults and --sweep: where calls are counted" },
	{ "SOFTVERBS_FAULTS_PROCESSES", "PATH", NULL, NULL,
	    "Set by softverbs-run --sweep: the socket where processes announce themselves" },
	{ "SOFTVERBS_CONTROL", "0 or 1", "0", NULL,
	    "softverbs-ctl may list and change what the process has; softverbs-run --control sets "
	    "1" },
	{ "SOFTVERBS_DEBUG", "0 or 1", "0", NULL,
	    "Connections that are refused or closed are reported, with the reason" },
	{ "XDG_RUNTIME_DIR", "DIRECTORY", NULL, NULL,
	    "The processes of a user meet in its folder softverbs" },
	{ "TMPDIR", "DIRECTORY", "/tmp", NULL,
	    "Without XDG_RUNTIME_DIR they meet in its folder softverbs-UID; softverbs-run "
	    "--check counts reports in a file there" },
	{ .name = NULL },
};

static const struct setting of_run[] = {
	{ "LD_LIBRARY_PATH", "DIRECTORIES", NULL, NULL,
	    "softverbs-run puts a folder in front of it, in which softverbs has the names of "
	    "libibverbs and librdmacm" },
	{ "PATH", "DIRECTORIES", NULL, NULL, "Where softverbs-run looks for the program" },
	{ "HOME", "DIRECTORY", NULL, NULL,
	    "Where softverbs-run puts that folder if no library can be loaded from "
	    "XDG_RUNTIME_DIR, TMPDIR, /tmp and /var/tmp" },
	{ "SYSFS_PATH", "DIRECTORY", "/sys", NULL, "What ibv_get_sysfs_path() returns" },
	{ "SOFTVERBS_CHECK", "text or json", NULL, NULL,
	    "softverbs-run --check: how reports are printed" },
	{ "SOFTVERBS_CHECK_SEED", "NUMBER", "1", NULL, "Option --seed" },
	{ "SOFTVERBS_CHECK_SCHEDULE", "LIST", NULL, NULL, "Option --schedule" },
	{ "SOFTVERBS_CHECK_STRANDED", "NUMBER", "2", "seconds", "Option --stranded-after" },
	{ "SOFTVERBS_CHECK_TIMEOUT", "NUMBER", "60", "seconds", "Option --timeout" },
	{ "SOFTVERBS_CHECK_ARM", "0 or 1", "0", NULL, "Option --fail-arms" },
	{ "SOFTVERBS_CHECK_REPORT", "FILE", NULL, NULL, "Option --report" },
	{ "SOFTVERBS_CHECK_TALLY", "FILE", NULL, NULL,
	    "Set by softverbs-run --check: where reports are counted" },
	{ "SOFTVERBS_CHECK_REPLAY", "COMMAND", NULL, NULL,
	    "Set by softverbs-run --check: the command that a report repeats" },
	{ "SOFTVERBS_CHECK_PROGRAM", "PROGRAM", NULL, NULL,
	    "Set by softverbs-run --check: the program of that command" },
	{ .name = NULL },
};

static const struct setting of_record[] = {
	{ "name", "TEXT", NULL, NULL, "Field 1: what dat_ia_open() asks for, up to 255 bytes" },
	{ "version", "u2.0", NULL, NULL,
	    "Field 2: the version of the API that programs ask for; lines with k are for kernels" },
	{ "safety", "threadsafe or nonthreadsafe", NULL, NULL,
	    "Field 3: a program that asks for a thread-safe provider gets no other" },
	{ "default", "default or nondefault", NULL, NULL,
	    "Field 4: nondefault switches the line off" },
	{ "library", "PATH or NAME", NULL, NULL,
	    "Field 5: the provider; a name is looked for beside libdat2.so.2 and by the dynamic "
	    "loader" },
	{ "provider-version", "ID.MAJOR.MINOR", NULL, NULL, "Field 6: not compared with anything" },
	{ "parameters", "TEXT", NULL, NULL, "Field 7: text for the provider" },
	{ "platform", "TEXT", NULL, NULL, "Field 8: not used" },
	{ .name = NULL },
};

static const struct setting of_parameters[] = {
	{ "where", "INTERFACE, ADDRESS or HOST", NULL, NULL,
	    "The network device of the RDMA adapter, or an address or a host name of it" },
	{ "number", "NUMBER", "0", NULL, "The port, for other providers: ignored" },
	{ "loops=", "1 to 32", "1", "threads",
	    "How many threads read notifications and make upcalls; an EVD belongs to one" },
	{ "moderation=", "1 to 65535,1 to 65535", NULL, "completions,microseconds",
	    "The device notifies once for so many completions, or so long after the first" },
	{ "slow=", "1 to 1000000000", NULL, "microseconds",
	    "Reports the first upcall of each EVD that takes longer" },
	{ "spin=", "0 to 1000000", "50", "microseconds",
	    "For how long dat_evd_wait() polls before it sleeps, if that has paid lately" },
	{ "stats=", "10 to 60000", NULL, "milliseconds",
	    "Publishes the counters of all EVDs so often, for dat_top" },
	{ "step", NULL, NULL, NULL, "The adapter has no threads: the program calls dat_ia_step()" },
	{ "personality=", PERSONALITIES, "strict", NULL,
	    "Only of libdaplsoft.so.2: in place of SOFTVERBS_PERSONALITY" },
	{ .name = NULL },
};

static const struct group groups[] = {
	{ "variable", "registry", "Environment variables of the registry", of_registry },
	{ "variable", "provider", "Environment variables of the provider", of_provider },
	{ "variable", "software device", "Environment variables of the software device",
	    of_device },
	{ "variable", "softverbs-run", "Environment variables of softverbs-run", of_run },
	{ "field", "registry", "Fields of a line of dat.conf", of_record },
	{ "word", "provider", "Words of the parameters (field 7) in dat.conf", of_parameters },
};

enum { GROUPS = sizeof groups / sizeof groups[0] };

json_t *
setting_report(void)
{
	json_t *report = json_array(), *one;
	const struct setting *s;
	size_t i;

	for (i = 0; i < GROUPS; i++)
		for (s = groups[i].settings; s->name != NULL; s++) {
			one = json_object();
			json_object_set_new(one, "kind", json_string(groups[i].kind));
			json_object_set_new(one, "reader", json_string(groups[i].reader));
			json_object_set_new(one, "title", json_string(groups[i].title));
			json_object_set_new(one, "name", json_string(s->name));
			json_object_set_new(one, "value", text_json(s->value));
			json_object_set_new(one, "default", text_json(s->initial));
			json_object_set_new(one, "unit", text_json(s->unit));
			json_object_set_new(one, "about", json_string(s->about));
			if (strcmp(groups[i].kind, "variable") == 0)
				json_object_set_new(one, "now", text_json(getenv(s->name)));
			json_array_append_new(report, one);
		}
	return report;
}

static const char *
setting_text(const json_t *setting, const char *key)
{
	const char *text = json_string_value(json_object_get(setting, key));

	return text != NULL ? text : "";
}

/* "VALUE UNIT, by default DEFAULT". */
static void
setting_print_value(const json_t *setting)
{
	const char *value = setting_text(setting, "value"), *unit = setting_text(setting, "unit"),
		   *initial = setting_text(setting, "default");
	char text[512];

	snprintf(text, sizeof text, "%s%s%s%s%s", value, *unit != '\0' ? " " : "", unit,
	    *initial != '\0' ? ", by default " : "", initial);
	text_print(2, 28, setting_text(setting, "name"), text);
}

void
setting_print(const json_t *report)
{
	const char *title = "";
	json_t *setting;
	size_t i;

	json_array_foreach(report, i, setting)
	{
		if (strcmp(title, setting_text(setting, "title")) != 0) {
			title = setting_text(setting, "title");
			printf("%s%s:\n", i != 0 ? "\n" : "", title);
		}
		setting_print_value(setting);
		text_print(6, 24, "", setting_text(setting, "about"));
		if (json_is_string(json_object_get(setting, "now"))) {
			char text[4096];

			snprintf(text, sizeof text, "now: %s", setting_text(setting, "now"));
			text_print(6, 24, "", text);
		}
	}
}
