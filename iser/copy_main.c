/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rearm-iser-copy -- copies a file to a LUN of an iSER target, or a LUN to a file
 */
#include "examples/iser/bell.h"
#include "examples/iser/digest.h"
#include "examples/iser/progress.h"
#include "examples/iser/provider.h"
#include "examples/iser/report.h"
#include "examples/iser/say.h"
#include "iser/copy_options.h"
#include "iser/iscsi/chap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *direction;

static void
draw(uint64_t done, uint64_t total)
{
	char text[128];

	progress_text(text, sizeof text, direction, done, total);
	fprintf(stderr, "\r%s\033[K%s", text, done >= total ? "\r\033[K" : "");
	fflush(stderr);
}

/* One direction; its time in nanoseconds, or 0 after a message. */
static uint64_t
copy(struct initiator *initiator, const struct copy_options *options, const struct backing *file,
    bool writes, uint64_t bytes)
{
	const bool shown = !options->quiet && progress_wanted();
	const uint64_t begin = bell_now();

	direction = writes ? "write" : "read";
	if (initiator_copy(initiator, file, writes, bytes, shown ? draw : NULL)) {
		if (shown)
			fputs("\r\033[K", stderr);
		return 0;
	}
	return bell_now() - begin + 1;
}

static void
print(const struct copy_options *options, const char *what, uint64_t bytes, uint64_t time,
    const struct digest *digest, const char *whose)
{
	char text[DIGEST_TEXT], duration[32];

	digest_text(digest, text);
	if (options->json)
		printf("{\"direction\":\"%s\",\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64
		       ",\"connections\":%u,\"queue_depth\":%u,\"sha256\":\"%s\"}\n",
		    what, bytes, time, options->initiator.connections, options->initiator.depth,
		    text);
	else if (!options->quiet)
		printf("%-9s %" PRIu64
		       " bytes in %s, %.1f MB/s, over %u connections of queue depth %u\n",
		    what, bytes, report_duration(time, duration, sizeof duration),
		    (double)bytes * 1e3 / (double)time, options->initiator.connections,
		    options->initiator.depth);
	if (!options->json)
		printf("SHA-256   %s  %s\n", text, whose);
}

static int
sum(const struct copy_options *options, const struct backing *file, struct digest *digest)
{
	int r = digest_backing(file, progress_of_sum(options->quiet), digest);

	if (r)
		say("%s cannot be read: %s", options->file, strerror(-r));
	return r;
}

static int
write_lun(struct initiator *initiator, const struct copy_options *options)
{
	struct backing file = BACKING_NONE, back = BACKING_NONE;
	struct digest ours, theirs;
	uint64_t time;
	int r = backing_open_source(&file, options->file);

	if (r) {
		say("%s: %s", options->file, strerror(-r));
		return -1;
	}
	r = -1;
	if (file.bytes > initiator->blocks * initiator->block_bytes) {
		say("%s has %" PRIu64 " bytes, and the LUN %" PRIu64, options->file, file.bytes,
		    initiator->blocks * initiator->block_bytes);
		goto close;
	}
	time = copy(initiator, options, &file, true, file.bytes);
	if (!time || sum(options, &file, &ours))
		goto close;
	print(options, "write", file.bytes, time, &ours, options->file);
	r = 0;
	if (!options->verify)
		goto close;
	r = -1;
	if (backing_open_temporary(&back) || backing_reserve(&back, file.bytes))
		goto close;
	time = copy(initiator, options, &back, false, file.bytes);
	if (!time || sum(options, &back, &theirs))
		goto close;
	r = digest_equal(&ours, &theirs) ? 0 : -1;
	print(options, "read", file.bytes, time, &theirs,
	    r ? "read back  DIFFERS" : "read back  matches");
close:
	backing_close(&back);
	backing_close(&file);
	return r;
}

static int
read_lun(struct initiator *initiator, const struct copy_options *options)
{
	const uint64_t bytes = initiator->blocks * initiator->block_bytes;
	struct backing file = BACKING_NONE;
	struct digest digest;
	uint64_t time;
	int r = backing_open_device(&file, options->file);

	if (r == 0)
		r = backing_reserve(&file, bytes);
	if (r) {
		say("%s: %s", options->file, strerror(-r));
		return -1;
	}
	if (file.bytes > bytes) {
		say("%s exists, and is larger than the LUN", options->file);
		backing_close(&file);
		return -1;
	}
	time = copy(initiator, options, &file, false, bytes);
	r = time ? sum(options, &file, &digest) : -1;
	if (r == 0)
		print(options, "read", bytes, time, &digest, options->file);
	backing_close(&file);
	return r;
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
	static struct initiator initiator;
	struct chap_secrets *secrets = NULL;
	struct bell bell;
	int r;

	copy_options_parse(&options, argc, argv);
	say_init("rearm-iser-copy");
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
		r = options.writes ? write_lun(&initiator, &options) :
				     read_lun(&initiator, &options);
	if (initiator_close(&initiator) || atomic_load(&initiator.failed))
		r = -1;
	chap_free(secrets);
	bell_catch_signals(NULL);
	bell_fini(&bell);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
