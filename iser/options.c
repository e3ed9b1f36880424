/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/options.h"
#include "iser/say.h"

#include <dat2/dat_version.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void
print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "%s (rearm) %s\n", program_invocation_short_name, REARM_VERSION);
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

void
options_wrong(struct argp_state *state, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	say("%s", text);
	argp_state_help(state, stderr, ARGP_HELP_STD_ERR);
	exit(argp_err_exit_status);
}

static bool
options_can_show(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]))
			return false;
	return true;
}

void
options_check_names(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if ((i == 0 || *argv[i] == '-') &&
		    !options_can_show(argv[i], strcspn(argv[i], i ? "=" : ""))) {
			say(i ? "\"%s\" is no option" : "\"%s\" cannot be shown", argv[i]);
			exit(argp_err_exit_status);
		}
}

int
options_parse_size(const char *text, uint64_t least, uint64_t most, uint64_t *ret_size)
{
	static const char suffixes[] = "KMGT";
	unsigned long long number;
	unsigned int shift = 0;
	const char *suffix;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (number > most >> shift || number << shift < least)
		return -ERANGE;
	*ret_size = (uint64_t)number << shift;
	return 0;
}

int
options_parse_port(const char *text, uint16_t *ret_port)
{
	uint64_t port;

	if (text[strspn(text, "0123456789")] || options_parse_size(text, 1, 65535, &port))
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

uint64_t
options_number(
    struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value = 0;

	if (options_parse_size(text, least, most, &value))
		options_wrong(state, "--%s takes a number from %llu to %llu, not \"%s\"", option,
		    (unsigned long long)least, (unsigned long long)most, text);
	return value;
}
