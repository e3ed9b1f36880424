/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rearm-iser-target -- exports files and block devices over iSER until it is stopped
 */
#include "iser/datamover/bell.h"
#include "iser/provider.h"
#include "iser/say.h"
#include "iser/streams.h"
#include "iser/target_options.h"
#include "iser/target_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
open_luns(struct program_options *options, struct scsi_target **scsi)
{
	char port_name[KEYS_NAME_BYTES + 16];
	const struct scsi_target_options how = {
		.port_name = port_name,
		.port_id = TARGET_PORTAL_GROUP,
		.engine = options->engine,
		.threads = options->threads,
	};
	int r;

	snprintf(
	    port_name, sizeof port_name, "%s,t,0x%04x", options->target.name, TARGET_PORTAL_GROUP);
	r = scsi_target_open(scsi, &how);
	if (r) {
		say("the input and output cannot be set up: %s", strerror(-r));
		return -1;
	}
	for (unsigned int i = 0; i < options->lun_count; i++) {
		const struct lun_option *lun = &options->luns[i];

		r = scsi_lun_open(*scsi, lun->number, &lun->lun);
		if (r == -EEXIST)
			say("LUN %u is there twice", lun->number);
		else if (r)
			say("LUN %u, %s: %s", lun->number, lun->lun.path, strerror(-r));
		if (r)
			return -1;
	}
	return 0;
}

static int
load_secrets(const struct program_options *options, struct chap_secrets **secrets)
{
	unsigned int line;
	int r;

	if (!options->auth_file)
		return 0;
	r = chap_load(options->auth_file, secrets, &line);
	if (r == -EACCES)
		say("%s cannot be read, or others can: chmod 600", options->auth_file);
	else if (r == -EBADMSG)
		say("%s, line %u is no \"NAME SECRET\"", options->auth_file, line);
	else if (r)
		say("%s: %s", options->auth_file, strerror(-r));
	return r;
}

static void
print_begin(const struct program_options *options, const struct target *target)
{
	for (unsigned int i = 0; i < options->target.portal_count; i++)
		printf("serving   %s at %s:%u of %s\n", options->target.name,
		    options->target.portals[i].address, options->target.portals[i].port,
		    options->target.ia);
	for (unsigned int i = 0; i < options->lun_count; i++) {
		const struct scsi_lun *lun = scsi_target_lun(target->scsi, options->luns[i].number);

		printf("LUN %-5u %s, %llu blocks of %u bytes, %s\n", options->luns[i].number,
		    scsi_lun_path(lun), (unsigned long long)scsi_lun_blocks(lun),
		    scsi_lun_block_bytes(lun), scsi_target_engine(target->scsi));
	}
	printf("ready\n");
}

static void
serve(struct target *target)
{
	while (!bell_stopped() && !atomic_load(&target->adapter.catastrophe)) {
		uint64_t next = itarget_reap(target), hour = bell_now() + 3600 * BELL_SECOND;

		bell_wait(target->bell, next < hour ? next : hour);
	}
}

int
main(int argc, char **argv)
{
	static struct program_options options;
	static struct target target;
	struct chap_secrets *secrets = NULL;
	struct scsi_target *scsi = NULL;
	struct bell bell;
	int r = -1;

	say_init("rearm-iser-target");
	streams_open();
	target_options_parse(&options, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0); /* the parent process may wait for a line */
	if (options.provider && provider_use(options.target.ia, options.provider, "lo 0"))
		return EXIT_FAILURE;
	if (bell_init(&bell) || bell_catch_signals(&bell)) {
		say("cannot create a semaphore or set a signal handler: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (load_secrets(&options, &secrets) || open_luns(&options, &scsi))
		goto close_scsi;
	options.target.secrets = secrets;
	r = itarget_open(&target, &options.target, &bell, scsi);
	if (r == 0) {
		if (!options.quiet)
			print_begin(&options, &target);
		serve(&target);
	}
	if (itarget_close(&target) || atomic_load(&target.adapter.catastrophe))
		r = -1;
	if (options.json)
		target_report_json(&options, &target, stdout);
	else if (!options.quiet)
		target_report_table(&options, &target, stdout);
close_scsi:
	scsi_target_close(scsi);
	chap_free(secrets);
	bell_catch_signals(NULL);
	bell_fini(&bell);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
