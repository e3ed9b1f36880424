/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show -- everything about one adapter
 */
#ifndef REARM_TOOLS_INFO_SHOW_H
#define REARM_TOOLS_INFO_SHOW_H

#include <jansson.h>

/*
 * An object; its member "opens" is false if the adapter cannot be opened, "lines" has the reasons,
 * and "output" what its library wrote.  `trial` is that of trial_report(): what does not open there
 * is not opened here.
 */
json_t *show_report(const char *name, const json_t *trial);
void show_print(const json_t *report);

#endif
