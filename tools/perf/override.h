/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * override -- the provider of the command line, in the place of what dat.conf has
 */
#ifndef PERF_OVERRIDE_H
#define PERF_OVERRIDE_H

#include "options.h"

/* Before the adapter is opened. */
void override_provider(const struct options *options);

#endif
