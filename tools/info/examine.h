/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * examine -- examines an adapter step by step, to a transfer whose data is compared
 */
#ifndef REARM_TOOLS_INFO_EXAMINE_H
#define REARM_TOOLS_INFO_EXAMINE_H

#include <stdbool.h>

#include "record.h"
#include "step.h"

struct subject {
	const char *name;
	bool asked;	/* by the user: everything about it */
	bool must_open; /* else it is not wrong if it cannot be opened */
	json_t *trial;	/* of trial_report(): what does not open there is not opened again */
	const DAT_REARM_RECORD *records;
	DAT_COUNT count;
};

/*
 * The members "ok": nothing is wrong; "works": it has transferred; "steps"; "output", what its
 * library wrote.
 */
json_t *examine_adapter(const struct subject *subject, bool quiet, bool verbose);

#endif
