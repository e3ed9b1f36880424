/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dapl/ia/cq_arm.h"
#include "dapl/trace/debug.h"
#include "dapl/ia/ia.h"

#define LOOPS_OPTION "loops="

static int
ia_options_parse_loops(const char *text, struct dapl_ia_options *options)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n < 1 || n > DAPL_IA_LOOPS_MAX) {
		dapl_debug_error(
		    "loops=%s: expected a number from 1 to %d", text, DAPL_IA_LOOPS_MAX);
		return -EINVAL;
	}
	options->loops = (unsigned int)n;
	return 0;
}

/*
 * "WHERE [PORT] [WORD]...": where is an interface, an address or a host name; the port, which other
 * providers use, is ignored.  The words are loops=N, step, and those of the device under this
 * library.
 */
int
dapl_ia_options_parse(const char *params, struct dapl_ia_options *options)
{
	char text[DAPL_PROVIDER_PARAMS_MAX], *rest = NULL, *word;
	int n = 0, r = 0;

	*options = (struct dapl_ia_options){ .loops = 1 };
	strncpy(text, params, sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (word = strtok_r(text, " \t", &rest); word && !r; word = strtok_r(NULL, " \t", &rest)) {
		if (n++ == 0) {
			if (strlen(word) >= sizeof options->where)
				return -EINVAL;
			strcpy(options->where, word);
		} else if (strncmp(word, LOOPS_OPTION, strlen(LOOPS_OPTION)) == 0) {
			r = ia_options_parse_loops(word + strlen(LOOPS_OPTION), options);
		} else if (strcmp(word, "step") == 0) {
			options->stepped = true;
		} else if (n == 2 && strspn(word, "0123456789") == strlen(word)) {
			continue;
		} else {
			r = dapl_cq_arm_option(word);
			if (r)
				dapl_debug_error(
				    "unknown option in the parameters of the adapter: %s", word);
		}
	}
	if (n == 0) {
		dapl_debug_error("the parameters of the adapter do not start with an interface, "
				 "address or host name");
		return -EINVAL;
	}
	return r;
}
