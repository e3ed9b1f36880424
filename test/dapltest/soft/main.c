/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"
#include "suites.h"

int
main(int argc, char **argv)
{
	const runner_suite_fn suites[] = {
		soft_device_suite,
		soft_channel_suite,
		soft_ready_suite,
		soft_moderation_suite,
		soft_mutex_suite,
		soft_memory_suite,
		soft_ignored_suite,
		soft_errno_suite,
		soft_ends_suite,
		soft_descriptor_suite,
		soft_bounds_suite,
		soft_domain_suite,
		soft_unserved_suite,
		soft_transfer_suite,
		soft_cq_ex_suite,
		soft_qp_ex_suite,
		soft_datagram_suite,
		soft_lookup_suite,
		soft_process_datagram_suite,
		soft_mw_suite,
		soft_mw_error_suite,
		soft_error_suite,
		soft_state_suite,
		soft_order_suite,
		soft_cm_suite,
		soft_id_suite,
		soft_option_suite,
		soft_endpoint_suite,
		soft_timer_suite,
		soft_timewait_suite,
		soft_personality_suite,
		soft_process_suite,
		soft_process_mw_suite,
		soft_process_pull_suite,
		soft_process_revoke_suite,
		soft_process_cm_suite,
		soft_process_error_suite,
		soft_names_suite,
		soft_door_suite,
		soft_silent_suite,
		soft_retry_suite,
		soft_late_suite,
		soft_held_suite,
		soft_stranger_suite,
		soft_wire_suite,
		soft_wire_pull_suite,
		soft_ring_suite,
		soft_input_suite,
		soft_rogue_suite,
		soft_stress_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
