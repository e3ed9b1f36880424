/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout -- the page of statistics that a provider writes and dat_top reads, as it is in its file
 *
 * The file is DAPL_STATS_FOLDER/DAPL_STATS_PREFIX-PID-N, with N from 0 on: a process with both providers has
 * two.  Only its owner may read it.  It has a head and then rows, one for each EVD.
 *
 * The writer sets `begun` to the number of the new snapshot, then writes the snapshot, and then sets `ended`
 * to the same number.  A reader reads the file three times: the second reading is a whole snapshot if `ended` in
 * the first is `begun` in the third.  Before the first snapshot both are 0.
 *
 * Any change of the layout is a new version.  Everything is in the byte order of the machine.
 */
#ifndef REARM_DAPL_LAYOUT_H
#define REARM_DAPL_LAYOUT_H

#include <stdint.h>

#define DAPL_STATS_FOLDER "/dev/shm"
#define DAPL_STATS_PREFIX "rearm-stats"
#define DAPL_STATS_PAGES 10 /* of a process, at most */
#define DAPL_STATS_MAGIC 0x544154534d524152u
#define DAPL_STATS_VERSION 1u
#define DAPL_STATS_NAME 64

struct dapl_stats_head {
	uint64_t magic; /* written last */
	uint32_t version, head_size, row_size, reserved;
	uint64_t pid;
	uint64_t started;      /* when the process began: field 22 of /proc/PID/stat */
	uint64_t interval_ms;  /* from one snapshot to the next */
	uint64_t begun, ended; /* numbers of snapshots */
	/* The snapshot from here on. */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t count;	  /* rows */
	uint64_t missing; /* EVDs for which there was no room */
};

/* Counts are since the EVD was created. */
struct dapl_stats_row {
	uint64_t evd, serial,
	    ia; /* handles; an EVD with the same handle and another number is another EVD */
	char adapter[DAPL_STATS_NAME]; /* its name in dat.conf, with a zero at the end */
	uint64_t flags;		       /* DAT_EVD_FLAGS */
	uint64_t policy;	       /* DAT_UPCALL_POLICY */
	uint64_t has_cno;
	uint64_t length;	   /* events that the queue holds */
	uint64_t depth, max_depth; /* events that are queued; the most that ever were */
	uint64_t dto_events, connection_events, cr_events, software_events, async_events;
	uint64_t upcalls, notifications, spurious, arms, arm_failures, races, busy, overflows;
	uint64_t waits, sleeps, dequeues, dequeued, polls, polls_found;
	uint64_t slow_us; /* an upcall that takes longer is slow; 0: none is */
	uint64_t slow_upcalls;
};

_Static_assert(sizeof(struct dapl_stats_head) % sizeof(uint64_t) == 0, "whole words");
_Static_assert(sizeof(struct dapl_stats_row) % sizeof(uint64_t) == 0, "whole words");

#endif
