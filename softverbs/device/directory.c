/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory -- where the processes of a user meet
 *
 * softverbs_ctl.h says where.  Both variables are ignored in a program that runs with more rights
 * than its caller.  Any failure is an error, because a process in another directory would not find
 * its peers.
 */
#include "complaint.h"
#include "descriptors.h"
#include "mode.h"
#include "names.h"
#include "softverbs/softverbs_ctl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOR_OTHERS (S_IRWXG | S_IRWXO)

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

int
soft_directory_open(void)
{
	char name[32];
	const char *path =
	    softverbs_ctl_parent(secure_getenv("XDG_RUNTIME_DIR"), secure_getenv("TMPDIR"), name);
	int parent = soft_descriptors_keep(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)), fd;

	if (parent < 0)
		return directory_complain(path, name, strerror(errno), -errno);
	fd = directory_open_in(parent, path, name);
	soft_close(parent);
	return fd;
}
