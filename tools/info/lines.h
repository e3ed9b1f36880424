/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines -- the lines that the libraries have for the log of a program
 *
 * The library says why a call failed, and what to do, in one line.  The reports of this program are
 * made of these.
 */
#ifndef REARM_TOOLS_INFO_LINES_H
#define REARM_TOOLS_INFO_LINES_H

#include <jansson.h>

#include <dat2/udat.h>

/*
 * From now on lines are kept, and not printed: errors, and what the registry says of dat.conf and
 * the libraries.  The variables for debug lines lose their values in this process.  Before the
 * first DAT call.
 */
void lines_start(void);

/*
 * Takes the errors, or the other lines, since the last time: an array of texts, without the name of
 * the library.
 */
json_t *lines_take_errors(void);
json_t *lines_take_notes(void);

/* The errors, or what the return value means if there is none. */
json_t *lines_explain(const char *call, DAT_RETURN ret);

#endif
