/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapping -- what the process may do with its memory
 */
#ifndef SOFT_MAPPING_H
#define SOFT_MAPPING_H

#include "softverbs/device/soft.h"

/*
 * 0 if the process may read, or with `write` write, every byte of the range now; -EFAULT if not.
 * Brings in no page but the last one of a mapped file.  Not a cancellation point.
 */
int soft_mapping_check(const void *address, size_t length, bool write);

#endif
