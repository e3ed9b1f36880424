/* SPDX-License-Identifier: BSD-3-Clause */
/* family -- scenarios that are every combination of something */
#ifndef REARM_EXPLORE_FAMILY_H
#define REARM_EXPLORE_FAMILY_H

#include "scenario.h"

/* Adds it to the scenarios; the pointer is good until the next is added. */
struct scenario *family_add(const struct scenario_text *text);

void family_load(void);

#endif
