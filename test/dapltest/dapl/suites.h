/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_TEST_DAPL_SUITES_H
#define REARM_TEST_DAPL_SUITES_H

#include "lib/runner.h"

Suite *dapl_hint_suite(void);
Suite *dapl_ia_suite(void);
Suite *dapl_record_suite(void);
Suite *dapl_handle_suite(void);
Suite *dapl_many_suite(void);
Suite *dapl_memory_suite(void);
Suite *dapl_region_suite(void);
Suite *dapl_evd_suite(void);
Suite *dapl_cno_suite(void);
Suite *dapl_connect_suite(void);
Suite *dapl_listen_suite(void);
Suite *dapl_disconnect_suite(void);
Suite *dapl_dto_suite(void);
Suite *dapl_order_suite(void);
Suite *dapl_query_suite(void);
Suite *dapl_upcall_suite(void);
Suite *dapl_attr_suite(void);
Suite *dapl_dequeue_suite(void);
Suite *dapl_several_suite(void);
Suite *dapl_free_suite(void);
Suite *dapl_flood_suite(void);
Suite *dapl_srq_suite(void);
Suite *dapl_rebind_suite(void);
Suite *dapl_srq_end_suite(void);
Suite *dapl_srq_order_suite(void);
Suite *dapl_rmr_suite(void);
Suite *dapl_settle_suite(void);
Suite *dapl_ib_suite(void);
Suite *dapl_counter_suite(void);
Suite *dapl_page_suite(void);
Suite *dapl_datagram_suite(void);

#endif
