/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace -- the calls of the provider's table with debug lines around them
 *
 * A provider gets this table when it is initialised, if the environment asks for debug lines
 * about calls. Otherwise they cost nothing.
 */
#ifndef REARM_DAPL_TRACE_H
#define REARM_DAPL_TRACE_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_upcall.h>

#include "dapl/api.h"
#include "dapl/trace/debug.h"

/* Whether the environment asks for it. */
static inline bool
dapl_trace_is_wanted(void)
{
	return dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS | DAPL_DEBUG_HINTS);
}

/* Sets all slots of the table except ia_open, which the provider sets. */
void dapl_trace_install(DAT_PROVIDER *table);

extern __typeof__(dapl_ia_open) dapl_trace_ia_open;
extern __typeof__(dapl_evd_kcreate) dapl_trace_evd_kcreate;
extern __typeof__(dapl_evd_modify_upcall) dapl_trace_evd_modify_upcall;
extern __typeof__(dapl_evd_modify_upcall_array) dapl_trace_evd_modify_upcall_array;
extern __typeof__(dapl_evd_dequeue_n) dapl_trace_evd_dequeue_n;
extern __typeof__(dapl_evd_query_upcall_counters) dapl_trace_evd_query_upcall_counters;
extern __typeof__(dapl_cno_trywait) dapl_trace_cno_trywait;
extern __typeof__(dapl_extension_op) dapl_trace_extension_op;
/* Numbered operations: those above (extension.c). */
extern __typeof__(dapl_handle_extendedop) dapl_trace_handle_extendedop;

#endif
