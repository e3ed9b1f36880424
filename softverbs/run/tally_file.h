/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tally_file -- the files of check/tally.h and fault/record.h, and the folder of a sweep
 *
 * A file has a name, since programs close descriptors that they do not know and their children open
 * it anew.  It is locked while softverbs-run, or its keeper, lives; one that is left because both
 * were killed is removed by the next run.  The same holds for the folder.
 */
#ifndef SOFT_RUN_TALLY_FILE_H
#define SOFT_RUN_TALLY_FILE_H

#include "softverbs/check/tally.h"
#include "softverbs/fault/record.h"

/*
 * Creates it, and names it in the environment; ends the process if that fails.  The path is
 * allocated.
 */
struct soft_tally *soft_tally_file_create(char **path);
struct soft_record *soft_record_file_create(char **path);

/* The path of a new folder, allocated; ends the process if that fails. */
char *soft_tally_folder_create(void);
void soft_tally_folder_remove(const char *path);

/* Removes those of runs whose processes were all killed. */
void soft_tally_file_remove_left(void);

#endif
