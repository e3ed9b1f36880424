/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/shortage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "dapl/state/device_errno.h"
#include "dapl/trace/debug.h"

/* What a limit is now, as ulimit takes it: " (now NUMBER)"; nothing if there is none. */
static const char *
shortage_limit(__rlimit_resource_t resource, char *text, size_t size)
{
	/* In KiB for ulimit, in bytes here. */
	const bool memory = resource == RLIMIT_AS || resource == RLIMIT_DATA;

	struct rlimit limit;

	*text = '\0';
	if (!getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY)
		(void)snprintf(text, size, " (now %" PRIu64 "%s)",
		    (uint64_t)limit.rlim_cur / (memory ? 1024 : 1), memory ? " KiB" : "");
	return text;
}

/* The limits of memory that are set; if there is none, that of the address space if `always`. */
static const char *
shortage_limits_of_memory(bool always, char *text, size_t size)
{
	char space[48], data[48];

	(void)shortage_limit(RLIMIT_AS, space, sizeof space);
	(void)shortage_limit(RLIMIT_DATA, data, sizeof data);
	*text = '\0';
	if (*space || (always && !*data))
		(void)snprintf(text, size, "ulimit -v%s", space);
	if (*data)
		(void)snprintf(text + strlen(text), size - strlen(text), "%sulimit -d%s",
		    *space ? " and " : "", data);
	return text;
}

/*
 * For ENOMEM "; " and what to do: devices return it for memory that may not be locked, and for
 * objects that they have no more of.
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

/* What an errno of the call means; prints one that is not in the table. */
static int
shortage_meaning(const char *call, int error)
{
	const struct dapl_device_errno *known = dapl_device_errno_find(call, error);

	if (known)
		return known->meaning;
	dapl_debug_error("%s: errno %d, %s, is not one that this call is known for (doc/errno.md)",
	    call, error, strerror(error));
	return DAPL_MEANS_FAILED;
}

int
dapl_shortage_of_device(const char *call)
{
	const int error = errno ? errno : ENOMEM;
	const int meaning = shortage_meaning(call, error);
	char mend[256];

	if (dapl_device_errno_find(call, error) && !dapl_shortage_is_explained(meaning))
		dapl_debug_error("%s: %s%s", call, strerror(error),
		    shortage_of_memory(error, mend, sizeof mend));
	return -meaning;
}

int
dapl_shortage_of_result(const char *call, int result)
{
	if (!result)
		return 0;
	if (result > 0)
		errno = result;
	return dapl_shortage_of_device(call);
}

int
dapl_shortage_of_listener(const char *call)
{
	const int error = errno ? errno : EIO;
	const struct dapl_device_errno *known = dapl_device_errno_find(call, error);

	if (known &&
	    (known->meaning == DAPL_MEANS_PORT_TAKEN || known->meaning == DAPL_MEANS_FORBIDDEN ||
		known->meaning == DAPL_MEANS_NO_ADDRESS))
		return -known->meaning;
	errno = error;
	/* The device that the adapter had is gone; -ENODEV would be the adapter. */
	return known && known->meaning == DAPL_MEANS_NO_DEVICE ?
		   (dapl_shortage_of_device(call), -EIO) :
		   dapl_shortage_of_device(call);
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
	return -shortage_meaning("ibv_reg_mr", error);
}

void
dapl_shortage_explain(const char *call, int error)
{
	const char *colon = call ? ": " : "";
	char limit[112], stack[176] = "";

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
	case EAGAIN: /* also if there is no memory for a stack */
		if (*shortage_limits_of_memory(false, limit, sizeof limit))
			(void)snprintf(stack, sizeof stack,
			    "; or of the memory, which its stack needs: %s", limit);
		dapl_debug_error(
		    "%s%sno thread can be started: raise the limit with ulimit -u%s, or "
		    "TasksMax= of the service%s",
		    call, colon, shortage_limit(RLIMIT_NPROC, limit, sizeof limit), stack);
		break;
	case ENOMEM:
		dapl_debug_error("%s%sno memory is left for this process: raise the limit with "
				 "%s, or MemoryMax= of the service",
		    call, colon, shortage_limits_of_memory(true, limit, sizeof limit));
		break;
	default:
		break;
	}
}
