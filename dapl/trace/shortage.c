/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/shortage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "dapl/trace/debug.h"

/* What a limit is now: " (now NUMBER)"; nothing if there is none. */
static const char *
shortage_limit(__rlimit_resource_t resource, char *text, size_t size)
{
	struct rlimit limit;

	*text = '\0';
	if (!getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY)
		(void)snprintf(text, size, " (now %" PRIu64 ")", (uint64_t)limit.rlim_cur);
	return text;
}

/*
 * For ENOMEM "; " and what to do: devices return it for memory that may not be locked, and for objects that they
 * have no more of.
 */
static const char *
shortage_of_memory(int error, char *text, size_t size)
{
	static const char device[] = "the device has no more: ibv_devinfo -v prints its limits";
	struct rlimit limit;

	*text = '\0';
	if (error != ENOMEM)
		return text;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		(void)snprintf(text, size,
		    "; this process may lock %" PRIu64
		    " bytes of memory: raise the limit with ulimit -l, or LimitMEMLOCK= of the "
		    "service; or %s",
		    (uint64_t)limit.rlim_cur, device);
	else
		(void)snprintf(text, size, "; %s", device);
	return text;
}

bool
dapl_shortage_is_explained(int error)
{
	return error == EMFILE || error == ENFILE || error == EAGAIN;
}

static int
shortage_errno(int error)
{
	return error == ENOMEM ? -ENOSPC : -error;
}

int
dapl_shortage_of_device(const char *call)
{
	const int error = errno ? errno : ENOMEM;
	char mend[256];

	if (!dapl_shortage_is_explained(error))
		dapl_debug_error("%s: %s%s", call, strerror(error),
		    shortage_of_memory(error, mend, sizeof mend));
	return shortage_errno(error);
}

int
dapl_shortage_of_region(const char *call, uint64_t size, uint64_t registered)
{
	const int error = errno ? errno : ENOMEM;
	char mend[256];

	if (!dapl_shortage_is_explained(error))
		dapl_debug_error(
		    "%s: %" PRIu64 " bytes cannot be registered, %" PRIu64 " are: %s%s", call, size,
		    registered, strerror(error), shortage_of_memory(error, mend, sizeof mend));
	return shortage_errno(error);
}

void
dapl_shortage_explain(const char *call, int error)
{
	const char *colon = call ? ": " : "";
	char limit[48];

	if (!call)
		call = "";
	switch (-error) {
	case EMFILE:
		dapl_debug_error("%s%sno descriptor is left: raise the limit with ulimit -n%s, or "
				 "LimitNOFILE= of the service",
		    call, colon, shortage_limit(RLIMIT_NOFILE, limit, sizeof limit));
		break;
	case ENFILE:
		dapl_debug_error("%s%sno descriptor is left on this host: raise the limit with "
				 "sysctl fs.file-max",
		    call, colon);
		break;
	case EAGAIN:
		dapl_debug_error(
		    "%s%sno thread can be started: raise the limit with ulimit -u%s, or "
		    "TasksMax= of the service",
		    call, colon, shortage_limit(RLIMIT_NPROC, limit, sizeof limit));
		break;
	case ENOMEM:
		dapl_debug_error("%s%sno memory is left for this process: raise the limit with "
				 "ulimit -v%s, or MemoryMax= of the service",
		    call, colon, shortage_limit(RLIMIT_AS, limit, sizeof limit));
		break;
	default:
		break;
	}
}
