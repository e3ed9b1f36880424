/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/progress.h"

#include "iser/datamover/bell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 40u

bool
progress_wanted(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void
progress_text(char *text, size_t size, const char *what, uint64_t done, uint64_t total)
{
	double part = total ? (double)done / (double)total : 1;
	unsigned int full = (unsigned int)(part * BAR_WIDTH);
	char bar[BAR_WIDTH + 1];

	memset(bar, '-', BAR_WIDTH);
	memset(bar, '#', full < BAR_WIDTH ? full : BAR_WIDTH);
	bar[BAR_WIDTH] = '\0';
	snprintf(text, size, "%-5s [%s] %3.0f%%", what, bar, 100 * part);
}

void
progress_draw(const char *what, uint64_t done, uint64_t total, uint64_t begin)
{
	double seconds = (double)(bell_now() - begin) / (double)BELL_SECOND;
	char text[128];

	progress_text(text, sizeof text, what, done, total);
	fprintf(stderr, "\r%s  %.1f MB/s\033[K%s", text,
	    seconds > 0 ? (double)done / 1e6 / seconds : 0, done >= total ? "\r\033[K" : "");
	fflush(stderr);
}

static uint64_t sum_begin; /* 0: no sum is made */

static void
progress_draw_sum(uint64_t done, uint64_t total)
{
	if (sum_begin == 0)
		sum_begin = bell_now();
	progress_draw("sum", done, total, sum_begin);
	if (done >= total)
		sum_begin = 0;
}

digest_progress_fn
progress_of_sum(bool quiet)
{
	return progress_wanted() && !quiet ? progress_draw_sum : NULL;
}
