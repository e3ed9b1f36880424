/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include "bell.h"
#include "initiator.h"
#include "pdu.h"

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
progress_draw(const struct job *job, uint64_t bytes)
{
	uint64_t done = atomic_load(&job->done);
	double seconds = (double)(bell_now() - job->start) / (double)BELL_SECOND;
	double moved = job->blocks ? (double)bytes * (double)done / (double)job->blocks : 0;
	char text[128];

	progress_text(text, sizeof text, pdu_opcode_name(job->opcode), done, job->blocks);
	fprintf(stderr, "\r%s  %.1f MB/s\033[K%s", text, seconds > 0 ? moved / 1e6 / seconds : 0,
	    done == job->blocks ? "\r\033[K" : "");
	fflush(stderr);
}

static void
progress_draw_sum(uint64_t done, uint64_t total)
{
	char text[128];

	progress_text(text, sizeof text, "sum", done, total);
	fprintf(stderr, "\r%s\033[K%s", text, done == total ? "\r\033[K" : "");
	fflush(stderr);
}

digest_progress_fn
progress_of_sum(bool quiet)
{
	return progress_wanted() && !quiet ? progress_draw_sum : NULL;
}
