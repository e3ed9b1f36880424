/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"
#include "softverbs/device/number.h"
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

bool
soft_check_settings_read(void)
{
	const char *check = secure_getenv("SOFTVERBS_CHECK"), *schedule;
	char error[128];

	if (!check || !*check)
		return false;
	soft_check_settings = (struct soft_check_settings){
		.json = !strcmp(check, "json"),
		.seed = 1,
		.stranded_after = 2ull * SOFT_SECOND,
		.timeout = 60ull * SOFT_SECOND,
		.report = settings_text("SOFTVERBS_CHECK_REPORT"),
		.replay = settings_text("SOFTVERBS_CHECK_REPLAY"),
		.program = settings_text("SOFTVERBS_CHECK_PROGRAM"),
	};
	/* softverbs-run has refused wrong ones, unless the program itself has set them. */
	(void)soft_number_read_switch("SOFTVERBS_CHECK_ARM", &soft_check_settings.arms_fail);
	(void)soft_number_read_whole("SOFTVERBS_CHECK_SEED", &soft_check_settings.seed);
	(void)soft_number_read_seconds("SOFTVERBS_CHECK_STRANDED", SOFT_CHECK_SECONDS_MAX,
	    &soft_check_settings.stranded_after);
	(void)soft_number_read_seconds(
	    "SOFTVERBS_CHECK_TIMEOUT", SOFT_CHECK_SECONDS_MAX, &soft_check_settings.timeout);
	soft_tally_open(secure_getenv("SOFTVERBS_CHECK_TALLY"));
	schedule = secure_getenv("SOFTVERBS_CHECK_SCHEDULE");
	/* softverbs-run has checked it, too. */
	if (schedule && !soft_moves_read(schedule, &soft_check_settings.moves, error, sizeof error))
		soft_check_settings.moves = (struct soft_moves){ 0 };
	return true;
}
