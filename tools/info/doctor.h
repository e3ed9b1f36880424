/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doctor -- examines a host step by step, from dat.conf to a transfer whose data is compared
 */
#ifndef REARM_TOOLS_INFO_DOCTOR_H
#define REARM_TOOLS_INFO_DOCTOR_H

#include <stdbool.h>

#include <jansson.h>

/*
 * Examines the adapters with these names; without any, each name of dat.conf.  Prints every step when it has been
 * made, unless `quiet`.  The member "ok" is true if nothing is wrong and each adapter has transferred.
 */
json_t *doctor_report(char *const names[], bool quiet);

#endif
