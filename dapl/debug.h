/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REARM_DAPL_DEBUG_H
#define REARM_DAPL_DEBUG_H

/* A reason line on stderr, printed only when bit 1 of DAT_DBG_TYPE asks for errors. */
void debug_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
