/* SPDX-License-Identifier: BSD-3-Clause */
#include "reach.h"

#include <config.h>

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that execvp() starts; any file with this name else. */
static bool
is_program(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) && !access(path, X_OK);
}

/* The file that execvp() finds for the name: false if there is none. */
static bool
find(const char *program, char path[PATH_MAX])
{
	const char *folder = getenv("PATH");
	size_t length;

	if (strchr(program, '/'))
		return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && is_program(path);
	if (!folder)
		folder = "/bin:/usr/bin";
	for (;; folder += length + 1) {
		length = strcspn(folder, ":");
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folder, length ? "/" : "",
			program) < PATH_MAX &&
		    is_program(path))
			return true;
		if (!folder[length])
			return false;
	}
}

/* A static program has no dynamic linker.  Nor has the dynamic linker itself, which obeys the library path. */
static bool
is_static(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) header;
	ElfW(Phdr) segment;
	bool without = false;

	if (fd < 0)
		return false;
	if (strncmp(name, "ld-", 3) != 0 && strncmp(name, "ld.so", 5) != 0 &&
	    pread(fd, &header, sizeof header, 0) == sizeof header &&
	    !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_phentsize == sizeof segment)
		without = true;
	for (unsigned int i = 0; without && i < header.e_phnum; i++)
		if (pread(fd, &segment, sizeof segment,
			(off_t)(header.e_phoff + i * sizeof segment)) != sizeof segment ||
		    segment.p_type == PT_INTERP)
			without = false;
	close(fd);
	return without;
}

/* Why the dynamic linker ignores the library path, or NULL: the file gives the program another user or group. */
static const char *
other_identity(const char *path)
{
	struct stat file;

	if (stat(path, &file))
		return NULL;
	if (file.st_mode & S_ISUID && file.st_uid != getuid())
		return "set-user-ID";
	if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getgid())
		return "set-group-ID";
	return NULL;
}

void
soft_reach_warn(const char *program)
{
	char path[PATH_MAX];
	const char *why;

	if (!find(program, path))
		return;
	why = is_static(path) ? "static" : other_identity(path);
	if (why)
		fprintf(stderr,
		    "softverbs-run: %s: a program that is %s does not run on softverbs\n", program,
		    why);
}
