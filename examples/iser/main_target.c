/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iser-target -- serves a file until it is stopped
 */
#include "bell.h"
#include "options.h"
#include "progress.h"
#include "provider.h"
#include "report.h"
#include "say.h"
#include "target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With --once: a connection was made, and all connections have ended. */
static bool
all_served(struct target *target)
{
	unsigned int accepted;

	pthread_mutex_lock(&target->lock);
	accepted = target->accepted;
	pthread_mutex_unlock(&target->lock);
	return accepted > 0 && target->ended == accepted;
}

static void
serve(struct target *target, const struct options *options)
{
	while (!bell_stopped() && !atomic_load(&target->adapter.catastrophe)) {
		target_reap(target);
		if (options->once && all_served(target))
			return;
		bell_wait(target->bell, bell_now() + BELL_SECOND);
	}
}

static int
print_end(const struct options *options, const struct target *target, const struct backing *device)
{
	struct digest digest;
	char text[DIGEST_TEXT];
	int r = digest_backing(device, progress_of_sum(options->quiet), &digest);

	if (r) {
		say("%s cannot be read: %s", options->device, strerror(-r));
		return -1;
	}
	if (!options->quiet)
		printf("served    %u connections, %llu commands (%llu refused), "
		       "%llu bytes written, %llu bytes read\n",
		    target->ended, atomic_load(&target->commands), atomic_load(&target->errors),
		    atomic_load(&target->bytes_written), atomic_load(&target->bytes_read));
	printf("SHA-256   %s  %s (%" PRIu64 " bytes)\n", digest_text(&digest, text),
	    options->device, device->bytes);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct target target;
	struct options options;
	struct backing device;
	struct bell bell;
	int r;

	options_parse(&options, OPTIONS_TARGET, argc, argv);
	say_init("iser-target");
	setvbuf(stdout, NULL, _IOLBF, 0); /* the parent process may wait for a line */
	if (options.provider && provider_use(options.ia, options.provider, "lo 0"))
		return EXIT_FAILURE;
	if (bell_init(&bell) || bell_catch_signals(&bell)) {
		say("cannot create a semaphore or set a signal handler: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	r = backing_open_device(&device, options.device);
	if (r == 0)
		r = backing_reserve(&device, options.size);
	if (r) {
		say("%s: %s", options.device, strerror(-r));
		return EXIT_FAILURE;
	}
	r = target_open(&target, &options, &bell, &device, options.size == 0, options.port);
	if (r == 0) {
		printf("serving   %s on port %u of %s\n", options.device, target.port, options.ia);
		serve(&target, &options);
	}
	if (target_close(&target) || atomic_load(&target.adapter.catastrophe))
		r = -1;
	if (options.once && target.lost)
		r = -1; /* with --once the exit status is that of the copy */
	if (target.port && print_end(&options, &target, &device))
		r = -1;
	backing_close(&device);
	bell_catch_signals(NULL);
	bell_fini(&bell);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
