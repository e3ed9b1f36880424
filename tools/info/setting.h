/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setting -- the environment variables, and the fields and words of dat.conf
 *
 * test/tools/check-info compares the table with what the code reads, and with the manual.
 */
#ifndef REARM_TOOLS_INFO_SETTING_H
#define REARM_TOOLS_INFO_SETTING_H

#include <jansson.h>

json_t *setting_report(void);
void setting_print(const json_t *report);

#endif
