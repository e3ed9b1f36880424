/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output -- what libraries write to the standard streams while an adapter is tried
 *
 * Providers of others report their failures there.  This program must not mix that with its own
 * text or JSON.
 */
#ifndef REARM_TOOLS_INFO_OUTPUT_H
#define REARM_TOOLS_INFO_OUTPUT_H

#include <jansson.h>

/*
 * From now on both streams of this process, and of processes that it forks, are kept.  Without
 * descriptors for that they stay what they are.  One thread only, and not twice.
 */
void output_begin(void);

/* The streams are what they were; returns the lines that were kept: an array of texts. */
json_t *output_end(void);

/* The descriptor of the real standard error, also in between, for a signal handler. */
int output_error(void);

#endif
