/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair -- the two sides of a test, connected to each other
 */
#ifndef SOFT_PAIR_H
#define SOFT_PAIR_H

#include "story.h"

extern struct side a, b;

/* A case whose tests find them made without options; its teardown alone frees them. */
extern const struct runner_case pair_case;
#define PAIR_CASE(...) CASE(__VA_ARGS__, .outer = &pair_case)
void pair_end(void);

#endif
