/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout -- the page of statistics that a provider writes and dat_top reads, as it is in its file
 *
 * The file is EVD_STATS_FOLDER/EVD_STATS_PREFIX-PID-N, with N from 0 on: a process with both
 * providers has two.  Only its owner may read it.  It has a head and then rows, one for each EVD;
 * it has no holes.
 *
 * While the process lives it has a lock on the whole file, F_SETLK of fcntl(2), which the kernel
 * takes away at its end, and which a child of fork() does not have.  F_GETLK names the process by
 * its number as the reader knows it, or by 0 if the reader is in a PID namespace that does not have
 * it.  So the lock says whose the page is, and nothing else does: numbers of processes are of a
 * namespace and are used again, and any user may make a file of this name.  A program that has
 * closed descriptors that are not its own has lost the lock; then the page is that of the process
 * with `pid` and `started` in `pid_namespace`, if that also has the user of the file.
 *
 * The writer sets `begun` to the number of the new snapshot, then writes the snapshot, and then
 * sets `ended` to the same number.  A reader reads the file three times: the second reading is a
 * whole snapshot if `ended` in the first is `begun` in the third.  Before the first snapshot both
 * are 0.
 *
 * Any change of the layout is a new version.  Everything is in the byte order of the machine.
 */
#ifndef REARM_EVD_STATS_LAYOUT_H
#define REARM_EVD_STATS_LAYOUT_H

#include <stdint.h>

#define EVD_STATS_FOLDER "/dev/shm"
#define EVD_STATS_PREFIX "rearm-stats"
#define EVD_STATS_PAGES 10 /* of a process, at most */
#define EVD_STATS_MAGIC 0x544154534d524152u
#define EVD_STATS_VERSION 2u
#define EVD_STATS_NAME 64
#define EVD_STATS_UNKNOWN UINT64_MAX
#define EVD_STATS_ROWS_MAX 65536u /* of a page; other EVDs are missing */

struct evd_stats_head {
	uint64_t magic; /* written last */
	uint32_t version, head_size, row_size, reserved;
	uint64_t pid;		/* in its namespace */
	uint64_t pid_namespace; /* the inode of /proc/self/ns/pid; 0: not known */
	uint64_t started;	/* when the process began: field 22 of /proc/PID/stat */
	uint64_t interval_ms;	/* from one snapshot to the next */
	uint64_t begun, ended;	/* numbers of snapshots */
	/* The snapshot from here on. */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t count;	  /* rows */
	uint64_t missing; /* EVDs for which there was no room */
};

/* What a queue of librearm gets; as DAT_EVD_FLAGS have it. */
enum evd_stats_flag {
	EVD_STATS_COMPLETIONS = 0x020,
	EVD_STATS_CONNECTIONS = 0x040,
	EVD_STATS_ASYNC = 0x100
};

/* Counts are since the EVD was created.  The queue of a program on librearm is one, too. */
struct evd_stats_row {
	uint64_t evd, serial,
	    ia; /* handles; an EVD with the same handle and another number is another EVD */
	char adapter[EVD_STATS_NAME]; /* its name in dat.conf, with a zero at the end */
	uint64_t flags;		      /* DAT_EVD_FLAGS, or enum evd_stats_flag */
	uint64_t policy;	      /* DAT_UPCALL_POLICY */
	uint64_t has_cno;
	uint64_t length;	   /* events that the queue holds */
	uint64_t depth, max_depth; /* events that are queued; the most that ever were */
	uint64_t dto_events, connection_events, cr_events, software_events, async_events;
	uint64_t upcalls, notifications, spurious, arms, arm_failures, races, busy, overflows;
	uint64_t waits, sleeps, dequeues, dequeued, polls, polls_found;
	/*
	 * Requests that found no receive posted at the other end; EVD_STATS_UNKNOWN: the device
	 * does not say.
	 */
	uint64_t rnr_stalls;
	uint64_t slow_us; /* an upcall that takes longer is slow; 0: none is */
	uint64_t slow_upcalls;
};

_Static_assert(sizeof(struct evd_stats_head) % sizeof(uint64_t) == 0, "whole words");
_Static_assert(sizeof(struct evd_stats_row) % sizeof(uint64_t) == 0, "whole words");

#endif
