/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites of test-evd. */
#ifndef REARM_TEST_EVD_SUITES_H
#define REARM_TEST_EVD_SUITES_H

#include "lib/runner.h"

Suite *evd_queue_suite(void);
Suite *evd_queue_model_suite(void);
Suite *evd_upcall_suite(void);
Suite *evd_wait_suite(void);
Suite *evd_spin_suite(void);
Suite *evd_channel_suite(void);
Suite *evd_many_suite(void);
Suite *evd_free_suite(void);
Suite *evd_drain_suite(void);
Suite *evd_first_post_suite(void);
Suite *evd_resize_suite(void);
Suite *evd_unsignalled_suite(void);
Suite *cno_wait_suite(void);
Suite *cno_agent_suite(void);
Suite *cno_free_suite(void);
Suite *cno_fd_suite(void);
Suite *cno_lead_suite(void);
Suite *evd_fault_suite(void);
Suite *evd_inside_suite(void);
Suite *evd_policy_suite(void);
Suite *evd_arm_suite(void);
Suite *evd_sink_suite(void);
Suite *evd_poll_and_arm_suite(void);
Suite *evd_hold_suite(void);
Suite *evd_teardown_suite(void);
Suite *evd_loop_suite(void);
Suite *evd_job_suite(void);
Suite *evd_park_suite(void);
Suite *evd_nested_wait_suite(void);
Suite *evd_status_suite(void);
Suite *evd_stress_suite(void);
Suite *evd_window_suite(void);
Suite *evd_cost_suite(void);
Suite *evd_starve_suite(void);
Suite *evd_monkey_suite(void);
Suite *evd_late_suite(void);
Suite *evd_order_suite(void);
Suite *evd_refusal_suite(void);
Suite *evd_object_suite(void);
Suite *evd_poll_suite(void);
Suite *evd_close_suite(void);

#endif
