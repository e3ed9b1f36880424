/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_TEST_UPCALL_SUITES_H
#define REARM_TEST_UPCALL_SUITES_H

#include "lib/runner.h"

Suite *upcall_create_suite(void);
Suite *upcall_function_suite(void);
Suite *upcall_policy_suite(void);
Suite *upcall_many_suite(void);
Suite *upcall_teardown_suite(void);
Suite *upcall_free_suite(void);
Suite *upcall_close_suite(void);
Suite *upcall_end_suite(void);
Suite *upcall_end_inside_suite(void);
Suite *upcall_change_suite(void);
Suite *upcall_object_suite(void);
Suite *upcall_inside_suite(void);
Suite *upcall_inside_evd_suite(void);
Suite *upcall_inside_cno_suite(void);
Suite *upcall_inside_ep_suite(void);
Suite *upcall_inside_ia_suite(void);
Suite *upcall_stream_suite(void);
Suite *upcall_race_suite(void);
Suite *upcall_recipe_suite(void);
Suite *upcall_array_suite(void);

#endif
