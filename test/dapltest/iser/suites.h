/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_ISER_SUITES_H
#define REARM_ISER_SUITES_H

#include "lib/runner.h"

Suite *iser_histogram_suite(void);
Suite *iser_machine_suite(void);
Suite *iser_file_suite(void);
Suite *iser_drain_suite(void);
Suite *iser_mover_suite(void);
Suite *iser_login_suite(void);

Suite *scsi_table_suite(void);
Suite *scsi_block_suite(void);
Suite *scsi_reserve_suite(void);
Suite *scsi_task_suite(void);

#endif
