/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * folder -- the folder that softverbs-run puts on the library path of a program
 *
 * It holds libibverbs.so.1 and librdmacm.so.1, as small libraries in front of libsoftverbs.so
 * (stub.h) that have the versions of those of this host.  It stays, for the next program, in a
 * folder that only this user can enter.
 */
#ifndef SOFT_RUN_FOLDER_H
#define SOFT_RUN_FOLDER_H

#include <config.h>

/*
 * The path of the folder for a program, allocated; the folder is made if it is not there, or is
 * made for other libraries.  NULL after a message if that fails.  `library` is the path of
 * libsoftverbs.so, `program` what execvp() is called with.
 */
char *soft_folder_make(const char *library, const char *program);

#endif
