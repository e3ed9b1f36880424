/* SPDX-License-Identifier: BSD-3-Clause */
#include "suites.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		evd_queue_suite,
		evd_queue_model_suite,
		evd_upcall_suite,
		evd_wait_suite,
		evd_spin_suite,
		evd_channel_suite,
		evd_many_suite,
		evd_free_suite,
		evd_first_post_suite,
		evd_resize_suite,
		evd_drain_suite,
		evd_unsignalled_suite,
		cno_wait_suite,
		cno_agent_suite,
		cno_free_suite,
		cno_fd_suite,
		cno_lead_suite,
		evd_fault_suite,
		evd_inside_suite,
		evd_policy_suite,
		evd_arm_suite,
		evd_sink_suite,
		evd_poll_and_arm_suite,
		evd_hold_suite,
		evd_teardown_suite,
		evd_loop_suite,
		evd_job_suite,
		evd_park_suite,
		evd_nested_wait_suite,
		evd_status_suite,
		evd_stress_suite,
		evd_window_suite,
		evd_cost_suite,
		evd_starve_suite,
		evd_monkey_suite,
		evd_late_suite,
		evd_order_suite,
		evd_refusal_suite,
		evd_object_suite,
		evd_poll_suite,
		evd_close_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
