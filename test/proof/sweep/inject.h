/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inject -- the counting injector
 *
 * The libraries under test are linked so that each call which may fail goes through a wrapper, and
 * the wrapper asks here first.  While the window is open every such call is a point and gets the
 * next number; the call with the chosen number fails, alone or with all that follow.  Only calls
 * made from the libraries are counted: the program and its threads call the C library directly.
 */
#ifndef REARM_SWEEP_INJECT_H
#define REARM_SWEEP_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#define INJECT_SITES 1024
#define INJECT_FRAMES 12

/* A place in a library from which a call that may fail is made. */
struct inject_site {
	char call[32];
	char module[48];
	uintptr_t offset;
	unsigned int seen, failed; /* calls, over all runs */
};

/* Shared by the process that sweeps and its children, one of which runs at a time. */
struct inject_shared {
	_Atomic(int) lock;
	_Atomic(unsigned int) points; /* met while the window was open */
	_Atomic(unsigned int) failed; /* of them made to fail */
	_Atomic(unsigned int) polls;  /* of those, polls of a completion queue */
	unsigned int n_sites;
	struct inject_site sites[INJECT_SITES];
	/* The first call that failed; empty: none. */
	char call[32];
	int frames;
	struct {
		char module[48];
		uintptr_t offset;
	} frame[INJECT_FRAMES];
};

enum inject_mode {
	INJECT_NOTHING,
	INJECT_ONCE,
	INJECT_ALWAYS,
};

struct inject_plan {
	enum inject_mode mode;
	unsigned int point; /* counted from 1; 0: the first call at the site with this index */
	unsigned int site;
};

extern struct inject_shared *inject_shared;

bool inject_setup(void);
/* Clears what a run counts, not the sites. */
void inject_clear(void);
void inject_open(const struct inject_plan *plan);
void inject_close(void);
/* Whether something failed since the window was opened. */
bool inject_met(void);

/*
 * For the wrappers: whether the call has to fail.  An interruption is repeated only a few times
 * even when every call fails: no call is interrupted for ever, and repeating it is correct.
 */
enum inject_kind {
	INJECT_FAILS,
	INJECT_INTERRUPTED,
};

bool inject(const char *call, const void *caller, enum inject_kind kind);

#endif
