/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_options -- the command line of rearm-iser-target
 */
#ifndef ISER_TARGET_OPTIONS_H
#define ISER_TARGET_OPTIONS_H

#include "iser/iscsi/target.h"

#define OPTIONS_LUNS 64

struct lun_option {
	unsigned int number;
	struct scsi_lun_options lun;
};

struct program_options {
	struct target_options target;
	const char *provider;  /* NULL: dat.conf names it */
	const char *auth_file; /* NULL: anyone may log in */
	struct lun_option luns[OPTIONS_LUNS];
	unsigned int lun_count;
	enum scsi_engine engine;
	unsigned int threads;
	bool quiet, json;
};

/* Exits with a message when an argument makes no sense. */
void target_options_parse(struct program_options *options, int argc, char **argv);

#endif
