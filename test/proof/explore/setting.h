/* SPDX-License-Identifier: BSD-3-Clause */
/* setting -- a value that calls set; after two calls at once it is unknown */
#ifndef REARM_EXPLORE_SETTING_H
#define REARM_EXPLORE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

struct setting {
	uint64_t value;
	int busy;
	bool unknown;
};

static inline void
setting_begins(struct setting *s)
{
	s->unknown |= s->busy++ > 0;
}

static inline void
setting_ends(struct setting *s, bool done, uint64_t value)
{
	s->busy--;
	if (done)
		s->value = value;
}

#endif
