/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/report.h"

#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define PERCENTILES 4

static const double percentiles[PERCENTILES] = { 50, 90, 99, 99.9 };
static const char *const percentile_names[PERCENTILES] = { "p50", "p90", "p99", "p99.9" };

bool
report_sums_match(const struct report *report)
{
	for (unsigned int i = 1; i < report->sum_count; i++)
		if (!digest_equal(&report->sums[0].digest, &report->sums[i].digest))
			return false;
	return true;
}

const char *
report_duration(uint64_t nanoseconds, char *text, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)nanoseconds;
	unsigned int unit = 0;

	while (value >= 999.5 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, size, "%.*f %s",
	    unit == 0 || value >= 99.95 ? 0 :
	    value >= 9.995		? 1 :
					  2,
	    value, units[unit]);
	return text;
}

static double
per_second(double amount, uint64_t nanoseconds)
{
	return nanoseconds ? amount * 1e9 / (double)nanoseconds : 0;
}

static double
ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void
print_jobs(const struct report *report, FILE *out)
{
	char text[32];

	fprintf(out, "\n%-9s %14s %10s %12s", "", "time", "MB/s", "commands/s");
	for (int i = 0; i < PERCENTILES; i++)
		fprintf(out, " %8s", percentile_names[i]);
	fprintf(out, " %8s\n", "max");
	for (unsigned int j = 0; j < report->job_count; j++) {
		const struct report_job *job = &report->jobs[j];

		fprintf(out, "%-9s %14s %10.1f %12.0f", job->name,
		    report_duration(job->nanoseconds, text, sizeof text),
		    per_second((double)report->bytes / 1e6, job->nanoseconds),
		    per_second((double)job->latency->count, job->nanoseconds));
		for (int i = 0; i < PERCENTILES; i++)
			fprintf(out, " %8s",
			    report_duration(histogram_percentile(job->latency, percentiles[i]),
				text, sizeof text));
		fprintf(out, " %8s\n", report_duration(job->latency->max, text, sizeof text));
	}
}

void
report_print_sides(const struct report_side *sides, unsigned int count, FILE *out)
{
	fprintf(out, "\n%-9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "", "events", "upcalls",
	    "ev/upcall", "notified", "spurious", "arms", "races", "refusals");
	for (unsigned int i = 0; i < count; i++) {
		const struct tally *tally = sides[i].tally;

		fprintf(out,
		    "%-9s %9" PRIu64 " %9" PRIu64 " %9.1f %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		    " %9" PRIu64 " %9" PRIu64 "\n",
		    sides[i].name, tally->events, tally->upcalls,
		    ratio(tally->events, tally->upcalls), (uint64_t)tally->evd.notifications,
		    (uint64_t)tally->evd.spurious_notifications, (uint64_t)tally->evd.arms,
		    (uint64_t)tally->evd.races_closed, tally->refusals);
	}
	fprintf(out,
	    "races: completions that came between the last poll and the arm; "
	    "the poll after the arm found them.\n"
	    "refusals: an upcall tried to enable upcalls while events were queued, and "
	    "dequeued them instead.\n"
	    "Without that poll and that refusal, each of these would have been a lost wake-up.\n");
}

void
report_print_sums(const struct report *report, FILE *out)
{
	char text[DIGEST_TEXT];

	for (unsigned int i = 0; i < report->sum_count; i++)
		fprintf(out, "SHA-256   %s  %s%s\n", digest_text(&report->sums[i].digest, text),
		    report->sums[i].name,
		    i == 0							   ? "" :
		    digest_equal(&report->sums[0].digest, &report->sums[i].digest) ? "  matches" :
										     "  DIFFERS");
}

