/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters -- the operations of the InfiniBand extension that query, print, start and stop counters
 */
#ifndef REARM_DAPL_COUNTERS_H
#define REARM_DAPL_COUNTERS_H

#include <stdarg.h>

#include <dat2/udat.h>

#include "dapl/object/lock.h"

/* Each reads its arguments from `args`; see dat_ib_extensions.h. */
DAT_RETURN dapl_counters_query(DAT_HANDLE handle, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_counters_print(DAT_HANDLE handle, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_counters_switch(DAT_IA_HANDLE ia, va_list args) DAPL_NO_LOCK;

#endif
