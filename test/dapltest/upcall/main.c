/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"
#include "suites.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		upcall_create_suite,
		upcall_function_suite,
		upcall_policy_suite,
		upcall_many_suite,
		upcall_teardown_suite,
		upcall_free_suite,
		upcall_close_suite,
		upcall_end_suite,
		upcall_end_inside_suite,
		upcall_change_suite,
		upcall_object_suite,
		upcall_inside_suite,
		upcall_inside_evd_suite,
		upcall_inside_cno_suite,
		upcall_inside_ep_suite,
		upcall_inside_ia_suite,
		upcall_stream_suite,
		upcall_race_suite,
		upcall_recipe_suite,
		upcall_array_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
