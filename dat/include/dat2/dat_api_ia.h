/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_ia.h -- interface adapters, and the calls that take any handle
 */
#include <dat2/udat.h>

#ifndef _DAT_API_IA_H_
#define _DAT_API_IA_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT async_evd_min_qlen,
			    DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia, DAT_UINT32 major,
			    DAT_UINT32 minor, DAT_BOOLEAN thread_safety);

#define dat_ia_open(name, qlen, async_evd, ia) \
	dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, \
		     DAT_THREADSAFE)

DAT_RETURN DAT_API dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd,
			    DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
			    DAT_PROVIDER_ATTR_MASK provider_mask,
			    DAT_PROVIDER_ATTR *provider_attr);

DAT_RETURN DAT_API dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags);

DAT_RETURN DAT_API dat_registry_list_providers(DAT_COUNT max, DAT_COUNT *entries,
			    DAT_PROVIDER_INFO *(list[]));

DAT_RETURN DAT_API dat_strerror(DAT_RETURN ret, const char **major, const char **minor);

DAT_RETURN DAT_API dat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context);

DAT_RETURN DAT_API dat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context);

DAT_RETURN DAT_API dat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type);

#ifdef DAT_EXTENSIONS
DAT_RETURN DAT_API dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...);
#endif

#ifdef __cplusplus
}
#endif

#endif
