/* SPDX-License-Identifier: BSD-3-Clause */
#include "soft/device/context.h"
#include "soft/soft_arm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	[SOFT_STRICT] = "strict",
	[SOFT_LATE] = "late",
	[SOFT_SPURIOUS] = "spurious",
	[SOFT_COALESCING] = "coalescing",
	[SOFT_DELAYED] = "delayed",
};

static atomic_int chosen = -1; /* by the program; it goes before the environment */

/* The personality called `name`, or -EINVAL. */
static int
parse(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i]))
			return (int)i;
	return -EINVAL;
}

int
soft_personality_choose(const char *name)
{
	int personality = parse(name);

	if (personality < 0)
		return personality;
	chosen = personality;
	return 0;
}

int
soft_personality_from_environment(void)
{
	const char *name = secure_getenv("SOFTVERBS_PERSONALITY");
	int personality = chosen;

	if (personality >= 0)
		return personality;
	if (!name || !*name)
		return SOFT_STRICT;
	personality = parse(name);
	if (personality < 0)
		fprintf(stderr,
		    "softverbs: SOFTVERBS_PERSONALITY=%s: not one of strict, late, spurious, "
		    "coalescing, delayed\n",
		    name);
	return personality;
}
