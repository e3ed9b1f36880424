/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of programs on the registry itself. */
#include <string.h>

#include "dat/cancel.h"
#include "dat/log.h"
#include "dat/record.h"

DAT_RETURN DAT_API
dat_registry_list_providers(DAT_COUNT max, DAT_COUNT *entries, DAT_PROVIDER_INFO *(list[]))
{
	REGISTRY_UNCANCELLED;
	int count, i;

	if (entries == NULL)
		return LOG_REFUSED("dat_registry_list_providers", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG2, "argument 2: there is no place for the number of records");
	count = record_count();
	if (max <= 0) {
		*entries = count;
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	}
	if (list == NULL)
		return LOG_REFUSED("dat_registry_list_providers", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG3, "argument 3: the list, or an entry of it, is NULL");
	if (count > max)
		count = max;
	for (i = 0; i < count; i++)
		if (list[i] == NULL)
			return LOG_REFUSED("dat_registry_list_providers", DAT_INVALID_PARAMETER,
			    DAT_INVALID_ARG3, "argument 3: the list, or an entry of it, is NULL");
	(void)record_list(list, count);
	*entries = count;
	return DAT_SUCCESS;
}

DAT_RETURN DAT_API
dat_rearm_list_records(DAT_COUNT max, DAT_COUNT *entries, DAT_REARM_RECORD *list)
{
	REGISTRY_UNCANCELLED;
	int count;

	if (max < 0)
		return LOG_REFUSED("dat_rearm_list_records", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG1, "argument 1: the number is less than 0");
	if (entries == NULL)
		return LOG_REFUSED("dat_rearm_list_records", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG2, "argument 2: there is no place for the number of records");
	if (list == NULL && max > 0)
		return LOG_REFUSED("dat_rearm_list_records", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG3,
		    "argument 3: the list is NULL, and room for records is promised");
	count = record_describe(list, max);
	if (count < 0)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE);
	*entries = count;
	return DAT_SUCCESS;
}

/*
 * Only an open provider knows whether two adapters are the same.  Without one the registry knows
 * only that a name is related to itself.
 */
DAT_RETURN DAT_API
dat_registry_providers_related(
    const DAT_NAME_PTR a, const DAT_NAME_PTR b, DAT_HA_RELATIONSHIP *answer)
{
	REGISTRY_UNCANCELLED;

	if (a == NULL)
		return LOG_REFUSED("dat_registry_providers_related", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG1, "argument 1: the name is NULL");
	if (b == NULL)
		return LOG_REFUSED("dat_registry_providers_related", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG2, "argument 2: the name is NULL");
	if (answer == NULL)
		return LOG_REFUSED("dat_registry_providers_related", DAT_INVALID_PARAMETER,
		    DAT_INVALID_ARG3, "argument 3: there is no place for the answer");
	if (!record_has_name(a) || !record_has_name(b))
		return LOG_REFUSED("dat_registry_providers_related", DAT_PROVIDER_NOT_FOUND,
		    DAT_NAME_NOT_REGISTERED, "one of the names is in no record");
	*answer = strcmp(a, b) == 0 ? DAT_HA_TRUE : DAT_HA_UNKNOWN;
	return DAT_SUCCESS;
}
