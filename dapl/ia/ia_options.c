/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* sched_getaffinity() */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl/ia/cq_arm.h"
#include "dapl/trace/debug.h"
#include "dapl/ia/ia.h"

#define LOOPS_OPTION "loops="
#define SPIN_OPTION "spin="
#define SPIN_US_MAX 1000000
#define SLOW_OPTION "slow="
#define SLOW_US_MAX 1000000000
#define STATS_OPTION "stats="
#define MODERATION_OPTION "moderation="
/*
 * Without the word: what it takes to wake the thread of the other end, which may sleep, and to get
 * its answer, with room to spare.  A shorter spin would not see that answer, and then both ends
 * always sleep.
 */
#define SPIN_US 50

static int
ia_options_parse_number(const char *name, const char *text, unsigned long least, unsigned long most,
    unsigned int *value)
{
	const size_t digits = strspn(text, "0123456789");
	const unsigned long n = strtoul(text, NULL, 10);

	if (digits == 0 || text[digits] || n < least || n > most) {
		dapl_debug_error(
		    "%s%s: expected a number from %lu to %lu", name, text, least, most);
		return -EINVAL;
	}
	*value = (unsigned int)n;
	return 0;
}

/*
 * COUNT,MICROSECONDS.  Neither may be 0: devices differ in what they make of that, and one that
 * counts completions without a limit of time would not notify of the last ones.
 */
static int
ia_options_parse_moderation(char *text, struct dapl_ia_options *options)
{
	char *comma = strchr(text, ',');
	int r;

	if (!comma) {
		dapl_debug_error(MODERATION_OPTION "%s: expected COUNT,MICROSECONDS", text);
		return -EINVAL;
	}
	*comma = '\0';
	r = ia_options_parse_number(MODERATION_OPTION "COUNT,MICROSECONDS: COUNT ", text, 1,
	    UINT16_MAX, &options->moderation_count);
	return r ? r :
		   ia_options_parse_number(MODERATION_OPTION "COUNT,MICROSECONDS: MICROSECONDS ",
		       comma + 1, 1, UINT16_MAX, &options->moderation_us);
}

/*
 * Whether the threads of this process may run on two processors or more.  On one, a thread that
 * spins keeps away the thread that it waits for.  Threads may be pinned, so the first thread counts
 * as well as the calling one.  An error means that there are more processors than the set has room
 * for.
 */
static bool
ia_options_has_processors(void)
{
	cpu_set_t own, first;

	return sched_getaffinity(0, sizeof own, &own) || CPU_COUNT(&own) > 1 ||
	       sched_getaffinity(getpid(), sizeof first, &first) || CPU_COUNT(&first) > 1;
}

/*
 * "WHERE [PORT] [WORD]...": where is an interface, an address or a host name; the port, which other
 * providers use, is ignored.  The words are loops=N, moderation=N,N, slow=N, spin=N, stats=N, step,
 * and those of the device under this library.
 */
int
dapl_ia_options_parse(const char *params, struct dapl_ia_options *options)
{
	char text[DAPL_PROVIDER_PARAMS_MAX], *rest = NULL, *word;
	int n = 0, r = 0;

	*options = (struct dapl_ia_options){ .loops = 1, .spin_us = SPIN_US };
	strncpy(text, params, sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (word = strtok_r(text, " \t", &rest); word && !r; word = strtok_r(NULL, " \t", &rest)) {
		if (n++ == 0) {
			if (strlen(word) >= sizeof options->where)
				return -EINVAL;
			strcpy(options->where, word);
		} else if (strncmp(word, LOOPS_OPTION, strlen(LOOPS_OPTION)) == 0) {
			r = ia_options_parse_number(LOOPS_OPTION, word + strlen(LOOPS_OPTION), 1,
			    DAPL_IA_LOOPS_MAX, &options->loops);
		} else if (strncmp(word, SPIN_OPTION, strlen(SPIN_OPTION)) == 0) {
			r = ia_options_parse_number(SPIN_OPTION, word + strlen(SPIN_OPTION), 0,
			    SPIN_US_MAX, &options->spin_us);
		} else if (strncmp(word, SLOW_OPTION, strlen(SLOW_OPTION)) == 0) {
			r = ia_options_parse_number(SLOW_OPTION, word + strlen(SLOW_OPTION), 1,
			    SLOW_US_MAX, &options->slow_us);
		} else if (strncmp(word, STATS_OPTION, strlen(STATS_OPTION)) == 0) {
			r = ia_options_parse_number(STATS_OPTION, word + strlen(STATS_OPTION),
			    DAPL_IA_STATS_MS_MIN, DAPL_IA_STATS_MS_MAX, &options->stats_ms);
		} else if (strncmp(word, MODERATION_OPTION, strlen(MODERATION_OPTION)) == 0) {
			r = ia_options_parse_moderation(word + strlen(MODERATION_OPTION), options);
		} else if (strcmp(word, "step") == 0) {
			options->stepped = true;
		} else if (n == 2 && strspn(word, "0123456789") == strlen(word)) {
			continue;
		} else {
			r = dapl_cq_arm_option(word);
			if (r != -ENOENT)
				continue;
			dapl_debug_error(
			    "unknown option in the parameters of the adapter: %s", word);
			r = -EINVAL;
		}
	}
	if (n == 0) {
		dapl_debug_error("the parameters of the adapter do not start with an interface, "
				 "address or host name");
		return -EINVAL;
	}
	if (options->stepped || !ia_options_has_processors())
		options->spin_us = 0;
	return r;
}
