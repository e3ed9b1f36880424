/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_TEST_CONTRACT_SUITES_H
#define REARM_TEST_CONTRACT_SUITES_H

#include "lib/contract.h"

Suite *contract_evd_suite(void);
Suite *contract_merge_suite(void);
Suite *contract_wait_suite(void);
Suite *contract_sink_suite(void);
Suite *contract_resize_suite(void);
Suite *contract_overflow_suite(void);
Suite *contract_cno_suite(void);
Suite *contract_fd_suite(void);
Suite *contract_funnel_suite(void);
Suite *contract_flags_suite(void);
Suite *contract_cancel_suite(void);

#endif
