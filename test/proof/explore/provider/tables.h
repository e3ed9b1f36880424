/* SPDX-License-Identifier: BSD-3-Clause */
/* tables -- the scenarios of the provider */
#ifndef REARM_EXPLORE_TABLES_H
#define REARM_EXPLORE_TABLES_H

#include "scenario.h"

extern const struct scenario_text table_life[];
extern const unsigned int table_life_n;

#endif
