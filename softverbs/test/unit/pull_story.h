/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pull_story -- helpers of the tests of data that a process reads from the memory of another
 */
#ifndef SOFT_PULL_STORY_H
#define SOFT_PULL_STORY_H

#include "other.h"
#include "own.h"

#define LENGTH 65536 /* of a message that is pulled */

/* The other process tries whether the kernel lets it read our memory, and reports it. */
void pull_tell_whether_readable(void);
bool pull_hear_whether_readable(void);

#endif
