/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

struct side a, b;

static void
pair_begin(void)
{
	pair_make(&a, &b, NULL);
}

void
pair_end(void)
{
	pair_free(&a, &b);
}

const struct runner_case pair_case = { .setup = pair_begin, .teardown = pair_end };
