/* SPDX-License-Identifier: BSD-3-Clause */
#include "asleep.h"
#include "story.h"

#include <stdio.h>
#include <string.h>

void
await_asleep(int id)
{
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
	while (!strstr(text, ") S")) {
		file = fopen(path, "re");
		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
		fclose(file);
	}
}
