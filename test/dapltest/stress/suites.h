/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_TEST_STRESS_SUITES_H
#define REARM_TEST_STRESS_SUITES_H

#include "lib/runner.h"

Suite *stress_srq_suite(void);
Suite *stress_rmr_suite(void);

#endif
