/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory -- the memory that another process offers for the rings of a link
 *
 * The other process names a descriptor of its own, and this process opens what it stands for,
 * through /proc.  It does not receive the descriptor: one that is received may be anything, and
 * closing it may wait for its sender.
 */
#ifndef SOFT_MEMORY_H
#define SOFT_MEMORY_H

#include "softverbs/device/soft.h"

#include <sys/types.h>

/*
 * Opens memory of memfd_create() that the process `pid` has as descriptor `number`: a descriptor
 * with a description of its own, or -errno.  Nothing else is opened, whatever the number stands
 * for.
 */
int soft_memory_open(pid_t pid, uint32_t number);

#endif
