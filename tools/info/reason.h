/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reason -- why adapters cannot be opened: each reason once, with the names for which it holds
 */
#ifndef REARM_TOOLS_INFO_REASON_H
#define REARM_TOOLS_INFO_REASON_H

#include <jansson.h>

/*
 * Adds the lines about the adapter to an object, in which each text has a { "text", "names" }, in
 * the order in which they came.  `place` is that of its record, or NULL: what is different for each
 * record does not make two reasons.
 */
void reason_add(json_t *reasons, const json_t *lines, const char *name, const char *place);

/* "a, b and 3 more": the names, or the first few. */
json_t *reason_list(const json_t *names);

/* "1 name", "2 names" */
json_t *reason_count(const json_t *names);

#endif
