/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-scsi -- iser/scsi: commands, reservations and task management over a temporary file
 */
#include "suites.h"

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = {
		scsi_table_suite,
		scsi_block_suite,
		scsi_reserve_suite,
		scsi_task_suite,
		NULL,
	};

	return runner_main(argc, argv, suites);
}
