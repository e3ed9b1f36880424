/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-dat -- the registry library through its public calls
 */
#include "story.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		dat_conf_suite,
		dat_lookup_suite,
		dat_open_suite,
		dat_handle_suite,
		dat_registry_suite,
		dat_extension_suite,
		dat_strerror_suite,
		dat_version_suite,
		dat_thread_suite,
		dat_reason_suite,
		dat_log_suite,
		dat_many_suite,
		dat_range_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
