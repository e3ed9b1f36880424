/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rearm-iser-copy -- copies a file to a LUN of an iSER target, or a LUN to a file
 */
#include "iser/datamover/bell.h"
#include "iser/digest.h"
#include "iser/progress.h"
#include "iser/provider.h"
#include "iser/report.h"
#include "iser/say.h"
#include "iser/streams.h"
#include "iser/copy_options.h"
#include "iser/iscsi/chap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct initiator initiator;
/* Upcalls read and write these until initiator_close(). */
static struct backing file = BACKING_NONE, back = BACKING_NONE;
static struct histogram latencies[2]; /* of writes, of reads */
static struct report report;
static const char *direction;
static uint64_t begin;

static void
draw(uint64_t done, uint64_t total)
{
	progress_draw(direction, done, total, begin);
}

/* One direction, and its lines of the report.  0, or -1 after a message. */
static int
copy(const struct copy_options *options, struct backing *backing, bool writes, const char *name)
{
	const bool shown = !options->quiet && progress_wanted();
	struct report_sum *sum = &report.sums[report.sum_count];
	struct report_job *job = &report.jobs[report.job_count];
	int r;

	begin = bell_now();
	job->name = direction = writes ? "write" : "read";
	job->latency = &latencies[!writes];
	if (initiator_copy(&initiator, backing, writes, report.bytes, &latencies[!writes],
		shown ? draw : NULL)) {
		if (shown)
			fputs("\r\033[K", stderr);
		return -1;
	}
	job->nanoseconds = bell_now() - begin;
	report.job_count++;
	backing->bytes = report.bytes;
	r = digest_backing(backing, progress_of_sum(options->quiet), &sum->digest);
	if (r) {
		say("%s cannot be read: %s", name, strerror(-r));
		return -1;
	}
	sum->name = name;
	report.sum_count++;
	return 0;
}

/* A file for what is read back. */
static int
make_room(struct backing *backing, uint64_t bytes)
{
	int r = backing_open_temporary(backing);

	if (r)
		return r; /* and it was said */
	r = backing_reserve(backing, bytes);
	if (r)
		say("a temporary file of %" PRIu64 " bytes: %s", bytes, strerror(-r));
	return r;
}

static int
write_lun(const struct copy_options *options)
{
	const uint64_t room = initiator.blocks * initiator.block_bytes;
	int r = backing_open_source(&file, options->file);

	if (r) {
		say("%s: %s", options->file, r == -ENODATA ? "is empty" : strerror(-r));
		return -1;
	}
	report.bytes = file.bytes;
	r = -1;
	if (file.bytes > room)
		say("%s has %" PRIu64 " bytes, and the LUN %" PRIu64, options->file, file.bytes,
		    room);
	else
		r = copy(options, &file, true, options->file);
	if (r == 0 && options->verify) {
		r = -1;
		if (make_room(&back, file.bytes) == 0)
			r = copy(options, &back, false, "read back");
	}
	return r;
}

static int
read_lun(const struct copy_options *options)
{
	int r = backing_open_device(&file, options->file);

	report.bytes = initiator.blocks * initiator.block_bytes;
	if (r == 0)
		r = backing_reserve(&file, report.bytes);
	if (r) {
		say("%s: %s", options->file, strerror(-r));
		r = -1;
	} else if (file.bytes > report.bytes) {
		say("%s exists, and is larger than the LUN", options->file);
		r = -1;
	} else {
		r = copy(options, &file, false, options->file);
	}
	return r;
}

static void
print(const struct copy_options *options)
{
	report.source = options->writes ? options->file : options->url;
	report.connections = options->initiator.connections;
	report.queue_depth = options->initiator.depth;
	report.block_bytes = initiator.most;
	report.ia = options->initiator.ia;
	report.sides[report.side_count++] =
	    (struct report_side){ "initiator", &initiator.adapter.tally };
	if (options->json)
		report_print_json(&report, stdout);
	else if (options->quiet)
		report_print_sums(&report, stdout);
	else
		report_print_table(&report, stdout);
}

static int
load_secret(struct copy_options *options, struct chap_secrets **secrets)
{
	unsigned int line;
	int r;

	if (!options->auth_file)
		return 0;
	r = chap_load(options->auth_file, secrets, &line);
	if (r)
		say("%s, line %u: %s", options->auth_file, line, strerror(-r));
	else
		options->initiator.secret = chap_secret(*secrets, options->initiator.user);
	if (r == 0 && !options->initiator.secret) {
		say("%s has no secret of \"%s\"", options->auth_file, options->initiator.user);
		r = -ENOENT;
	}
	return r;
}

int
main(int argc, char **argv)
{
	static struct copy_options options;
	struct chap_secrets *secrets = NULL;
	struct bell bell;
	int r;

	say_init("rearm-iser-copy");
	streams_open();
	copy_options_parse(&options, argc, argv);
	if (options.provider && provider_use(options.initiator.ia, options.provider, "lo 0"))
		return EXIT_FAILURE;
	if (bell_init(&bell) || bell_catch_signals(&bell)) {
		say("cannot create a semaphore or set a signal handler: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (load_secret(&options, &secrets)) {
		chap_free(secrets);
		return EXIT_FAILURE;
	}
	options.initiator.address = options.addresses->ai_addr;
	r = initiator_open(&initiator, &options.initiator, &bell);
	if (r == 0)
		r = options.writes ? write_lun(&options) : read_lun(&options);
	if (initiator_close(&initiator) || atomic_load(&initiator.failed))
		r = -1;
	backing_close(&back);
	backing_close(&file);
	if (r == 0) {
		print(&options); /* with the counters of what is closed */
		r = report_sums_match(&report) ? 0 : -1;
	}
	chap_free(secrets);
	bell_catch_signals(NULL);
	bell_fini(&bell);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
