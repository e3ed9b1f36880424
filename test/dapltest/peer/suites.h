/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_TEST_PEER_SUITES_H
#define REARM_TEST_PEER_SUITES_H

#include "lib/runner.h"

Suite *peer_wait_suite(void);
Suite *peer_cno_suite(void);
Suite *peer_event_suite(void);
Suite *peer_resize_suite(void);
Suite *peer_provider_suite(void);
Suite *race_wake_suite(void);
Suite *race_end_suite(void);

#endif
