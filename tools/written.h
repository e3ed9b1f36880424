/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * written -- what a program prints is written, or its exit status says that it is not
 *
 * The C library writes the last of it when the program ends, and tells no one that it could not.
 */
#ifndef REARM_TOOLS_WRITTEN_H
#define REARM_TOOLS_WRITTEN_H

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void
written_check(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	warn("standard output");
	_exit(1);
}

/* At the end of the program, also in exit(3): help and versions are printed that way. */
static inline void
written_at_exit(void)
{
	if (atexit(written_check) != 0)
		errx(1, "no memory");
}

#endif
