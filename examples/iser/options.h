/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options -- the command lines of iser-copy, iser-target and iser-initiator
 */
#ifndef ISER_OPTIONS_H
#define ISER_OPTIONS_H

#include <dat2/udat.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

enum options_program { OPTIONS_COPY, OPTIONS_TARGET, OPTIONS_INITIATOR };

struct options {
	enum options_program program;
	const char *ia;
	const char *provider; /* NULL: dat.conf names it */
	const char *file;     /* NULL: a tar of `tree` */
	const char *tree;
	const char *device; /* the target's file; NULL: one without a name */
	uint64_t size;	    /* of the device; 0: as the logins want it */
	uint32_t connections;
	uint32_t queue_depth;
	uint32_t block_bytes;
	const struct addrinfo *addresses; /* of --address; NULL without it */
	uint16_t port;			  /* 0: the target takes the first free one */
	uint32_t runs;
	uint32_t timeout; /* seconds in which something must move */
	bool once;
	bool quiet;
	bool json;
};

/* Exits with a message when an argument makes no sense. */
void options_parse(struct options *options, enum options_program program, int argc, char **argv);

/*
 * An address of --address: the first of this family, or else the first.  NULL without the option.
 */
DAT_IA_ADDRESS_PTR options_address(const struct options *options, int family);

/* "64K", "1M", "4096": 0, or -EINVAL for anything else; at most `limit`, or -ERANGE. */
int options_parse_size(const char *text, uint64_t limit, uint64_t *ret_size);

#endif
