/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/callback.h"

#include "dapl/trace/debug.h"
#include "dapl/trace/trace_line.h"

void
dapl_trace_make_upcall(
    const DAT_UPCALL_OBJECT *object, DAT_EVD_HANDLE evd, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct dapl_trace_line line;

	dapl_trace_call(&line, "upcall");
	dapl_trace_handle(&line, "evd", evd);
	dapl_trace_upcall(&line, "upcall", object);
	dapl_trace_event(&line, "event", event);
	dapl_trace_boolean(&line, "more_events", more);
	dapl_trace_send(&line);
	object->upcall_func(object->instance_data, event, more);
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("upcall() returned");
}

void
dapl_trace_make_upcall_array(const DAT_UPCALL_ARRAY_OBJECT *object, DAT_EVD_HANDLE evd,
    const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	struct dapl_trace_line line;

	dapl_trace_call(&line, "upcall");
	dapl_trace_handle(&line, "evd", evd);
	dapl_trace_upcall_array(&line, "upcall", object);
	dapl_trace_event(&line, "event", events);
	dapl_trace_count(&line, "n_events", n);
	dapl_trace_boolean(&line, "more_events", more);
	dapl_trace_send(&line);
	object->upcall_func(object->instance_data, events, n, more);
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("upcall() returned");
}

void
dapl_trace_make_agent_call(const DAT_OS_WAIT_PROXY_AGENT *agent, DAT_EVD_HANDLE evd)
{
	struct dapl_trace_line line;

	dapl_trace_call(&line, "agent");
	dapl_trace_agent(&line, "agent", *agent);
	dapl_trace_handle(&line, "evd", evd);
	dapl_trace_send(&line);
	agent->proxy_agent_func(agent->instance_data, evd);
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("agent() returned");
}
