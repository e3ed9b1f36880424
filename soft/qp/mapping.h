/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapping -- what the process may do with its memory
 */
#ifndef SOFT_MAPPING_H
#define SOFT_MAPPING_H

#include "soft/device/soft.h"

/*
 * 0 if the process may read, or with `write` write, every byte of the range now; -EFAULT if
 * not.  No page is brought in for it, but for the last one of a file that is mapped.  No
 * cancellation point.
 */
int soft_mapping_check(const void *address, size_t length, bool write);

#endif
