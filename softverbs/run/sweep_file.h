/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_file -- the results of a sweep, of which an interrupted one goes on
 *
 * The first line is an object that describes the sweep, with its points; then there is one for each
 * point that was run, in the order of the points.  A file with the first line alone begins the same
 * sweep anew.
 */
#ifndef SOFT_RUN_SWEEP_FILE_H
#define SOFT_RUN_SWEEP_FILE_H

#include "sweep_plan.h"

#include <stdio.h>

/*
 * Opens the file.  One that has a first line has another plan, in place of `plan`, and the results
 * of points.  It ends the process if the file is of another sweep.
 */
FILE *soft_sweep_file_open(const char *path, char **program, struct soft_plan *plan);

/* Adds the result of a point. */
void soft_sweep_file_add(FILE *file, const struct soft_point *point);

#endif
