/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-iser -- the parts of examples/iser that need no provider
 */
#include "suites.h"
#include "lib/runner.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		iser_pdu_suite,
		iser_histogram_suite,
		iser_machine_suite,
		iser_file_suite,
		iser_drain_suite,
		iser_target_suite,
		iser_initiator_suite,
		iser_login_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
