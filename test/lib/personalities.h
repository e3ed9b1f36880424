/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * personalities -- the personalities of the software device, by name
 */
#ifndef DT_PERSONALITIES_H
#define DT_PERSONALITIES_H

static const char *const dt_personality_names[] = { "strict", "late", "spurious", "coalescing",
	"delayed" };
#define DT_PERSONALITIES (sizeof dt_personality_names / sizeof dt_personality_names[0])

#endif
