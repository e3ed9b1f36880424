/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */
#include "dapl/stats/publish.h"

#include <stdlib.h>
#include <string.h>

#include "dapl/evd/sample.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/debug.h"
#include "evd/stats/publisher.h"

/* What the environment asks for, or the word if the environment has no opinion. */
static unsigned int
publish_interval(unsigned int word_ms)
{
	const char *text = secure_getenv(DAPL_STATS_VARIABLE);
	int ms;

	if (!text || !*text)
		return word_ms;
	ms = evd_stats_interval(text, DAPL_IA_STATS_MS_MIN, DAPL_IA_STATS_MS_MAX);
	if (ms >= 0)
		return (unsigned int)ms;
	dapl_debug_error(DAPL_STATS_VARIABLE
	    "=%s: expected 0 or a number of milliseconds from %d to %d",
	    text, DAPL_IA_STATS_MS_MIN, DAPL_IA_STATS_MS_MAX);
	return word_ms;
}

bool
dapl_stats_start(unsigned int word_ms)
{
	const unsigned int interval = publish_interval(word_ms);
	int r;

	if (!interval)
		return false;
	r = evd_stats_start(interval, dapl_evd_sample);
	if (r)
		dapl_debug_error(
		    "no statistics are published: " EVD_STATS_FOLDER ": %s", strerror(-r));
	return !r;
}

void
dapl_stats_stop(void)
{
	evd_stats_stop();
}
