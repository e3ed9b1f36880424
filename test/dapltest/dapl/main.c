/* SPDX-License-Identifier: BSD-3-Clause */
#include "suites.h"
#include "lib/runner.h"

#include <stdlib.h>

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		dapl_hint_suite,
		dapl_ia_suite,
		dapl_record_suite,
		dapl_handle_suite,
		dapl_memory_suite,
		dapl_many_suite,
		dapl_region_suite,
		dapl_evd_suite,
		dapl_cno_suite,
		dapl_connect_suite,
		dapl_listen_suite,
		dapl_disconnect_suite,
		dapl_dto_suite,
		dapl_dequeue_suite,
		dapl_several_suite,
		dapl_order_suite,
		dapl_query_suite,
		dapl_attr_suite,
		dapl_upcall_suite,
		dapl_free_suite,
		dapl_flood_suite,
		dapl_srq_suite,
		dapl_rebind_suite,
		dapl_srq_end_suite,
		dapl_srq_order_suite,
		dapl_rmr_suite,
		dapl_settle_suite,
		dapl_ib_suite,
		dapl_counter_suite,
		dapl_page_suite,
		dapl_datagram_suite,
		NULL,
	};

	/*
	 * check-codes looks in the log for hints of a code that the header of the call does not
	 * list.
	 */
	setenv("DAT_DBG_TYPE", "errors,hints", 0);
	return runner_main(argc, argv, suites);
}
