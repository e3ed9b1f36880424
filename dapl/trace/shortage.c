/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/shortage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "dapl/trace/debug.h"

/* "; " and the limit for locked memory; nothing if there is no limit. */
static const char *
shortage_memlock(char *text, size_t size)
{
	struct rlimit limit;

	*text = '\0';
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		(void)snprintf(text, size,
		    "; this process may lock %" PRIu64
		    " bytes of memory (ulimit -l, LimitMEMLOCK=)",
		    (uint64_t)limit.rlim_cur);
	return text;
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
	char memlock[128] = "";

	if (error == ENOMEM)
		shortage_memlock(memlock, sizeof memlock);
	dapl_debug_error("%s: %s%s", call, strerror(error), memlock);
	return shortage_errno(error);
}

int
dapl_shortage_of_region(uint64_t size, uint64_t registered)
{
	const int error = errno ? errno : ENOMEM;
	char memlock[128] = "";

	if (error == ENOMEM)
		shortage_memlock(memlock, sizeof memlock);
	dapl_debug_error("ibv_reg_mr: %" PRIu64 " bytes cannot be registered, %" PRIu64
			 " are: %s%s",
	    size, registered, strerror(error), memlock);
	return shortage_errno(error);
}

void
dapl_shortage_explain(int error)
{
	struct rlimit limit = { 0, 0 };

	switch (-error) {
	case EMFILE:
		(void)getrlimit(RLIMIT_NOFILE, &limit);
		dapl_debug_error("no descriptor is left: this process may have %" PRIu64
				 " (ulimit -n, LimitNOFILE=)",
		    (uint64_t)limit.rlim_cur);
		break;
	case ENFILE:
		dapl_debug_error("no descriptor is left on this host (sysctl fs.file-max)");
		break;
	case EAGAIN:
		dapl_debug_error("no thread can be started (ulimit -u, TasksMax=), or the system "
				 "is short of another resource for a moment");
		break;
	case ENOMEM:
		dapl_debug_error("no memory is left for this process");
		break;
	default:
		break;
	}
}
