/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "cmd.h"

/* Posts one operation again and again, as many at once as the pipeline is long. */
bool
cmd_performance(struct cmd_end *end, const struct cmd_options *options)
{
	const struct cmd_request *request = &options->request;
	const struct cmd_op *op = &request->ops[0];
	const size_t length = (size_t)op->size * op->segments;
	uint32_t posted = 0, reaped = 0;
	double seconds = cmd_seconds();

	while (reaped < request->iterations) {
		while (
		    posted < request->iterations && posted - reaped < (uint32_t)options->pipeline) {
			if (!cmd_end_post(
				end, op->kind, CMD_HEADER, op->size, op->segments, posted))
				return false;
			posted++;
		}
		if (!cmd_end_reap(end, end->request, reaped, length))
			return false;
		reaped++;
	}
	seconds = cmd_seconds() - seconds;
	printf("performance: %s %u x %u bytes, %s, pipeline %d: %u in %.3f s, %.0f/s, %.1f MB/s\n",
	    op->kind == CMD_READ ? "RR" : "RW", op->segments, op->size,
	    request->poll ? "polling" : "blocking", options->pipeline, reaped, seconds,
	    reaped / seconds, (double)length * reaped / seconds / 1e6);
	return cmd_end_post(end, CMD_SEND, 64, 1, 1, 1) && cmd_end_reap(end, end->request, 1, 1);
}
