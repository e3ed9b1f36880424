/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_file -- the results of a sweep, of which an interrupted one goes on
 *
 * The first line is an object that describes the sweep; then there is one for each point that was
 * run, in the order of the points.
 */
#ifndef SOFT_RUN_SWEEP_FILE_H
#define SOFT_RUN_SWEEP_FILE_H

#include "sweep_point.h"

#include <stdio.h>

/*
 * Opens the file, and takes from it the results of the points that it has.  It ends the process if
 * the file is of another sweep.
 */
FILE *soft_sweep_file_open(
    const char *path, char **program, struct soft_point *points, unsigned int count);

/* Adds the result of a point. */
void soft_sweep_file_add(FILE *file, const struct soft_point *point);

#endif
