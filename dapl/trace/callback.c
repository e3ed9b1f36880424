/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/callback.h"

#include "dapl/trace/debug.h"
#include "dapl/trace/trace_line.h"

void
trace_make_upcall(const DAT_UPCALL_OBJECT *object, DAT_EVD_HANDLE evd, const DAT_EVENT *event,
    DAT_BOOLEAN more)
{
	struct trace_line line;

	trace_call(&line, "upcall");
	trace_handle(&line, "evd", evd);
	trace_upcall(&line, "upcall", object);
	trace_event(&line, "event", event);
	trace_boolean(&line, "more_events", more);
	trace_send(&line);
	object->upcall_func(object->instance_data, event, more);
	if (debug_wants(DEBUG_RESULTS))
		debug_line("upcall() returned");
}

void
trace_make_agent_call(const DAT_OS_WAIT_PROXY_AGENT *agent, DAT_EVD_HANDLE evd)
{
	struct trace_line line;

	trace_call(&line, "agent");
	trace_agent(&line, "agent", *agent);
	trace_handle(&line, "evd", evd);
	trace_send(&line);
	agent->proxy_agent_func(agent->instance_data, evd);
	if (debug_wants(DEBUG_RESULTS))
		debug_line("agent() returned");
}
