/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trial -- whether an adapter can be opened, tried in a process of its own
 *
 * A library that crashes or blocks does not keep others from the report.
 */
#ifndef REARM_TOOLS_INFO_TRIAL_H
#define REARM_TOOLS_INFO_TRIAL_H

#include <stdbool.h>

#include <jansson.h>

/*
 * Opens and closes the adapter once; *thread_safe: that kind of record only.  Returns an object:
 * "opens"; "lines", the reasons; "notes", what the registry did; "output", what was written to the
 * standard streams; and "device" if it opens.  `library` is for a reason, or NULL.  Before this
 * process has opened an adapter.
 */
json_t *trial_report(const char *name, const bool *thread_safe, const char *library);

bool trial_opens(const json_t *trial);

#endif
