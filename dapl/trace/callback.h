/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback -- upcalls and agent calls with debug lines around them
 */
#ifndef REARM_DAPL_CALLBACK_H
#define REARM_DAPL_CALLBACK_H

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

/* What an EVD makes its upcalls with: lines around them. */
void dapl_trace_make_upcall(
    const DAT_UPCALL_OBJECT *object, DAT_EVD_HANDLE evd, const DAT_EVENT *event, DAT_BOOLEAN more);
void dapl_trace_make_upcall_array(const DAT_UPCALL_ARRAY_OBJECT *object, DAT_EVD_HANDLE evd,
    const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more);
/* The same for a CNO and its agent. */
void dapl_trace_make_agent_call(const DAT_OS_WAIT_PROXY_AGENT *agent, DAT_EVD_HANDLE evd);

#endif
