/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iser-copy -- target and initiator in one process: the whole lesson in one command
 */
#include "bell.h"
#include "initiator.h"
#include "options.h"
#include "progress.h"
#include "provider.h"
#include "report.h"
#include "say.h"
#include "source.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_TIMEOUT (10 * BELL_SECOND)

/* Everything of one run; static because the histograms in it are large. */
struct copy {
	struct target target;
	struct initiator initiator;
	struct backing device;
	struct backing readback;
	struct report report;
};

static struct bell bell;
static struct copy copy;

static int
open_files(const struct options *options, uint64_t bytes)
{
	int r;

	r = options->device ? backing_open_device(&copy.device, options->device) :
			      backing_open_temporary(&copy.device);
	if (r) {
		say("the target's file %s: %s", options->device ? options->device : "",
		    strerror(-r));
		return -1;
	}
	r = backing_open_temporary(&copy.readback);
	if (r == 0)
		r = backing_reserve(&copy.readback, bytes);
	if (r) {
		say("cannot create the file for the data read back: %s", strerror(-r));
		return -1;
	}
	return 0;
}

static int
transfer(const struct options *options, const struct source *source)
{
	initiator_progress_fn progress =
	    progress_wanted() && !options->quiet ? progress_draw : NULL;

	if (initiator_open(&copy.initiator, options, &bell, copy.target.port, source->file.bytes))
		return -1;
	if (initiator_write(&copy.initiator, &source->file, progress))
		return -1;
	return initiator_read(&copy.initiator, &copy.readback, progress);
}

static int
add_sum(const char *name, struct backing *file, uint64_t bytes, bool quiet)
{
	struct report_sum *sum = &copy.report.sums[copy.report.sum_count];
	int r;

	file->bytes = bytes; /* a device may be larger than what was written to it */
	r = digest_backing(file, progress_of_sum(quiet), &sum->digest);
	if (r) {
		say("%s: cannot be read: %s", name, strerror(-r));
		return -1;
	}
	sum->name = name;
	copy.report.sum_count++;
	return 0;
}

static int
make_report(const struct options *options, const struct source *source)
{
	struct report *report = &copy.report;
	const struct job *jobs[] = { &copy.initiator.write, &copy.initiator.read };
	const char *job_names[] = { "write", "read" };

	report->source = source->name;
	report->bytes = source->file.bytes;
	report->connections = options->connections;
	report->queue_depth = options->queue_depth;
	report->block_bytes = options->block_bytes;
	report->ia = options->ia;
	report->sums[0] = (struct report_sum){ .name = "source", .digest = source->digest };
	report->sum_count = 1;
	if (add_sum("target", &copy.device, source->file.bytes, options->quiet) ||
	    add_sum("read back", &copy.readback, source->file.bytes, options->quiet))
		return -1;
	for (int i = 0; i < 2; i++)
		report->jobs[report->job_count++] = (struct report_job){
			.name = job_names[i],
			.nanoseconds = jobs[i]->end - jobs[i]->start,
			.latency = &jobs[i]->latency,
		};
	report->sides[report->side_count++] =
	    (struct report_side){ "initiator", &copy.initiator.adapter.tally };
	report->sides[report->side_count++] =
	    (struct report_side){ "target", &copy.target.adapter.tally };
	return 0;
}

/* One copy, from opening the adapters to closing them.  0, or -1: it was said why. */
static int
copy_once(const struct options *options, const struct source *source)
{
	int r, failures;

	memset(&copy, 0, sizeof copy);
	copy.device.fd = copy.readback.fd = -1;
	r = open_files(options, source->file.bytes);
	if (r)
		goto close_files;
	r = target_open(&copy.target, options, &bell, &copy.device, true, options->port);
	if (r == 0) {
		r = transfer(options, source);
		failures = initiator_close(&copy.initiator);
		if (failures)
			r = -1;
		if (!target_settle(&copy.target, bell_now() + SETTLE_TIMEOUT))
			say("the connections of the target do not end");
		if (copy.target.living || copy.target.lost)
			r = -1;
	}
	if (target_close(&copy.target))
		r = -1;
	if (r == 0)
		r = make_report(options, source);
	if (r == 0 && !report_sums_match(&copy.report))
		r = -1;
close_files:
	backing_close(&copy.device);
	backing_close(&copy.readback);
	return r;
}

int
main(int argc, char **argv)
{
	struct options options;
	struct source source;
	unsigned int run, failed = 0;

	options_parse(&options, OPTIONS_COPY, argc, argv);
	say_init("iser-copy");
	if (options.provider && provider_use(options.ia, options.provider, "lo 0"))
		return EXIT_FAILURE;
	if (bell_init(&bell) || bell_catch_signals(&bell)) {
		say("cannot create a semaphore or set a signal handler: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (source_open(&source, &options))
		return EXIT_FAILURE;
	for (run = 0; run < options.runs && !bell_stopped(); run++) {
		if (copy_once(&options, &source)) {
			failed++;
			say("run %u of %u failed", run + 1, options.runs);
		}
		if (copy.report.sum_count && !options.quiet) {
			if (options.json)
				report_print_json(&copy.report, stdout);
			else if (options.runs == 1 || run + 1 == options.runs)
				report_print_table(&copy.report, stdout);
		}
	}
	if (run < options.runs)
		say("interrupted after %u of %u runs", run, options.runs);
	if (options.runs > 1 || options.quiet)
		printf("%u passed, %u failed\n", run - failed, failed);
	source_close(&source);
	bell_catch_signals(NULL);
	bell_fini(&bell);
	return failed || run < options.runs ? EXIT_FAILURE : EXIT_SUCCESS;
}
