/* SPDX-License-Identifier: BSD-3-Clause */
/* tables -- the scenarios of the provider */
#ifndef REARM_EXPLORE_TABLES_H
#define REARM_EXPLORE_TABLES_H

#include "scenario.h"

extern const struct scenario_text table_life[];
extern const unsigned int table_life_n;

/* A scenario drawn by lot: its texts are good until the next one is drawn. */
struct scenario_text table_chance_draw(unsigned int number);
extern const unsigned int table_chance_n; /* of a draw */

#endif
