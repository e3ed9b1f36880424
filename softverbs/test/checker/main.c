/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"
#include "suites.h"

int
main(int argc, char **argv)
{
	const runner_suite_fn suites[] = {
		checker_suspicion_suite,
		checker_sleep_suite,
		checker_schedule_suite,
		checker_view_suite,
		checker_sentry_suite,
		checker_adversary_suite,
		checker_judge_suite,
		checker_print_suite,
		checker_report_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
