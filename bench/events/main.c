/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event-engine list: prints the workloads, and the engines that each is for.
 * event-engine ENGINE WORKLOAD: measures one workload of one engine; bench-events runs it, under
 * callgrind, strace or neither, with the libraries that are to be measured.
 */
#include "workload.h"

#include "measure.h"

#include <stdio.h>
#include <string.h>

static const struct engine *const engines[] = { &engine_dat, &engine_raw1, &engine_raw16,
	&engine_librearm };

enum {
	RAW = 1,
	DAPL = 2,
	REARM = 4,
	DAT = DAPL | REARM,
	LIB = 8, /* librearm */
	VERBS = RAW | LIB,
	ALL = RAW | DAT,
};

static const struct workload {
	const char *name;
	workload_run *run;
	unsigned int engines;
	enum queue_kind kind;
	unsigned int n;
} workloads[] = {
	{ "dequeue", stream_backlog, ALL | LIB, QUEUE_PLAIN, 0 },
	{ "dequeue-merged", stream_backlog, DAT, QUEUE_MERGED, 0 },
	{ "dequeue-n-16", stream_backlog, REARM, QUEUE_PLAIN, 16 },
	{ "dequeue-n-16-merged", stream_backlog, REARM, QUEUE_MERGED, 16 },
	{ "dequeue-bursts-16", stream_bursts, ALL | LIB, QUEUE_PLAIN, 16 },
	{ "dequeue-bursts-16-merged", stream_bursts, DAT, QUEUE_MERGED, 16 },
	{ "dequeue-bursts-1", stream_bursts, ALL | LIB, QUEUE_PLAIN, 1 },
	{ "dequeue-bursts-1-merged", stream_bursts, DAT, QUEUE_MERGED, 1 },
	{ "wait-backlog", stream_wait, ALL | LIB, QUEUE_PLAIN, 0 },
	{ "wait-backlog-merged", stream_wait, DAT, QUEUE_MERGED, 0 },
	{ "post-se", stream_software, DAT, QUEUE_SOFTWARE, 0 },
	{ "post-se-merged", stream_software, DAT, QUEUE_MERGED, 0 },
	{ "post-recv", stream_receive, ALL, QUEUE_PLAIN, 0 },
	{ "post-send", stream_send, ALL, QUEUE_PLAIN, 0 },
	{ "upcall-single", upcall_backlog_single, REARM, QUEUE_PLAIN, 0 },
	{ "upcall-single-merged", upcall_backlog_single, REARM, QUEUE_MERGED, 0 },
	{ "upcall-array-16", upcall_backlog_array, REARM, QUEUE_PLAIN, 16 },
	{ "upcall-array-16-merged", upcall_backlog_array, REARM, QUEUE_MERGED, 16 },
	{ "callback-1", upcall_callback, LIB, QUEUE_PLAIN, 1 },
	{ "callback-16", upcall_callback, LIB, QUEUE_PLAIN, 16 },
	{ "callback-idle-1", upcall_callback_idle, LIB, QUEUE_PLAIN, 16 },
	{ "upcall-many", upcall_backlog_many, REARM, QUEUE_PLAIN, 0 },
	{ "upcall-many-merged", upcall_backlog_many, REARM, QUEUE_MERGED, 0 },
	{ "upcall-single-idle-1", upcall_idle_single, REARM, QUEUE_PLAIN, 1 },
	{ "upcall-single-idle-16", upcall_idle_single, REARM, QUEUE_PLAIN, 16 },
	{ "upcall-many-idle-1", upcall_idle_many, REARM, QUEUE_PLAIN, 1 },
	{ "upcall-many-idle-16", upcall_idle_many, REARM, QUEUE_PLAIN, 16 },
	{ "upcall-notify-idle-1", upcall_idle_notify, REARM, QUEUE_PLAIN, 1 },
	{ "upcall-notify-idle-16", upcall_idle_notify, REARM, QUEUE_PLAIN, 16 },
	{ "switching-1", upcall_switching, REARM, QUEUE_PLAIN, 1 },
	{ "switching-8", upcall_switching, REARM, QUEUE_PLAIN, 8 },
	{ "switching-64", upcall_switching, REARM, QUEUE_PLAIN, 64 },
	{ "switching-1000", upcall_switching, REARM, QUEUE_PLAIN, 1000 },
	{ "switching-private-1", upcall_switching_private, REARM, QUEUE_PLAIN, 1 },
	{ "switching-8-merged", upcall_switching, REARM, QUEUE_MERGED, 8 },
	{ "wait", sleep_wait, ALL | LIB, QUEUE_PLAIN, 0 },
	{ "wait-merged", sleep_wait, REARM, QUEUE_MERGED, 0 },
	{ "cno-1", sleep_cno, ALL, QUEUE_PLAIN, 1 },
	{ "cno-16", sleep_cno, ALL, QUEUE_PLAIN, 16 },
	{ "cno-256", sleep_cno, ALL, QUEUE_PLAIN, 256 },
	{ "many-1", many_busy, RAW | REARM, QUEUE_PLAIN, 1 },
	{ "many-100", many_busy, RAW | REARM, QUEUE_PLAIN, 100 },
	{ "many-10000", many_busy, RAW | REARM, QUEUE_PLAIN, 10000 },
	{ "idle-1000", many_idle, ALL, QUEUE_PLAIN, 1000 },
	{ "idle-upcalls-10000", many_idle_upcalls, REARM, QUEUE_PLAIN, 10000 },
	{ "connect", rate_connections, ALL, QUEUE_PLAIN, 0 },
	{ "time-dequeue", stream_backlog, ALL, QUEUE_PLAIN, 0 },
	{ "time-wait-backlog", stream_wait, ALL, QUEUE_PLAIN, 0 },
	{ "time-post-recv", stream_receive, ALL, QUEUE_PLAIN, 0 },
	{ "time-open", rate_open, DAT, QUEUE_PLAIN, 0 },
	{ "time-ping", ping_pong, ALL | LIB, QUEUE_PLAIN, 0 },
	{ "time-ping-spin", ping_pong_spin, RAW, QUEUE_PLAIN, 0 },
	{ "time-ping-eventfd", ping_pong_eventfd, RAW, QUEUE_PLAIN, 0 },
	{ "time-stream", ping_stream, VERBS, QUEUE_PLAIN, 0 },
	{ "time-connections", rate_connections, ALL, QUEUE_PLAIN, 0 },
	{ "time-upcalls", rate_upcalls, REARM, QUEUE_PLAIN, 0 },
};

static void
list(void)
{
	for (unsigned int w = 0; w < sizeof workloads / sizeof *workloads; w++)
		printf("%s%s%s%s%s\n", workloads[w].name,
		    workloads[w].engines & RAW ? " raw16 raw1" : "",
		    workloads[w].engines & DAPL ? " dapl" : "",
		    workloads[w].engines & REARM ? " rearm" : "",
		    workloads[w].engines & LIB ? " librearm" : "");
}

int
main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "list")) {
		list();
		return 0;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: event-engine ENGINE WORKLOAD\n");
		return 2;
	}
	for (unsigned int e = 0; e < sizeof engines / sizeof *engines; e++)
		for (unsigned int w = 0; w < sizeof workloads / sizeof *workloads; w++)
			if (!strcmp(engines[e]->name, argv[1]) &&
			    !strcmp(workloads[w].name, argv[2])) {
				workloads[w].run(engines[e], workloads[w].kind, workloads[w].n);
				measure_report(argv[1], argv[2]);
			}
	fprintf(stderr, "event-engine: there is no workload %s of engine %s\n", argv[2], argv[1]);
	return 2;
}
