/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * option_file -- the text that an option of softverbs-run takes from a file
 */
#ifndef SOFT_OPTION_FILE_H
#define SOFT_OPTION_FILE_H

#include <argp.h>

/* The text; allocated.  What is none, or too long, ends the process with a line. */
char *soft_option_read_file(const char *option, const char *name, struct argp_state *state);

#endif
