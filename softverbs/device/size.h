/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * size -- how long a file may become
 *
 * A process that makes a file longer than RLIMIT_FSIZE allows is ended by SIGXFSZ, also if the file
 * is memory.
 */
#ifndef SOFT_SIZE_H
#define SOFT_SIZE_H

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

/* 0 or -EFBIG. */
static inline int
soft_size_check(uint64_t length)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
		       limit.rlim_cur >= length ?
		   0 :
		   -EFBIG;
}

#endif
