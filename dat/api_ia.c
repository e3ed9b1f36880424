/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening, querying and closing interface adapters.
 */
#include <string.h>

#include "dat/cancel.h"
#include "dat/extension.h"
#include "dat/handle.h"
#include "dat/log.h"
#include "dat/lookup.h"
#include "dat/registry.h"

DAT_RETURN DAT_API
dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT async_evd_min_qlen, DAT_EVD_HANDLE *async_evd,
    DAT_IA_HANDLE *ia, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safety)
{
	REGISTRY_UNCANCELLED;
	DAT_EVD_HANDLE evd;
	DAT_IA_HANDLE own = NULL, number;
	struct registry_entry *entry;
	DAT_IA_ATTR attr;
	DAT_RETURN ret;

	if (name == NULL || strnlen(name, DAT_NAME_MAX_LENGTH) == DAT_NAME_MAX_LENGTH)
		return LOG_REFUSED("dat_ia_open", DAT_INVALID_PARAMETER, DAT_INVALID_ARG1,
		    "argument 1: the name is NULL, or has more than 255 bytes");
	if (ia == NULL)
		return LOG_REFUSED("dat_ia_open", DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
		    "argument 4: there is no place for the handle of the adapter");
	if (async_evd == NULL)
		return LOG_REFUSED("dat_ia_open", DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
		    "argument 3: there is no place for the handle of the asynchronous EVD, which "
		    "must hold DAT_HANDLE_NULL or an EVD");
	if (thread_safety != DAT_FALSE && thread_safety != DAT_TRUE)
		return LOG_REFUSED("dat_ia_openv", DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,
		    "argument 7: the thread safety is neither DAT_TRUE nor DAT_FALSE");

	entry = lookup_provider(name, major, minor, thread_safety);
	if (entry == NULL)
		return DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	if (ia_table_reserve(&number) < 0) {
		ret = LOG_REFUSED("dat_ia_open", DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
		    "no memory, or too many adapters are open");
		goto release_entry;
	}
	evd = *async_evd;
	ret = entry->ia_open(name, async_evd_min_qlen, &evd, &own);
	if (DAT_GET_TYPE(ret) != DAT_SUCCESS)
		goto drop_number;
	if (handle_provider(own) == NULL) {
		log_message(LOG_ERRORS,
		    "the provider of \"%s\" opened the adapter but returned no valid handle", name);
		ret = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
		goto drop_number;
	}
	/* Before the query, because the provider may ask for the number of its IA. */
	ia_table_publish(number, own, entry);

	memset(&attr, 0, sizeof attr);
	if (HANDLE_CALL(own, DAT_INVALID_HANDLE_IA, ia_query_func, own, NULL, DAT_IA_FIELD_ALL,
		&attr, DAT_PROVIDER_FIELD_NONE, NULL) == DAT_SUCCESS &&
	    attr.extension_supported != DAT_EXTENSION_NONE)
		extension_allow();
	*async_evd = evd;
	*ia = number;
	return ret;

drop_number:
	ia_table_drop(number);
release_entry:
	registry_release(entry);
	return ret;
}

DAT_RETURN DAT_API
dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	REGISTRY_UNCANCELLED;
	struct registry_entry *entry;
	DAT_IA_HANDLE own;
	DAT_RETURN ret;

	if (ia_table_begin_close(ia, &own, &entry) < 0)
		return handle_refuse(__func__, ia, DAT_INVALID_HANDLE_IA);
	ret = HANDLE_CALL(own, DAT_INVALID_HANDLE_IA, ia_close_func, own, flags);
	if (DAT_GET_TYPE(ret) != DAT_SUCCESS) {
		ia_table_cancel_close(ia);
		return ret;
	}
	ia_table_drop(ia);
	registry_release(entry);
	return ret;
}

DAT_RETURN DAT_API
dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd, DAT_IA_ATTR_MASK ia_mask,
    DAT_IA_ATTR *ia_attr, DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR *provider_attr)
{
	return IA_CALL(
	    ia, ia_query_func, async_evd, ia_mask, ia_attr, provider_mask, provider_attr);
}

DAT_RETURN DAT_API
dat_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN *answer)
{
	return IA_CALL(ia, ia_ha_related_func, name, answer);
}

DAT_RETURN DAT_API
dats_get_ia_handle(DAT_IA_HANDLE in, DAT_IA_HANDLE *out)
{
	REGISTRY_UNCANCELLED;
	DAT_IA_HANDLE found;

	if (out == NULL)
		return LOG_REFUSED("dats_get_ia_handle", DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
		    "argument 2: there is no place for the handle");
	found = (uintptr_t)in < IA_TABLE_LIMIT ? ia_table_get(in) : ia_table_find(in);
	if (found == NULL)
		return handle_refuse("dats_get_ia_handle", in, DAT_INVALID_HANDLE_IA);
	*out = found;
	return DAT_SUCCESS;
}
