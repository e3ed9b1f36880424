/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/options.h"

#include <dat2/dat_version.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "%s (rearm) %s\n", program_invocation_short_name, REARM_VERSION);
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

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
		argp_error(state, "--%s takes a number from %llu to %llu, not \"%s\"", option,
		    (unsigned long long)least, (unsigned long long)most, text);
	return value;
}
