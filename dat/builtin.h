/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builtin -- the record that needs no file: the software device
 *
 * It is used unless DAT_OVERRIDE is set, or dat.conf has a record of its name.
 */
#ifndef REARM_DAT_BUILTIN_H
#define REARM_DAT_BUILTIN_H

#include <limits.h>

#include "dat/conf.h"

#define BUILTIN_NAME "rearm-soft"

/* Fills in the record.  Its strings are constant, or in `path`. */
void builtin_record(struct conf_record *record, char path[static PATH_MAX]);

#endif
