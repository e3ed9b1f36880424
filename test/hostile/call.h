/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call -- a DAT call: traced, watched for a hang, and its return code checked
 *
 *	struct call call;
 *
 *	call_begin(&call, CALL_EVD_FREE, &evd->life, NULL, 0);
 *	ret = call_end(&call, dat_evd_free(handle));
 *
 * call_end() checks every code.  The headers must allow it.  DAT_INVALID_HANDLE must come when an
 * object had ended before the call, and may come only when an object may have ended.  DAT_ABORT may
 * come only when the object may be ending.
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
	unsigned int signals; /* that the thread handled before the call */
	struct trace_line *line;
};

void call_begin(
    struct call *call, enum dat_call which, struct life *on, struct life *also, uint64_t detail);
/* Adds an object that the call refers to. */
void call_also(struct call *call, struct life *also);
/* The same for a call that may wait for an event. */
void call_begin_wait(
    struct call *call, enum dat_call which, struct life *on, struct life *also, uint64_t detail);
DAT_RETURN call_end(struct call *call, DAT_RETURN ret);

/* Prints how many calls were made, and how many succeeded. */
void call_print_counts(void);

#endif
