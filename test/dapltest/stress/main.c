/* SPDX-License-Identifier: BSD-3-Clause */
/* Many objects and many threads, over the software device: each event is counted. */
#include "suites.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		stress_srq_suite,
		stress_rmr_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
