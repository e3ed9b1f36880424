/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"
#include "patience.h"

#include <stdlib.h>
#include <string.h>

#include "softverbs/device/settings.h"
#include "other.h"

static char *factor_before;

void
patience_begin(void)
{
	const char *before = getenv("SOFTVERBS_TIME_FACTOR");

	factor_before = before ? strdup(before) : NULL;
}

void
patience_usual(void)
{
	if (factor_before)
		setenv("SOFTVERBS_TIME_FACTOR", factor_before, 1);
	else
		unsetenv("SOFTVERBS_TIME_FACTOR");
	ck_assert_int_eq(soft_settings_read(), 0);
}

void
patience_end(void)
{
	patience_usual();
	free(factor_before);
}

void
patience_set(const char *factor)
{
	setenv("SOFTVERBS_TIME_FACTOR", factor, 1);
	ck_assert_int_eq(soft_settings_read(), 0);
}

void
patience_fall_silent(void)
{
	other_stop();
	patience_set("0.05");
}
