/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_version.h -- the version of Rearm
 *
 * REARM_VERSION is the version of the headers that a program was compiled with, such as "0.2.0",
 * and REARM_VERSION_MAJOR, REARM_VERSION_MINOR and REARM_VERSION_PATCH are its numbers.
 * REARM_VERSION_AT_LEAST(0, 2, 0) is true in that version and in later ones, and can be used in
 * #if.
 *
 * The major number changes if a program has to be changed or compiled again, the minor number if
 * there is something new, the patch number otherwise.  Before 1.0.0 the minor number stands for
 * both of the first two.  DAT_VERSION_MAJOR and DAT_VERSION_MINOR of dat.h are the version of the
 * DAT API, which is another.
 */
#ifndef _DAT_VERSION_H_
#define _DAT_VERSION_H_

#include <dat2/udat.h>

#define REARM_VERSION "0.2.0"
#define REARM_VERSION_MAJOR 0
#define REARM_VERSION_MINOR 2
#define REARM_VERSION_PATCH 0

#define REARM_VERSION_AT_LEAST(major, minor, patch) \
	(REARM_VERSION_MAJOR * 1000000 + REARM_VERSION_MINOR * 1000 + REARM_VERSION_PATCH >= \
	    (major) * 1000000 + (minor) * 1000 + (patch))

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the version of the registry.  It is that of the libdat2 that the program runs with, in
 * the form of REARM_VERSION, and is never freed.  Debian's libdat2 does not have this call.
 *
 * Threads: any.  From: Rearm.
 */
const char * DAT_API dat_rearm_version(void);

#ifdef __cplusplus
}
#endif

#endif
