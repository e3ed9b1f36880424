/* SPDX-License-Identifier: BSD-3-Clause */
#include "reach.h"

#include <config.h>

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
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

/* The file gives its program capabilities that this process does not pass on anyway. */
static bool
has_capabilities(const char *path)
{
	struct vfs_ns_cap_data data;
	const ssize_t size = getxattr(path, "security.capability", &data, sizeof data);

	/* The kernel starts those of the superuser as any other program. */
	if (size < (ssize_t)XATTR_CAPS_SZ_1 || !getuid())
		return false;
	if (le32toh(data.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE || data.data[0].permitted)
		return true;
	return size >= (ssize_t)XATTR_CAPS_SZ_2 && data.data[1].permitted;
}

/* Why the kernel starts the program in secure mode, in which the dynamic linker ignores the library path; or NULL. */
static const char *
secure_mode(const char *path)
{
	struct stat file;
	struct statvfs system;

	if (stat(path, &file) || (!statvfs(path, &system) && system.f_flag & ST_NOSUID))
		return NULL;
	if (has_capabilities(path))
		return "has file capabilities";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if (file.st_mode & S_ISUID && file.st_uid != getuid())
		return "is set-user-ID";
	if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getgid())
		return "is set-group-ID";
	return NULL;
}

bool
soft_reach_check(const char *program)
{
	char path[PATH_MAX];
	const char *why;

	if (!find(program, path))
		return true;
	why = secure_mode(path);
	if (why) {
		fprintf(stderr,
		    "softverbs-run: %s: it %s, so the dynamic linker gives it the libraries of the "
		    "system, not softverbs; run a copy without that\n",
		    program, why);
		return false;
	}
	if (is_static(path))
		fprintf(stderr,
		    "softverbs-run: %s: a program that is static does not run on softverbs\n",
		    program);
	return true;
}

/* What the dynamic linker replaces in a library path, behind a "$" or in braces. */
static bool
is_token(const char *text)
{
	static const char *const tokens[] = { "ORIGIN", "LIB", "PLATFORM" };

	text += *text == '{';
	for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
		if (!strncmp(text, tokens[i], strlen(tokens[i])))
			return true;
	return false;
}

bool
soft_reach_can_name(const char *folder)
{
	for (const char *c = folder; *c; c++)
		if (*c == ':' || *c == ';' || (*c == '$' && is_token(c + 1)))
			return false;
	return true;
}
