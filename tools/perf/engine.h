/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine -- what carries messages and delivers completions: a DAT provider, or loops over verbs
 *
 * All that is measured is written once, over this table.  A function that fails ends the program.
 */
#ifndef PERF_ENGINE_H
#define PERF_ENGINE_H

#include "load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct end;
struct options;

/* Registered memory; the peer has its address and key. */
struct region {
	char *memory;
	size_t length;
	void *handle;
	uint32_t key;	     /* of this side */
	uint32_t remote_key; /* for the peer */
};

struct remote {
	uint64_t address;
	uint32_t key;
};

/* A part of a region. */
struct piece {
	char *bytes;
	uint32_t length;
	uint32_t key;
};

struct completion {
	uint64_t cookie;
	size_t length;	   /* of a receive */
	const char *error; /* NULL: none */
};

/* The private data of a connection: whose it is, and which of its. */
struct greeting {
	char magic[8];
	uint32_t run;
	uint32_t index;
};

/*
 * Whether a request with the greeting `theirs` is what a server waits for; the first one of a run
 * names the run.
 */
static inline bool
greeting_fits(const struct greeting *wanted, const struct greeting *theirs)
{
	return !memcmp(wanted->magic, theirs->magic, sizeof wanted->magic) &&
	       wanted->index == theirs->index && (wanted->index == 0 || wanted->run == theirs->run);
}

/* What an endpoint is created with. */
struct wiring {
	void *queue;	   /* for its receives; NULL: a queue of its own */
	bool requests;	   /* its requests complete to `queue`, too */
	uint32_t receives; /* how many may be posted */
	uint32_t sends;
	uint32_t size; /* of the longest message */
};

/*
 * open      an adapter; a server listens on options->port, 0 is any
 * port      what it listens on
 * enrol     registers memory
 * queue     what an end gets its events from, of that number of completions; the end is the
 *           argument of flow_event()
 * wire      an endpoint.  That of a server waits for a request with this greeting, which it sets,
 *           and refuses others; ms: how long, -1: no limit
 * join      connects to the server that the options name, or accepts the request
 * watch     looks whether connections were closed by the other end, so that what is posted
 *           completes with an error; NULL: that happens by itself
 * receive   posts a receive; its completion has the cookie
 * send      posts a send; unless it is silent reap() returns the cookie
 * write, read  RDMA
 * reap      takes a completion of requests that complete to a queue of their own: its cookie, 0:
 *           there is none
 * arrived   takes a completion of a receive that completes to a queue of its own
 * run       delivers events to flow_event() until end_is_over()
 */
struct engine {
	const char *name;
	unsigned int consumers; /* bits: which it has */
	void *(*open)(const struct options *options, bool server);
	unsigned int (*port)(void *adapter);
	void (*close)(void *adapter);
	void (*enrol)(void *adapter, struct region *region);
	void *(*queue)(void *adapter, struct end *end, uint32_t length);
	void *(*wire)(
	    void *adapter, const struct wiring *wiring, struct greeting *greeting, int ms);
	void (*join)(void *wire);
	void (*watch)(void *adapter);
	void (*receive)(void *wire, const struct piece *piece, uint64_t cookie);
	void (*send)(void *wire, const struct piece *piece, uint64_t cookie, bool silent);
	void (*write)(void *wire, const struct piece *piece, const struct remote *to,
	    uint64_t cookie, bool silent);
	void (*read)(
	    void *wire, const struct piece *piece, const struct remote *from, uint64_t cookie);
	uint64_t (*reap)(void *wire);
	bool (*arrived)(void *wire, struct completion *completion);
	void (*run)(void *queue);
};

extern const struct engine engine_dat, engine_verbs;

/* NULL: there is none with that name. */
const struct engine *engine_find(const char *name);

static inline void
engine_watch(const struct engine *engine, void *adapter)
{
	if (engine->watch)
		engine->watch(adapter);
}

static inline bool
engine_has(const struct engine *engine, enum consumer consumer)
{
	return engine->consumers >> consumer & 1;
}

#endif
