/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites of test-evd. */
#ifndef REARM_TEST_EVD_SUITES_H
#define REARM_TEST_EVD_SUITES_H

#include "runner.h"

Suite *evd_queue_suite(void);
Suite *evd_queue_model_suite(void);
Suite *evd_upcall_suite(void);

Suite *evd_wait_suite(void);
Suite *evd_channel_suite(void);
Suite *evd_many_suite(void);
#endif
