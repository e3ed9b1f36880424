/* SPDX-License-Identifier: BSD-3-Clause */
/* family -- scenarios that are every combination of something */
#ifndef REARM_EXPLORE_FAMILY_H
#define REARM_EXPLORE_FAMILY_H

#include "scenario.h"

/* Adds it to the scenarios; the pointer is good until the next is added. */
struct scenario *family_add(const struct scenario_text *text);

void family_load(void);

/* The same for scenarios that were thought of one by one, which are played more often. */
void table_add(const struct scenario_text *texts, unsigned int n);

void table_rich_load(void);   /* much at once on one loop */
void table_fault_load(void);  /* what fails */
void table_lead_load(void);   /* waiters that read the shared channel */
void table_order_load(void);  /* several endpoints on an EVD */
void table_life_load(void);   /* slots that are used again */
void table_lock_load(void);   /* the shipped lock */
void table_chance_load(void); /* drawn by lot */

#endif
