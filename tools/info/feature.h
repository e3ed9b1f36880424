/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * feature -- what a device may lack, and which calls an adapter therefore serves
 */
#ifndef REARM_TOOLS_INFO_FEATURE_H
#define REARM_TOOLS_INFO_FEATURE_H

#include <jansson.h>

#include "adapter.h"

/* Makes objects of the adapter, which are freed with it. */
json_t *feature_report(const struct adapter *adapter);
void feature_print(const json_t *report);

#endif
