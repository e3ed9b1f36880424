/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iser-initiator -- copies a file to the device of an iser-target and back
 */
#include "bell.h"
#include "initiator.h"
#include "options.h"
#include "progress.h"
#include "provider.h"
#include "report.h"
#include "say.h"
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct initiator initiator;

static int
transfer(const struct options *options, struct bell *bell, const struct source *source,
    struct backing *readback)
{
	initiator_progress_fn progress =
	    progress_wanted() && !options->quiet ? progress_draw : NULL;

	if (initiator_open(&initiator, options, bell, options->port, source->file.bytes))
		return -1;
	if (initiator_write(&initiator, &source->file, progress))
		return -1;
	return initiator_read(&initiator, readback, progress);
}

static int
report(const struct options *options, const struct source *source, const struct backing *readback)
{
	struct report report = {
		.source = source->name,
		.bytes = source->file.bytes,
		.connections = options->connections,
		.queue_depth = options->queue_depth,
		.block_bytes = options->block_bytes,
		.ia = options->ia,
		.sums = { { .name = "source", .digest = source->digest }, { .name = "read back" } },
		.sum_count = 2,
		.jobs = { { "write", initiator.write.end - initiator.write.start,
			      &initiator.write.latency },
		    { "read", initiator.read.end - initiator.read.start,
			&initiator.read.latency } },
		.job_count = 2,
		.sides = { { "initiator", &initiator.adapter.tally } },
		.side_count = 1,
	};
	int r = digest_backing(readback, progress_of_sum(options->quiet), &report.sums[1].digest);

	if (r) {
		say("cannot read the file that holds the data read back: %s", strerror(-r));
		return -1;
	}
	if (options->json)
		report_print_json(&report, stdout);
	else if (!options->quiet)
		report_print_table(&report, stdout);
	if (options->quiet)
		printf("%d passed, %d failed\n", report_sums_match(&report),
		    !report_sums_match(&report));
	return report_sums_match(&report) ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct backing readback = BACKING_NONE;
	struct options options;
	struct source source;
	struct bell bell;
	int r;

	options_parse(&options, OPTIONS_INITIATOR, argc, argv);
	say_init("iser-initiator");
	if (options.provider && provider_use(options.ia, options.provider, "lo 0"))
		return EXIT_FAILURE;
	if (bell_init(&bell) || bell_catch_signals(&bell)) {
		say("cannot create a semaphore or set a signal handler: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (source_open(&source, &options))
		return EXIT_FAILURE;
	r = backing_open_temporary(&readback);
	if (r == 0)
		r = backing_reserve(&readback, source.file.bytes);
	if (r) {
		say("cannot create the file for the data read back: %s", strerror(-r));
	} else {
		r = transfer(&options, &bell, &source, &readback);
		if (initiator_close(&initiator))
			r = -1;
		if (r == 0)
			r = report(&options, &source, &readback);
	}
	backing_close(&readback);
	source_close(&source);
	bell_catch_signals(NULL);
	bell_fini(&bell);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
