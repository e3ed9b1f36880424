/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "meeting.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static char folder[PATH_MAX];

void
meeting_begin(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(
	    folder, sizeof folder, "%s/meet-XXXXXX", parent && *parent == '/' ? parent : "/tmp");
	if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1)) {
		perror(folder);
		folder[0] = '\0';
	}
}

static int
meeting_remove(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

void
meeting_end(void)
{
	if (folder[0])
		nftw(folder, meeting_remove, 8, FTW_DEPTH | FTW_PHYS);
}
