/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record -- the records of dat.conf, and which of them can be opened
 */
#ifndef REARM_TOOLS_INFO_RECORD_H
#define REARM_TOOLS_INFO_RECORD_H

#include <stdbool.h>

#include <jansson.h>

#include <dat2/dat_registry.h>

/* All records; the caller frees the list.  NULL after a failure, with *ret. */
DAT_REARM_RECORD *record_list(DAT_COUNT *count, DAT_RETURN *ret);

/* Whether programs in user space can ask for the name of the record. */
bool record_is_for_programs(const DAT_REARM_RECORD *record);

/*
 * Whether its library is a provider of Rearm: by the name of the file, because it may not be there.
 */
bool record_is_ours(const DAT_REARM_RECORD *record);

/* The names that they can ask for, each once. */
json_t *record_names(const DAT_REARM_RECORD *records, DAT_COUNT count);

/* Where a record is: "FILE:LINE" or "built in". */
json_t *record_place(const DAT_REARM_RECORD *record);

/*
 * What keeps programs from the record before any library is loaded, or NULL.  `earlier` are those
 * in front of it.
 */
json_t *record_obstacle(const DAT_REARM_RECORD *record, const DAT_REARM_RECORD *earlier);

/* The records as an array; each is opened once. */
json_t *record_report(const DAT_REARM_RECORD *records, DAT_COUNT count);

#endif
