/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"
#include "wild.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = { wild_calls_suite, wild_arguments_suite, NULL };

	return runner_main(argc, argv, suites);
}
