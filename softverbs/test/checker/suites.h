/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECKER_SUITES_H
#define CHECKER_SUITES_H

#include "lib/runner.h"

Suite *checker_suspicion_suite(void);
Suite *checker_sleep_suite(void);
Suite *checker_schedule_suite(void);
Suite *checker_view_suite(void);
Suite *checker_sentry_suite(void);
Suite *checker_adversary_suite(void);
Suite *checker_judge_suite(void);
Suite *checker_print_suite(void);
Suite *checker_report_suite(void);

#endif
