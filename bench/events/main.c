/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event-engine ENGINE WORKLOAD: measures one workload of one engine; bench-events runs it, under callgrind, strace or
 * neither, with the libraries that are to be measured.
 */
#include "workload.h"

#include "measure.h"

#include <stdio.h>
#include <string.h>

static const struct engine *const engines[] = { &engine_dat, &engine_raw1, &engine_raw16 };

static const struct workload {
	const char *name;
	workload_run *run;
	bool merged;
	unsigned int n;
} workloads[] = {
	{ "dequeue", stream_backlog, false, 0 },
	{ "dequeue-merged", stream_backlog, true, 0 },
	{ "dequeue-bursts-16", stream_bursts, false, 16 },
	{ "dequeue-bursts-16-merged", stream_bursts, true, 16 },
	{ "dequeue-bursts-1", stream_bursts, false, 1 },
	{ "dequeue-bursts-1-merged", stream_bursts, true, 1 },
	{ "wait-backlog", stream_wait, false, 0 },
	{ "wait-backlog-merged", stream_wait, true, 0 },
	{ "post-se", stream_software, true, 0 },
	{ "post-recv", stream_receive, false, 0 },
	{ "post-send", stream_send, false, 0 },
};

int
main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (unsigned int w = 0; w < sizeof workloads / sizeof *workloads; w++)
			puts(workloads[w].name);
		return 0;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: event-engine ENGINE WORKLOAD\n");
		return 2;
	}
	for (unsigned int e = 0; e < sizeof engines / sizeof *engines; e++)
		for (unsigned int w = 0; w < sizeof workloads / sizeof *workloads; w++)
			if (!strcmp(engines[e]->name, argv[1]) && !strcmp(workloads[w].name, argv[2])) {
				workloads[w].run(engines[e], workloads[w].merged, workloads[w].n);
				measure_report(argv[1], argv[2]);
			}
	fprintf(stderr, "event-engine: there is no workload %s of engine %s\n", argv[2], argv[1]);
	return 2;
}
