/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#define CALLS_ERRORS(...) \
	{ \
		__VA_ARGS__, 0 \
	}
/* The convention is a word of the table, and one of them is a macro: its value is never used. */
#define CALLS_LINE(name_, convention_, errors_, clause_) \
	{ .name = #name_, \
		.convention = SOFT_FAILS_##convention_, \
		.errors = CALLS_ERRORS errors_, \
		.clause = (clause_) },

/* clang-format off */
const struct soft_call_line soft_calls[SOFT_CALL_COUNT] = { SOFT_CALLS(CALLS_LINE) };
