/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory -- where the processes of a user meet
 *
 * It is "softverbs" in $XDG_RUNTIME_DIR, else "softverbs-UID" in the temporary directory.  Both
 * variables are ignored in a program that runs with more rights than its caller, and unless they
 * hold an absolute path.  A runtime directory that does not exist, belongs to another user or
 * cannot be written to counts as not set.  Any other failure is an error, because a process in
 * another directory would not find its peers.
 */
#include "complaint.h"
#include "descriptors.h"
#include "mode.h"
#include "names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOR_OTHERS (S_IRWXG | S_IRWXO)

/* An absolute path from the environment, or NULL. */
static const char *
directory_path(const char *variable)
{
	const char *path = secure_getenv(variable);

	return path && path[0] == '/' ? path : NULL;
}

static int
directory_complain(const char *parent, const char *name, const char *why, int r)
{
	soft_complain("%s/%s: %s", parent, name, why);
	/* To a program it is a device that it may not use. */
	return r == -EROFS ? -EACCES : r;
}

/* 0, or -errno after a message. */
static int
directory_check(int fd, const char *parent, const char *name)
{
	struct stat st;
	char why[128];
	int r;

	if (fstat(fd, &st))
		return directory_complain(parent, name, strerror(errno), -errno);
	if (st.st_uid != geteuid()) {
		(void)snprintf(why, sizeof why,
		    "belongs to user %u: remove it, or set XDG_RUNTIME_DIR or TMPDIR",
		    (unsigned int)st.st_uid);
		return directory_complain(parent, name, why, -EACCES);
	}
	if (st.st_mode & FOR_OTHERS) {
		(void)snprintf(why, sizeof why, "has mode %04o, must be 0700: chmod it",
		    (unsigned int)st.st_mode & 07777);
		return directory_complain(parent, name, why, -EACCES);
	}
	/* The umask of the program that made it may have taken bits of the owner. */
	r = soft_mode_give(fd, S_IFDIR, S_IRWXU);
	return r ? directory_complain(parent, name, strerror(-r), r) : 0;
}

/* The directory `name` of an open one: a descriptor, or -errno after a message. */
static int
directory_open_in(int parent_fd, const char *parent, const char *name)
{
	int fd, r;

	if (mkdirat(parent_fd, name, S_IRWXU) && errno != EEXIST)
		return directory_complain(parent, name, strerror(errno), -errno);
	/* O_PATH, so that the directory of another user can be opened and examined, too. */
	fd = soft_descriptors_keep(
	    openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0)
		return directory_complain(parent, name, strerror(errno), -errno);
	r = directory_check(fd, parent, name);
	if (!r)
		return fd;
	soft_close(fd);
	return r;
}

static int
directory_open_parent(const char *path)
{
	return soft_descriptors_keep(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* True if this user, and no other, can write there.  The file system may be mounted read-only. */
static bool
directory_is_usable(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       !faccessat(fd, ".", W_OK | X_OK, AT_EACCESS);
}

/* The runtime directory, or -1. */
static int
directory_open_runtime(const char *path)
{
	int fd = path ? directory_open_parent(path) : -1;

	if (fd < 0 || directory_is_usable(fd))
		return fd;
	soft_close(fd);
	return -1;
}

int
soft_directory_open(void)
{
	const char *path = directory_path("XDG_RUNTIME_DIR");
	char name[32] = "softverbs";
	int parent = directory_open_runtime(path), fd;

	if (parent < 0) {
		path = directory_path("TMPDIR");
		if (!path)
			path = "/tmp";
		(void)snprintf(name, sizeof name, "softverbs-%u", (unsigned int)geteuid());
		parent = directory_open_parent(path);
	}
	if (parent < 0)
		return directory_complain(path, name, strerror(errno), -errno);
	fd = directory_open_in(parent, path, name);
	soft_close(parent);
	return fd;
}
