/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_log.h>
#include <syslog.h>

static void
write_log(DAT_PVOID program, DAT_LOG_LEVEL level, const char *line)
{
	syslog(level == DAT_LOG_ERROR ? LOG_ERR : LOG_DEBUG, "%s: %s",
	    (const char *)program, line);
}

static DAT_RETURN
open_log(char *program)
{
	return dat_rearm_set_log(write_log, program);
}

static DAT_RETURN
close_log(void)
{
	return dat_rearm_set_log(NULL, NULL);
}
