/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call -- a call of DAT: traced, watched for hanging, and its code judged
 *
 *	struct call call;
 *
 *	call_begin(&call, CALL_EVD_FREE, &evd->life, NULL, 0);
 *	ret = call_end(&call, dat_evd_free(handle));
 *
 * What call_end() demands of every code: the headers name it; DAT_INVALID_HANDLE comes only when
 *one of the objects may have ended, and always when one had ended before the call; DAT_ABORT comes
 *only when the object may be ending.
 */
#ifndef REARM_HOSTILE_CALL_H
#define REARM_HOSTILE_CALL_H

#include "life.h"

struct trace_line;

struct call {
	enum dat_call which;
	struct life *on[4];
	int n;
	uint64_t begin, end;  /* stamps */
	unsigned int signals; /* that the thread had handled before */
	struct trace_line *line;
};

void call_begin(struct call *call, enum dat_call which, struct life *on, struct life *also,
		uint64_t detail);
/* It is about this one as well. */
void call_also(struct call *call, struct life *also);
/* The same of a call that may wait for an event. */
void call_begin_wait(struct call *call, enum dat_call which, struct life *on, struct life *also,
		     uint64_t detail);
DAT_RETURN call_end(struct call *call, DAT_RETURN ret);

/* How many calls were made, and how many succeeded. */
void call_print_counts(void);

#endif
