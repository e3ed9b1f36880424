/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams -- descriptors 0, 1 and 2 are those of the standard streams
 *
 * A program may be started with some of them closed.  What it opens would get their numbers then,
 * and what it prints would go into that file.
 */
#ifndef REARM_TOOLS_STREAMS_H
#define REARM_TOOLS_STREAMS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Before anything is opened.  For a program that this one starts they are closed again. */
static inline void
streams_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* To read only: what is printed there fails, as it would have. */
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) != fd) {
			dprintf(STDERR_FILENO, "/dev/null: %s\n", strerror(errno));
			_exit(1);
		}
	}
}

#endif
