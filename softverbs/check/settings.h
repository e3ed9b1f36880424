/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings -- what softverbs-run asks the checker for, in the environment
 *
 * SOFTVERBS_CHECK           text or json: programs are checked
 * SOFTVERBS_CHECK_SEED      of the schedules
 * SOFTVERBS_CHECK_SCHEDULE  the moves that are made
 * SOFTVERBS_CHECK_STRANDED  seconds after which a completion is stranded
 * SOFTVERBS_CHECK_TIMEOUT   seconds after which a program that hangs is ended
 * SOFTVERBS_CHECK_ARM       1: some requests for notification fail
 * SOFTVERBS_CHECK_REPORT    the file of the reports
 * SOFTVERBS_CHECK_TALLY     the file of tally.h
 * SOFTVERBS_CHECK_REPLAY    the command that repeats the run, up to its last option
 * SOFTVERBS_CHECK_PROGRAM   the rest of it
 */
#ifndef SOFT_CHECK_SETTINGS_H
#define SOFT_CHECK_SETTINGS_H

#include "moves.h"
#include "softverbs/device/soft.h"

#define SOFT_CHECK_SECONDS_MAX 1000000000u

struct soft_check_settings {
	bool json;
	bool arms_fail;
	uint64_t seed;
	struct soft_moves moves;
	uint64_t stranded_after; /* nanoseconds */
	uint64_t timeout;	 /* nanoseconds */
	const char *report;	 /* NULL: standard error */
	const char *replay;	 /* NULL: unknown */
	const char *program;	 /* likewise */
};

/* Constant after soft_check_settings_read(). */
extern struct soft_check_settings soft_check_settings;

/*
 * Returns whether programs are checked.  The environment of the whole program is constant
 * meanwhile.
 */
bool soft_check_settings_read(void);

#endif
