/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapter -- an open interface adapter with its attributes
 */
#ifndef REARM_TOOLS_INFO_ADAPTER_H
#define REARM_TOOLS_INFO_ADAPTER_H

#include <stdbool.h>

#include <dat2/udat.h>

struct adapter {
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR ia_attr;
	DAT_PROVIDER_ATTR provider_attr;
};

/* Opens it as programs do; *thread_safe: that kind of record only.  What failed is in *call. */
DAT_RETURN adapter_open(
    struct adapter *adapter, const char *name, const bool *thread_safe, const char **call);
void adapter_close(struct adapter *adapter);

/* The value of a provider attribute that has only a name, or NULL. */
const char *adapter_named(const struct adapter *adapter, const char *name);

/* Whether that value is TRUE. */
bool adapter_has(const struct adapter *adapter, const char *name);

#endif
