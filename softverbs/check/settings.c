/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"
#include "tally.h"

#include <stdlib.h>
#include <string.h>

struct soft_check_settings soft_check_settings;

/* A copy: programs change their environment. */
static const char *
settings_text(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value && *value ? strdup(value) : NULL;
}

/* softverbs-run has checked the number. */
static double
settings_number(const char *variable, double otherwise)
{
	const char *value = secure_getenv(variable);

	return value && *value ? strtod(value, NULL) : otherwise;
}

bool
soft_check_settings_read(void)
{
	const char *check = secure_getenv("SOFTVERBS_CHECK"), *seed, *schedule;
	char error[128];

	if (!check || !*check)
		return false;
	seed = secure_getenv("SOFTVERBS_CHECK_SEED");
	soft_check_settings = (struct soft_check_settings){
		.json = !strcmp(check, "json"),
		.arms_fail = settings_number("SOFTVERBS_CHECK_ARM", 0) > 0,
		.seed = seed ? strtoull(seed, NULL, 10) : 1,
		.stranded_after =
		    (uint64_t)(settings_number("SOFTVERBS_CHECK_STRANDED", 2) * SOFT_SECOND),
		.timeout = (uint64_t)(settings_number("SOFTVERBS_CHECK_TIMEOUT", 60) * SOFT_SECOND),
		.report = settings_text("SOFTVERBS_CHECK_REPORT"),
		.replay = settings_text("SOFTVERBS_CHECK_REPLAY"),
		.program = settings_text("SOFTVERBS_CHECK_PROGRAM"),
	};
	soft_tally_open(secure_getenv("SOFTVERBS_CHECK_TALLY"));
	schedule = secure_getenv("SOFTVERBS_CHECK_SCHEDULE");
	/* softverbs-run has checked it, too. */
	if (schedule && !soft_moves_read(schedule, &soft_check_settings.moves, error, sizeof error))
		soft_check_settings.moves = (struct soft_moves){ 0 };
	return true;
}
