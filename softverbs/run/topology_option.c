/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology_option.h"
#include "option_file.h"
#include "parent.h"
#include "say.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VARIABLE "SOFTVERBS_TOPOLOGY"

enum { TOPOLOGY = 768 };

static struct soft_topology chosen;

static const struct argp_option options[] = {
	{ "topology", TOPOLOGY, "SPEC|FILE", 0,
	    "The devices and their ports: DEVICESxPORTS, NAME KEY=VALUE..., NAME/PORT "
	    "KEY=VALUE..., separated by semicolons, or a file with such lines; default is one "
	    "device with one port",
	    3 },
	{ 0 },
};

/*
 * A text that begins with a slash or a point names a file; so does one of a single word that is the
 * name of a file, but not "2x2" nor "default".
 */
static bool
option_is_file(const char *value)
{
	struct stat there;

	if (*value == '/' || *value == '.')
		return true;
	return !value[strcspn(value, " \t\n;=")] && !isdigit((unsigned char)*value) &&
	       strcmp(value, "default") != 0 && !stat(value, &there) && S_ISREG(there.st_mode);
}

static void
option_set(const char *value, struct argp_state *state)
{
	char *file =
	    option_is_file(value) ? soft_option_read_file("--topology", value, state) : NULL;
	char error[256];

	if (!soft_topology_read(file ? file : value, &chosen, error, sizeof error)) {
		soft_say(
		    "softverbs-run: --topology%s%s: %s", file ? "=" : "", file ? value : "", error);
		exit(EXIT_USAGE);
	}
	soft_parent_set(VARIABLE, file ? file : value);
	free(file);
}

const struct soft_topology *
soft_topology_chosen(void)
{
	const char *text = getenv(VARIABLE);
	char error[256];

	if (chosen.count)
		return &chosen;
	return soft_topology_read(text && *text ? text : "default", &chosen, error, sizeof error) ?
		   &chosen :
		   NULL;
}

static error_t
option_parse(int key, char *arg, struct argp_state *state)
{
	if (key != TOPOLOGY)
		return ARGP_ERR_UNKNOWN;
	option_set(arg, state);
	return 0;
}

const struct argp soft_topology_argp = { .options = options, .parser = option_parse };
