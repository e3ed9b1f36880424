/* SPDX-License-Identifier: BSD-3-Clause */
#include "suites.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		contract_evd_suite,
		contract_merge_suite,
		contract_wait_suite,
		contract_sink_suite,
		contract_resize_suite,
		contract_cno_suite,
		contract_fd_suite,
		contract_funnel_suite,
		contract_flags_suite,
		contract_cancel_suite,
		contract_overflow_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
