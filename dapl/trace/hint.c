/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf() */
#include "dapl/trace/hint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl/trace/name.h"

/*
 * From dapl_hint() until the call returns, in memory of the heap: the loader has little room for
 * variables of threads.
 */
static __thread char *hint_detail;
static __thread const char *hint_call; /* another name than the one of the call, or NULL */

static void
hint_forget(void)
{
	free(hint_detail);
	hint_detail = NULL;
	hint_call = NULL;
}

void
dapl_hint(const char *format, ...)
{
	va_list args;

	if (!dapl_debug_wants(DAPL_DEBUG_HINTS))
		return;
	free(hint_detail);
	va_start(args, format);
	if (vasprintf(&hint_detail, format, args) < 0)
		hint_detail = NULL;
	va_end(args);
}

void
dapl_hint_name(const char *call)
{
	hint_call = call;
}

bool
dapl_hint_is_due(DAT_RETURN ret)
{
	switch ((unsigned int)DAT_GET_TYPE(ret)) {
	case DAT_SUCCESS:
	case DAT_QUEUE_EMPTY:
	case DAT_TIMEOUT_EXPIRED:
	case DAT_INTERRUPTED_CALL:
	case DAT_ABORT:
		hint_forget();
		return false;
	default:
		return true;
	}
}

static bool
hint_is_state(int subtype)
{
	return (subtype >= DAT_INVALID_STATE_EP_UNCONNECTED &&
		   subtype <= DAT_INVALID_STATE_EP_PROVIDERCONTROL) ||
	       (subtype >= DAT_INVALID_STATE_EP_UNCONFIGURED &&
		   subtype <= DAT_INVALID_STATE_EP_UNCONFTENTATIVE);
}

const char *
dapl_hint_find(const char *call, DAT_RETURN ret)
{
	const DAT_RETURN type = DAT_GET_TYPE(ret);
	const int subtype = (int)DAT_GET_SUBTYPE(ret);
	const char *handle = NULL;

	for (const struct dapl_hint_text *t = dapl_hint_texts; t->call; t++) {
		if (t->type != type || (*t->call && strcmp(t->call, call) != 0))
			continue;
		if (t->subtype == subtype)
			return t->text;
		if (type == DAT_INVALID_STATE && t->subtype == DAPL_HINT_STATE &&
		    hint_is_state(subtype))
			return t->text;
		/* A handle that is none of its kind may have another subtype, or none. */
		if (type == DAT_INVALID_HANDLE && !handle)
			handle = t->text;
	}
	return handle;
}

/* "argument 4, flags: ", if the code names an argument. */
static void
hint_name_argument(struct dapl_trace_line *line, const char *const *parameters, DAT_RETURN ret)
{
	const int n = (int)DAT_GET_SUBTYPE(ret) - DAT_INVALID_ARG1;

	if (DAT_GET_TYPE(ret) != DAT_INVALID_PARAMETER || n < 0 ||
	    n > DAT_INVALID_ARG10 - DAT_INVALID_ARG1)
		return;
	dapl_trace_add(line, "argument %d", n + 1);
	for (int i = 0; parameters[i]; i++)
		if (i == n && !hint_call)
			dapl_trace_add(line, ", %s", parameters[i]);
	dapl_trace_add(line, ": ");
}

void
dapl_hint_send(
    struct dapl_trace_line *line, const char *call, const char *const *parameters, DAT_RETURN ret)
{
	const char *type = dapl_name_return_type(ret), *subtype = dapl_name_return_subtype(ret);
	const char *name = hint_call ? hint_call : call;
	const char *text = dapl_hint_find(name, ret);

	dapl_trace_add(line, ") is refused, %s%s%s: ", type ? type : "?",
	    subtype && *subtype ? " " : "", subtype ? subtype : "?");
	hint_name_argument(line, parameters, ret);
	dapl_trace_add(line, "%s", text ? text : "the header does not list this code");
	if (hint_detail)
		dapl_trace_add(line, ": %s", hint_detail);
	dapl_debug_line(
	    "hint: %s%s%s", hint_call ? hint_call : "", hint_call ? ": " : "", line->text);
	hint_forget();
}
