/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state -- what this process has, for softverbs-ctl: an object of JSON a line, each flat
 *
 * softverbs-ctl(1) describes the members.  On the progress thread.
 */
#ifndef SOFT_CONTROL_STATE_H
#define SOFT_CONTROL_STATE_H

#include "softverbs/device/soft.h"

#include <stdio.h>

void soft_state_print(FILE *stream);

/* Whether the process has this number, this command, or this name of record.h. */
bool soft_state_is_of(const char *process);

#endif
