/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log -- messages of the registry, selected by DAT_DBG_TYPE and DAT_DBG_DEST
 *
 * DAT_DBG_TYPE is a mask of the classes of debug.h, or their names (default: errors only).
 * Messages go to the function of dat_rearm_set_log(), else to standard error; DAT_DBG_DEST has
 * further destinations.
 */
#ifndef REARM_DAT_LOG_H
#define REARM_DAT_LOG_H

#include "dat/debug.h"

/* Writes one message, without newline; errno does not change. */
void log_message(enum log_class class, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The return value of a call that the registry refuses, with the hint why. */
#define LOG_REFUSED(call, type, subtype, why) \
	(log_message(LOG_HINTS, "hint: " call "() is refused, " #type " " #subtype ": " why), \
	    DAT_ERROR(type, subtype))

#endif
