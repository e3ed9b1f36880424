/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options -- the command line
 */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include "engine.h"
#include "load.h"

#include <netdb.h>

struct options {
	const struct engine *engine;
	const char *adapter;
	const char *provider;	/* NULL: what dat.conf has */
	const char *parameters; /* of the provider; NULL: "lo 0" */
	int spin;		/* us; -1: as the provider has it */
	bool server;
	bool client;			  /* of a server in another process, at the address */
	const struct addrinfo *addresses; /* of HOST; NULL without one */
	unsigned int port;		  /* 0: any */
	unsigned int timeout;		  /* s */
	bool json;
	const char *histogram, *plot; /* files */
	struct load load;
};

/* Ends the program with 2 after a message if the command line is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/* Copies an address of HOST: the first of this family, or else the first.  False without HOST. */
bool options_address(const struct options *options, int family, struct sockaddr_storage *address);

#endif
