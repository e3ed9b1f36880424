/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapter.h"

#include <stdint.h>
#include <string.h>

enum { ASYNC_EVENTS = 8 };

DAT_RETURN
adapter_open(struct adapter *adapter, const char *name, const bool *thread_safe, const char **call)
{
	const DAT_NAME_PTR asked = (DAT_NAME_PTR)(uintptr_t)name;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_RETURN ret;

	memset(adapter, 0, sizeof *adapter);
	*call = "dat_ia_open";
	if (thread_safe != NULL)
		ret = dat_ia_openv(asked, ASYNC_EVENTS, &async, &adapter->ia, DAT_VERSION_MAJOR,
		    DAT_VERSION_MINOR, *thread_safe ? DAT_TRUE : DAT_FALSE);
	else
		ret = dat_ia_open(asked, ASYNC_EVENTS, &async, &adapter->ia);
	if (ret != DAT_SUCCESS)
		return ret;
	*call = "dat_ia_query";
	ret = dat_ia_query(adapter->ia, NULL, DAT_IA_FIELD_ALL, &adapter->ia_attr,
	    DAT_PROVIDER_FIELD_ALL, &adapter->provider_attr);
	if (ret != DAT_SUCCESS)
		adapter_close(adapter);
	return ret;
}

void
adapter_close(struct adapter *adapter)
{
	(void)dat_ia_close(adapter->ia, DAT_CLOSE_ABRUPT_FLAG);
}

const char *
adapter_named(const struct adapter *adapter, const char *name)
{
	const DAT_PROVIDER_ATTR *attr = &adapter->provider_attr;
	DAT_COUNT i;

	for (i = 0; i < attr->num_provider_specific_attr; i++)
		if (strcmp(attr->provider_specific_attr[i].name, name) == 0)
			return attr->provider_specific_attr[i].value;
	return NULL;
}

bool
adapter_has(const struct adapter *adapter, const char *name)
{
	const char *value = adapter_named(adapter, name);

	return value != NULL && strcmp(value, "TRUE") == 0;
}
