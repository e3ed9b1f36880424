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

/* "FILE[,word[=value]...]": 0, or a message of what is wrong. */
const char *lun_option_parse(struct lun_option *lun, char *text);

/* "ADDRESS[:PORT]", "[ADDRESS]:PORT" or ":PORT".  False if it is none. */
bool portal_parse(struct portal *portal, const char *text);

/* "iqn.YYYY-MM.name", "eui.", "naa.": the characters and the length that RFC 7143 4.2.7 allows. */
bool iscsi_name_is_valid(const char *name);

#endif
