/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run -- a measurement, from opening the adapter to closing it: of a server, of a client
 */
#ifndef PERF_RUN_H
#define PERF_RUN_H

#include "options.h"
#include "result.h"

/* Serves one client.  Calls listening() with the port as soon as a client may connect. */
void run_server(const struct options *options, void (*listening)(void *, unsigned int), void *arg);

struct outcome {
	struct result client, server;
	bool same_clock; /* both ends are on one host */
};

/* Measures with the server. */
void run_client(const struct options *options, struct outcome *outcome);

#endif
