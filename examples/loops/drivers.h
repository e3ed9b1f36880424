/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drivers -- the event loops under one interface, for test_loops.c.  A call that fails ends the
 * program.
 */
#ifndef LOOPS_DRIVERS_H
#define LOOPS_DRIVERS_H

#include "cno_source.h"

struct driver {
	const char *name;
	void *(*open)(void);
	void (*close)(void *loop);
	/* What add() returns is for remove(). */
	void *(*add)(void *loop, struct cno_source *source);
	void (*remove)(void *loop, void *added);
	/* Waits until a source is ready, and lets the loop serve what is ready. */
	void (*turn)(void *loop);
};

/* Those that configure has found; the name of the last one is NULL. */
extern const struct driver drivers[];

#endif
