/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host -- the libraries that a program would have without softverbs
 *
 * Those of the first folder of LD_LIBRARY_PATH that has one, else those that the dynamic linker
 * finds, and those that the program brings in a folder of its own.
 */
#ifndef SOFT_RUN_HOST_H
#define SOFT_RUN_HOST_H

#include "interface.h"

/*
 * Adds their versions, those that the program needs, and those that softverbs was built with.
 * `served` is the path of libsoftverbs.so.  False with errno if that cannot be read, or without
 * memory.
 */
bool soft_host_read(
    struct soft_interface *interfaces, size_t count, const char *served, const char *program);

/*
 * The file `name` in the first folder of a library path that has it, with $ORIGIN as the folder of
 * `program`: false if no folder has one.
 */
bool soft_host_find(
    const char *folders, const char *program, const char *name, char *path, size_t size);

#endif
