/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

const struct engine *
engine_find(const char *name)
{
	static const struct engine *const engines[] = { &engine_dat, &engine_verbs };

	for (unsigned int i = 0; i < sizeof engines / sizeof *engines; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}
