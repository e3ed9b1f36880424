/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suites are programs beside this one.  They write a dat.conf of their own; what
 * they need to know is the library and the interface of the adapter that was named.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/* The next field of a record; quotes group. */
static char *
field(char **at)
{
	char *start, end = ' ';

	*at += strspn(*at, " \t");
	if (**at == '"') {
		(*at)++;
		end = '"';
	}
	start = *at;
	while (**at && **at != '\n' && **at != end && !(end == ' ' && **at == '\t'))
		(*at)++;
	if (**at)
		*(*at)++ = '\0';
	return start;
}

/* The library and the parameters of the adapter, into the environment. */
static bool
export_adapter(const char *ia)
{
	const char *override = getenv("DAT_OVERRIDE");
	const char *path = override ? override : "/etc/dat.conf";
	char line[8192], *fields[8];
	bool found = false;
	FILE *f = fopen(path, "re");

	if (!f)
		return cmd_fail("%s: %s", path, strerror(errno));
	while (!found && fgets(line, sizeof line, f)) {
		char *at = line;

		for (int i = 0; i < 8; i++)
			fields[i] = field(&at);
		found = !strcmp(fields[0], ia);
	}
	fclose(f);
	if (!found)
		return cmd_fail("%s: no record of %s", path, ia);
	fields[6][strcspn(fields[6], " \t")] = '\0';
	return !setenv("DAPL_TEST_PROVIDER", fields[4], 1) &&
	       !setenv("DAPL_TEST_WHERE", fields[6], 1);
}

bool
cmd_suites(const struct cmd_options *options, const char *program)
{
	char path[4096], *slash, *argv[CMD_NAMES + 2];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	int argc = 1;

	if (n < 0)
		return cmd_fail("/proc/self/exe: %s", strerror(errno));
	path[n] = '\0';
	slash = strrchr(path, '/') + 1;
	/* libtool keeps the real program in .libs, the one to start stands above. */
	if (slash - path > 6 && !strncmp(slash - 6, ".libs/", 6))
		slash -= 6;
	snprintf(slash, sizeof path - (size_t)(slash - path), "test-%s", program);
	if (strchr(program, '/') || access(path, X_OK))
		return cmd_fail("%s: there are no such suites", program);
	if (!export_adapter(options->ia))
		return false;
	argv[0] = path;
	for (int i = options->type == 'C'; i < options->name_count; i++)
		argv[argc++] = (char *)(uintptr_t)options->names[i];
	argv[argc] = NULL;
	fflush(NULL);
	execv(path, argv);
	return cmd_fail("%s: %s", path, strerror(errno));
}
