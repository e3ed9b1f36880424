/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback -- upcalls and agent calls with debug lines around them
 */
#ifndef REARM_DAPL_CALLBACK_H
#define REARM_DAPL_CALLBACK_H

#include "cno/cno.h"

/* What an EVD makes its upcalls with: lines around them. */
evd_call_function dapl_trace_make_upcall;
evd_call_array_function dapl_trace_make_upcall_array;
/* The same for a CNO and its agent. */
void dapl_trace_make_agent_call(const struct cno_agent *agent, void *evd);

#endif
