/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFT_SUITES_H
#define SOFT_SUITES_H

#include "lib/runner.h"

Suite *soft_device_suite(void);
Suite *soft_channel_suite(void);
Suite *soft_ready_suite(void);
Suite *soft_moderation_suite(void);
Suite *soft_mutex_suite(void);
Suite *soft_memory_suite(void);
Suite *soft_ignored_suite(void);
Suite *soft_errno_suite(void);
Suite *soft_ends_suite(void);
Suite *soft_descriptor_suite(void);
Suite *soft_bounds_suite(void);
Suite *soft_mw_suite(void);
Suite *soft_mw_error_suite(void);
Suite *soft_process_mw_suite(void);
Suite *soft_process_pull_suite(void);
Suite *soft_process_revoke_suite(void);
Suite *soft_transfer_suite(void);
Suite *soft_cq_ex_suite(void);
Suite *soft_qp_ex_suite(void);
Suite *soft_domain_suite(void);
Suite *soft_unserved_suite(void);
Suite *soft_datagram_suite(void);
Suite *soft_lookup_suite(void);
Suite *soft_process_datagram_suite(void);
Suite *soft_error_suite(void);
Suite *soft_silent_suite(void);
Suite *soft_retry_suite(void);
Suite *soft_state_suite(void);
Suite *soft_order_suite(void);
Suite *soft_cm_suite(void);
Suite *soft_id_suite(void);
Suite *soft_option_suite(void);
Suite *soft_endpoint_suite(void);
Suite *soft_timer_suite(void);
Suite *soft_timewait_suite(void);
Suite *soft_personality_suite(void);
Suite *soft_process_suite(void);
Suite *soft_process_cm_suite(void);
Suite *soft_process_error_suite(void);
Suite *soft_door_suite(void);
Suite *soft_held_suite(void);
Suite *soft_late_suite(void);
Suite *soft_names_suite(void);
Suite *soft_stranger_suite(void);
Suite *soft_wire_suite(void);
Suite *soft_wire_pull_suite(void);
Suite *soft_ring_suite(void);
Suite *soft_input_suite(void);
Suite *soft_rogue_suite(void);
Suite *soft_stress_suite(void);

#endif
