/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-iser -- the parts of iser/ that need no provider; those of iser/scsi are of test-scsi
 */
#include "suites.h"
#include "lib/runner.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		iser_histogram_suite,
		iser_machine_suite,
		iser_file_suite,
		iser_drain_suite,
		iser_mover_suite,
		iser_login_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
