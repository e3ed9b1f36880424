/* SPDX-License-Identifier: BSD-3-Clause */
#include "reach.h"

#include "elf.h"
#include "host.h"
#include "say.h"

#include <elf.h>
#include <endian.h>
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
reach_is_program(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) && !access(path, X_OK);
}

/* The file that execvp() finds for the name: false if there is none. */
bool
soft_reach_find(const char *program, char path[PATH_MAX])
{
	const char *folder = getenv("PATH");
	size_t length;

	if (strchr(program, '/'))
		return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && reach_is_program(path);
	if (!folder)
		folder = "/bin:/usr/bin";
	for (;; folder += length + 1) {
		length = strcspn(folder, ":");
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folder, length ? "/" : "",
			program) < PATH_MAX &&
		    reach_is_program(path))
			return true;
		if (!folder[length])
			return false;
	}
}

/*
 * A static program has no dynamic linker.  Nor has the dynamic linker itself, which obeys the
 * library path.
 */
static bool
reach_is_static(const char *path, const struct soft_elf *elf)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5))
		return false;
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_INTERP)
			return false;
	return true;
}

/* The file gives its program capabilities that this process does not pass on anyway. */
static bool
reach_has_capabilities(const char *path)
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

/*
 * Why the kernel starts the program in secure mode, in which the dynamic linker ignores the library
 * path; or NULL.
 */
static const char *
reach_secure_mode(const char *path)
{
	struct stat file;
	struct statvfs system;

	if (stat(path, &file) || (!statvfs(path, &system) && system.f_flag & ST_NOSUID))
		return NULL;
	if (reach_has_capabilities(path))
		return "has file capabilities";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if (file.st_mode & S_ISUID && file.st_uid != getuid())
		return "is set-user-ID";
	if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getgid())
		return "is set-group-ID";
	return NULL;
}

/*
 * The library that the dynamic linker finds by the path in the program before it looks at the
 * library path.
 */
static bool
reach_hidden_by_path(const char *path, const struct soft_elf *elf, char library[PATH_MAX])
{
	const char *folders =
	    soft_elf_entry(elf, DT_RUNPATH) ? NULL : soft_elf_entry(elf, DT_RPATH);

	return folders && (soft_host_find(folders, path, "libibverbs.so.1", library, PATH_MAX) ||
			      soft_host_find(folders, path, "librdmacm.so.1", library, PATH_MAX));
}

/* Prints why the program, or a part of it, runs on other libraries.  False if all of it does. */
static bool
reach_check_file(const char *program, const char *path, const struct soft_elf *elf)
{
	char library[PATH_MAX];

	if (reach_hidden_by_path(path, elf, library)) {
		soft_say(
		    "softverbs-run: %s: its DT_RPATH leads to %s, before softverbs; run a copy "
		    "with "
		    "DT_RUNPATH in its place (chrpath -c, or patchelf --set-rpath)",
		    program, library);
		return false;
	}
	if (reach_is_static(path, elf))
		soft_say("softverbs-run: %s: a program that is static does not run on softverbs",
		    program);
	else if (!soft_elf_has(elf, DT_NEEDED, "libibverbs.so.1") &&
		 soft_elf_contains(elf, "ibv_open_device"))
		soft_say(
		    "softverbs-run: %s: it has a libibverbs inside, which is not softverbs; link "
		    "it "
		    "with the shared one",
		    program);
	return true;
}

bool
soft_reach_check(const char *program)
{
	char path[PATH_MAX];
	struct soft_elf elf;
	const char *why;
	bool reached;

	if (!soft_reach_find(program, path))
		return true;
	why = reach_secure_mode(path);
	if (why) {
		soft_say(
		    "softverbs-run: %s: it %s, so the dynamic linker gives it the libraries of the "
		    "system, not softverbs; run a copy without that",
		    program, why);
		return false;
	}
	if (!soft_elf_open(&elf, path))
		return true;
	reached = reach_check_file(program, path, &elf);
	soft_elf_close(&elf);
	return reached;
}

/* What the dynamic linker replaces in a library path, behind a "$" or in braces. */
static bool
reach_is_token(const char *text)
{
	static const char *const tokens[] = { "ORIGIN", "LIB", "PLATFORM" };

	text += *text == '{';
	for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
		if (!strncmp(text, tokens[i], strlen(tokens[i])))
			return true;
	return false;
}

bool
soft_reach_has_token(const char *path)
{
	for (const char *c = strchr(path, '$'); c; c = strchr(c + 1, '$'))
		if (reach_is_token(c + 1))
			return true;
	return false;
}

bool
soft_reach_can_name(const char *folder)
{
	return !strpbrk(folder, ":;") && !soft_reach_has_token(folder);
}
