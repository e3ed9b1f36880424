/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result -- what an end has measured
 */
#ifndef PERF_RESULT_H
#define PERF_RESULT_H

#include "end.h"

struct result {
	uint64_t messages; /* that count */
	uint64_t elapsed;  /* ns */
	uint64_t cpu;	   /* ns of the threads of the end */
	uint64_t process;  /* ns of all threads of the process */
	struct histogram latencies;
};

void result_read(struct result *result, const struct end *end);

/* A new object. */
json_t *result_pack(const struct result *result);

/* Returns 0, or -1 if the object is not what result_pack() makes. */
int result_unpack(json_t *object, struct result *result);

#endif
