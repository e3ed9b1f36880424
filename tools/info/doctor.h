/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doctor -- examines a host step by step, from dat.conf to a transfer whose data is compared
 */
#ifndef REARM_TOOLS_INFO_DOCTOR_H
#define REARM_TOOLS_INFO_DOCTOR_H

#include <stdbool.h>

#include <jansson.h>

/*
 * Examines the adapters with these names; without any, each name of dat.conf, and a name of another
 * provider that cannot be opened is then not wrong.  Prints every step when it has been made,
 * unless `quiet`; `verbose`: also what libraries wrote, and each name by itself.  The member "ok"
 * is true if nothing is wrong and an adapter has transferred; "summary" is a line for people.  Of
 * an adapter "ok" is true if nothing is wrong with it.
 */
json_t *doctor_report(char *const names[], bool quiet, bool verbose);

#endif
