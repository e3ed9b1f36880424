/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach -- whether softverbs reaches a program by the library path
 */
#ifndef SOFT_RUN_REACH_H
#define SOFT_RUN_REACH_H

#include <config.h>

#include <limits.h>
#include <stdbool.h>

/*
 * Prints a line if it does not.  False if the program would silently run on the libraries of the
 * system; a static one may start others, which softverbs reaches.
 */
bool soft_reach_check(const char *program);

/* The file that execvp() starts for the name: false if there is none. */
bool soft_reach_find(const char *program, char path[PATH_MAX]);

/*
 * True if the folder can be an entry of a library path: its name has nothing that ends an entry, or
 * that is replaced.
 */
bool soft_reach_can_name(const char *folder);

/* True if the dynamic linker would replace a part of the path of a library, such as $ORIGIN. */
bool soft_reach_has_token(const char *path);

#endif
