/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_TEST_DEVICE_SUITES_H
#define REARM_TEST_DEVICE_SUITES_H

#include "device.h"

/* A TCase whose tests open "faulty"; a test leaves a device that works. */
TCase *device_tcase(Suite *suite, const char *name);

Suite *device_answer_suite(void);
Suite *device_asked_suite(void);
Suite *device_async_suite(void);
Suite *device_between_suite(void);
Suite *device_channel_suite(void);
Suite *device_close_suite(void);
Suite *device_count_suite(void);
Suite *device_errno_suite(void);
Suite *device_kept_suite(void);
Suite *device_limit_suite(void);
Suite *device_listen_suite(void);
Suite *device_lock_suite(void);
Suite *device_moderation_suite(void);
Suite *device_name_suite(void);
Suite *device_order_suite(void);
Suite *device_reason_suite(void);
Suite *device_refused_suite(void);
Suite *device_region_suite(void);
Suite *device_removal_suite(void);
Suite *device_room_suite(void);
Suite *device_srq_suite(void);
Suite *device_status_suite(void);
Suite *device_window_suite(void);

#endif