void
report_print_table(const struct report *report, FILE *out)
{
	fprintf(out, "copied    %s, %" PRIu64 " bytes%s\n", report->source, report->bytes,
	    report->job_count > 1 ? ", there and back" : "");
	fprintf(out, "over      %u connections, queue depth %u, blocks of %u bytes, adapter %s\n",
	    report->connections, report->queue_depth, report->block_bytes, report->ia);
	report_print_sums(report, out);
	if (report->job_count)
		print_jobs(report, out);
	if (report->side_count)
		report_print_sides(report->sides, report->side_count, out);
}

/*
 * The bytes of the character of UTF-8 at `s`; 0 if there is none.  The locale of this thread has
 * UTF-8.
 */
static size_t
utf8_length(const char *s)
{
	mbstate_t state = { 0 };
	const size_t n = mbrlen(s, strlen(s), &state);

	return n > MB_LEN_MAX ? 0 : n; /* the errors are large numbers */
}

/*
 * Any byte string as a JSON string, which has UTF-8: U+FFFD stands for each byte of a name that has
 * not.
 */
static void
print_json_string(FILE *out, const char *s)
{
	const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	const locale_t before = uselocale(utf8); /* without such a locale only ASCII is known */
	size_t n;

	fputc('"', out);
	for (; *s; s += n ? n : 1) {
		n = utf8_length(s);
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(out, "\\u%04x", (unsigned int)*s);
		else if (n)
			fwrite(s, 1, n, out);
		else
			fputs("\\ufffd", out);
	}
	fputc('"', out);
	uselocale(before);
	if (utf8)
		freelocale(utf8);
}

void
report_print_tally(const struct tally *tally, FILE *out)
{
	fprintf(out,
	    "{\"events\":%" PRIu64 ",\"upcalls\":%" PRIu64 ",\"notifications\":%" PRIu64
	    ",\"spurious\":%" PRIu64 ",\"arms\":%" PRIu64 ",\"races_closed\":%" PRIu64
	    ",\"refusals\":%" PRIu64 "}",
	    tally->events, tally->upcalls, (uint64_t)tally->evd.notifications,
	    (uint64_t)tally->evd.spurious_notifications, (uint64_t)tally->evd.arms,
	    (uint64_t)tally->evd.races_closed, tally->refusals);
}

void
report_print_json(const struct report *report, FILE *out)
{
	char text[DIGEST_TEXT];

	fprintf(out, "{\"source\":");
	print_json_string(out, report->source);
	fprintf(out,
	    ",\"bytes\":%" PRIu64 ",\"connections\":%u,\"queue_depth\":%u,\"block_bytes\":%u",
	    report->bytes, report->connections, report->queue_depth, report->block_bytes);
	fprintf(out, ",\"ia\":");
	print_json_string(out, report->ia);
	fprintf(out, ",\"match\":%s,\"sha256\":{", report_sums_match(report) ? "true" : "false");
	for (unsigned int i = 0; i < report->sum_count; i++) {
		fprintf(out, "%s", i ? "," : "");
		print_json_string(out, report->sums[i].name);
		fprintf(out, ":\"%s\"", digest_text(&report->sums[i].digest, text));
	}
	fprintf(out, "}");
	for (unsigned int i = 0; i < report->job_count; i++) {
		const struct report_job *job = &report->jobs[i];

		fprintf(out,
		    ",\"%s\":{\"ns\":%" PRIu64 ",\"mb_per_s\":%.1f,\"commands\":%" PRIu64
		    ",\"latency_ns\":{",
		    job->name, job->nanoseconds,
		    per_second((double)report->bytes / 1e6, job->nanoseconds), job->latency->count);
		for (int p = 0; p < PERCENTILES; p++)
			fprintf(out, "\"%s\":%" PRIu64 ",", percentile_names[p],
			    histogram_percentile(job->latency, percentiles[p]));
		fprintf(out, "\"max\":%" PRIu64 "}}", job->latency->max);
	}
	for (unsigned int i = 0; i < report->side_count; i++) {
		fprintf(out, ",\"%s\":", report->sides[i].name);
		report_print_tally(report->sides[i].tally, out);
	}
	fprintf(out, "}\n");
}
