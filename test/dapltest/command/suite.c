/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suites are programs beside this one.  They write their own dat.conf; they
 * need the library and the interface of the adapter.
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

/* The dat.conf that the registry reads: the one named, or the first of two that can be read. */
static FILE *
open_conf(const char **path)
{
	FILE *f;

	*path = getenv("DAT_OVERRIDE");
	if (*path)
		return fopen(*path, "re");
	*path = DATCONFDIR "/dat.conf";
	f = fopen(*path, "re");
	if (f)
		return f;
	*path = "/etc/dat.conf";
	return fopen(*path, "re");
}

/* The library and the parameters of the adapter, into the environment. */
static bool
export_adapter(const char *ia)
{
	char line[8192], *fields[8], *second;
	const char *path;
	bool found = false;
	FILE *f = open_conf(&path);

	if (!f)
		return cmd_fail("%s: %s", path, strerror(errno));
	while (!found && fgets(line, sizeof line, f)) {
		char *at = line;

		for (int i = 0; i < 8; i++)
			fields[i] = field(&at);
		found =
		    !strcmp(fields[0], ia) && *fields[1] == 'u' && !strcmp(fields[3], "default");
	}
	fclose(f);
	if (!found)
		return cmd_fail("%s: no record of %s", path, ia);
	/* An interface and a port; what follows is for the provider, and the suites say it. */
	second = fields[6] + strcspn(fields[6], " \t");
	second += strspn(second, " \t");
	second[strcspn(second, " \t")] = '\0';
	return !setenv("DAPL_TEST_PROVIDER", fields[4], 1) &&
	       !setenv("DAPL_TEST_WHERE", fields[6], 1);
}

/* A suite would say of every test of its own that there is no such adapter. */
static bool
adapter_opens(const char *name)
{
	DAT_IA_HANDLE ia;

	return cmd_ia_open(name, &ia) && cmd_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
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
		return cmd_fail("%s: there are no such suites, or they were not built "
				"(make check TESTS= builds them)",
		    program);
	if (!export_adapter(options->ia) || !adapter_opens(options->ia))
		return false;
	argv[0] = path;
	for (int i = options->type == 'C'; i < options->name_count; i++)
		argv[argc++] = (char *)(uintptr_t)options->names[i];
	argv[argc] = NULL;
	fflush(NULL);
	execv(path, argv);
	return cmd_fail("%s: %s", path, strerror(errno));
}
