/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute -- the attributes of an adapter and of its provider, with their symbolic values and
 * units
 */
#ifndef REARM_TOOLS_INFO_ATTRIBUTE_H
#define REARM_TOOLS_INFO_ATTRIBUTE_H

#include <jansson.h>

#include "adapter.h"

/* Objects: the members of DAT_IA_ATTR and DAT_PROVIDER_ATTR, named attributes among them. */
json_t *attribute_report_ia(const struct adapter *adapter);
json_t *attribute_report_provider(const struct adapter *adapter);

/* The units of the attributes that have one. */
json_t *attribute_units(void);

void attribute_print(const json_t *attributes);

#endif
