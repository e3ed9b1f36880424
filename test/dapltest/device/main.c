/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider over a device that fails; see fault/fault.h. */
#include "fault/fault.h"
#include "suites.h"

TCase *
device_tcase(Suite *suite, const char *name)
{
	TCase *tcase = dt_tcase(suite, name);

	tcase_add_checked_fixture(tcase, NULL, fault_clear);
	return tcase;
}

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		device_answer_suite,
		device_async_suite,
		device_between_suite,
		device_channel_suite,
		device_count_suite,
		device_errno_suite,
		device_reason_suite,
		device_asked_suite,
		device_refused_suite,
		device_region_suite,
		device_removal_suite,
		device_room_suite,
		device_srq_suite,
		device_status_suite,
		device_kept_suite,
		device_limit_suite,
		device_listen_suite,
		device_lock_suite,
		device_moderation_suite,
		device_name_suite,
		device_order_suite,
		device_close_suite,
		device_window_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
