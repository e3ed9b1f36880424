/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table -- the list of the adapters for people
 */
#ifndef REARM_TOOLS_INFO_TABLE_H
#define REARM_TOOLS_INFO_TABLE_H

#include <jansson.h>

/*
 * Prints the report of record_report(): one line for each record, first those that open or have a
 * provider of Rearm; below, the reasons.
 */
void table_print(const json_t *report);

/* Prints everything about each record, in the order of the file. */
void table_print_all(const json_t *report);

#endif
