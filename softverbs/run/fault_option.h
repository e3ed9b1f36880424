/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_option -- the options of softverbs-run that let calls fail
 */
#ifndef SOFT_RUN_FAULT_OPTION_H
#define SOFT_RUN_FAULT_OPTION_H

#include <config.h>

#include "softverbs/fault/rule.h"

#include <argp.h>
#include <stdbool.h>

struct soft_fault_options {
	bool faults;  /* there are rules; they are in SOFTVERBS_FAULTS */
	bool control; /* of softverbs-ctl */
	bool sweep;
	struct soft_rules calls;	      /* that the sweep lets fail; none: all */
	const char *calls_text;		      /* of --calls, or NULL */
	const char *compare;		      /* a command, or NULL */
	const char *json;		      /* a file, or NULL */
	unsigned int depth, jobs, hang_after; /* seconds */
};

/* Constant after argp_parse(). */
extern struct soft_fault_options soft_fault_options;

/* A child of the parser of softverbs-run. */
extern const struct argp soft_fault_argp;

#endif
