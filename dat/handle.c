/* SPDX-License-Identifier: BSD-3-Clause */
#include "dat/handle.h"

#include <string.h>

#include "dat/log.h"

/*
 * Some functions are the general way of a call, and named after it: "evd_wait_any" is of
 * dat_evd_wait().
 */
DAT_RETURN
handle_refuse(const char *call, DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype)
{
	REGISTRY_UNCANCELLED;
	const char *prefix = strncmp(call, "dat", strlen("dat")) == 0 ? "" : "dat_";
	const char *end = strstr(call, "_any");
	const int length = *prefix && end ? (int)(end - call) : (int)strlen(call);

	if (handle == DAT_HANDLE_NULL)
		log_message(LOG_HINTS,
		    "hint: %s%.*s() is refused, DAT_INVALID_HANDLE: the handle is DAT_HANDLE_NULL, "
		    "or that of no open adapter",
		    prefix, length, call);
	else
		log_message(LOG_HINTS,
		    "hint: %s%.*s() is refused, DAT_INVALID_HANDLE: no open adapter has the handle "
		    "%p",
		    prefix, length, call, handle);
	return DAT_ERROR(DAT_INVALID_HANDLE, subtype);
}
