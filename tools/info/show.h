/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show -- everything about one adapter
 */
#ifndef REARM_TOOLS_INFO_SHOW_H
#define REARM_TOOLS_INFO_SHOW_H

#include <jansson.h>

/* An object; its member "opens" is false if the adapter cannot be opened, and "lines" has the reasons. */
json_t *show_report(const char *name);
void show_print(const json_t *report);

#endif
