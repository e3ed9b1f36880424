/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hint -- why a call was refused: one line, with DAT_DBG_TYPE=hints
 *
 * The line has the call with its arguments, the code, and what the header of the call says about
 * that code: the texts are taken from there (hint_text.c).  Where the code does not say enough, the
 * place that refuses adds a detail.
 */
#ifndef REARM_DAPL_HINT_H
#define REARM_DAPL_HINT_H

#include <dat2/udat.h>

#include "dapl/trace/debug.h"
#include "dapl/trace/trace_line.h"

/* In place of a subtype: that of the state of the endpoint. */
#define DAPL_HINT_STATE (-1)

/* A call "" stands for all calls.  The table ends with an entry without a call. */
struct dapl_hint_text {
	const char *call;
	DAT_RETURN type;
	int subtype;
	const char *text;
};
extern const struct dapl_hint_text dapl_hint_texts[];

/* What the header says about the code, or NULL if it does not list it. */
const char *dapl_hint_find(const char *call, DAT_RETURN ret);

/* Adds to the line of the call that this thread makes, which returns an error now. */
void dapl_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on until its end, the call of this thread is known by this name. */
void dapl_hint_name(const char *call);

/*
 * Whether such a code gets a line: not one that says that nothing has come, or that a wait has
 * ended.
 */
bool dapl_hint_is_due(DAT_RETURN ret);

/*
 * Prints the line.  `line` has the call with its arguments; `parameters`, which ends with NULL, the
 * names of these.
 */
void dapl_hint_send(
    struct dapl_trace_line *line, const char *call, const char *const *parameters, DAT_RETURN ret);

#endif
