/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_log.h -- the lines of the registry and its providers, for programs with a log of their own
 *
 * A library prints a line on standard error when a call fails for a reason that no return code
 * names, such as a library that is not there or a limit of the process.  A program that has a log
 * installs a function that gets these lines instead.  DAT_DBG_TYPE and DAPL_DBG_TYPE choose what is
 * printed, by default errors; if DAT_DBG_DEST or DAPL_DBG_DEST is set, the lines go where it says
 * as well.
 *
 * These calls are not in Debian's libdat2.
 */
#ifndef _DAT_LOG_H_
#define _DAT_LOG_H_

#include <dat2/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dat_log_level {
	DAT_LOG_ERROR = 0,		/* the reason of a failure */
	DAT_LOG_DEBUG = 1		/* what the environment asks for: calls, connections, libraries */
} DAT_LOG_LEVEL;

/*
 * `line` is a line of text without a newline, such as "dat: cannot read /etc/dat.conf: Permission
 * denied".  It is valid until the function returns.
 */
typedef void (*DAT_LOG_FUNC)(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line);

/*
 * Installs the function that gets the lines of this process.  NULL removes it; then lines go to
 * standard error again.
 *
 * The function is called on any thread, of the program or of a provider, and on several at once.
 * It must not make DAT calls, and not take a lock that the program holds during a DAT call.  When
 * this call has returned, no thread is inside the function that was installed before.
 *
 *	`function`	the function, or NULL
 *	`context`	its first argument
 *
 *	DAT_SUCCESS				the function is installed, or removed
 *	DAT_INVALID_STATE			the log function itself made this call
 *
 * Threads: any.  From: Rearm.
 */
DAT_RETURN DAT_API dat_rearm_set_log(DAT_LOG_FUNC function, DAT_PVOID context);

/*
 * Passes a line to the function that dat_rearm_set_log() installed.  For providers: one that also
 * runs under Debian's libdat2 looks this call up with dlsym(), and prints its lines itself if there
 * is none, or if it fails.
 *
 *	`level`		the importance of the line
 *	`line`		the text, without a newline
 *
 *	DAT_SUCCESS				the function has got the line
 *	DAT_INVALID_PARAMETER/ARG2		line is NULL
 *	DAT_INVALID_STATE			no function is installed, or it made this call
 *
 * Threads: any.  From: Rearm.
 */
DAT_RETURN DAT_API dat_rearm_log(DAT_LOG_LEVEL level, const char *line);

#ifdef __cplusplus
}
#endif

#endif
