/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests for bugs of other implementations, through the public calls; see origins.txt. */
#include "suites.h"
#include "lib/runner.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		peer_wait_suite,
		peer_cno_suite,
		peer_event_suite,
		peer_resize_suite,
		peer_provider_suite,
		race_wake_suite,
		race_end_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
