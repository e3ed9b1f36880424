/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_options -- the command line of rearm-iser-copy
 */
#ifndef ISER_COPY_OPTIONS_H
#define ISER_COPY_OPTIONS_H

#include "iser/iscsi/initiator.h"

#include <netdb.h>

struct copy_options {
	struct initiator_options initiator;
	char host[256], target[256];
	const struct addrinfo *addresses;
	const char *file, *url, *provider, *auth_file;
	bool writes; /* from the file to the LUN */
	bool verify, quiet, json;
};

/* Exits with a message when an argument makes no sense. */
void copy_options_parse(struct copy_options *options, int argc, char **argv);

#endif
