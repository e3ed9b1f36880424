/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mode -- what the owner may do with a file or a directory of softverbs
 *
 * The umask of a program may take bits of the owner, too.  What is created then cannot be used, by
 * later programs neither.  The umask is one of all threads, so it is not changed: what was created
 * gets the bits that are missing.  No other user gets any.
 */
#ifndef SOFT_MODE_H
#define SOFT_MODE_H

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Gives the owner these bits of a file of this type (S_IFDIR, ...), if it is of this user; also if
 * the descriptor is one of O_PATH, which fchmod() refuses.  0 or -errno.
 */
static inline int
soft_mode_give(int fd, mode_t type, mode_t bits)
{
	struct stat st;
	char path[32];

	if (fstat(fd, &st))
		return -errno;
	if ((st.st_mode & S_IFMT) != type || st.st_uid != geteuid() || !(bits & ~st.st_mode))
		return 0;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return chmod(path, (st.st_mode & 07777) | bits) ? -errno : 0;
}

#endif
