/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/callback.h"

#include "dapl/state/upcall.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/trace_line.h"

void
dapl_trace_make_upcall(void *instance, const void *event, int more, void (*function)(void))
{
	const DAT_UPCALL_OBJECT object = { instance, (DAT_UPCALL_FUNC)function };
	struct dapl_trace_line line;

	dapl_trace_call(&line, "upcall");
	dapl_trace_handle(&line, "evd", evd_upcall_handle());
	dapl_trace_upcall(&line, "upcall", &object);
	dapl_trace_event(&line, "event", event);
	dapl_trace_boolean(&line, "more_events", (DAT_BOOLEAN)more);
	dapl_trace_send(&line);
	dapl_make_upcall(instance, event, more, function);
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("upcall() returned");
}

void
dapl_trace_make_upcall_array(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	const DAT_UPCALL_ARRAY_OBJECT object = { instance, (DAT_UPCALL_ARRAY_FUNC)upcall->function,
		(DAT_COUNT)upcall->most };
	struct dapl_trace_line line;

	dapl_trace_call(&line, "upcall");
	dapl_trace_handle(&line, "evd", evd_upcall_handle());
	dapl_trace_upcall_array(&line, "upcall", &object);
	dapl_trace_event(&line, "event", events);
	dapl_trace_count(&line, "n_events", (DAT_COUNT)n);
	dapl_trace_boolean(&line, "more_events", (DAT_BOOLEAN)more);
	dapl_trace_send(&line);
	dapl_make_upcall_array(instance, events, n, more, upcall);
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("upcall() returned");
}

void
dapl_trace_make_agent_call(const struct cno_agent *agent, void *evd)
{
	const DAT_OS_WAIT_PROXY_AGENT object = { agent->instance, agent->function };
	struct dapl_trace_line line;

	dapl_trace_call(&line, "agent");
	dapl_trace_agent(&line, "agent", object);
	dapl_trace_handle(&line, "evd", evd);
	dapl_trace_send(&line);
	agent->function(agent->instance, evd);
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("agent() returned");
}
