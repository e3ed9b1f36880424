/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		endpoint_call_suite,
		endpoint_happen_suite,
		endpoint_made_suite,
		endpoint_gone_suite,
		endpoint_modify_suite,
		endpoint_query_suite,
		endpoint_code_suite,
		endpoint_common_suite,
		endpoint_event_suite,
		endpoint_handoff_suite,
		endpoint_reserve_suite,
		endpoint_reuse_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
