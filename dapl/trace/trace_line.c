/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* process_vm_readv */

#include "dapl/trace/trace_line.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dapl/trace/debug.h"
#include "dapl/trace/name.h"

void
trace_add(struct trace_line *line, const char *format, ...)
{
	const size_t room = sizeof line->text - line->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line->text + line->used, room, format, args);
	va_end(args);
	if (n > 0)
		line->used += (size_t)n < room ? (size_t)n : room - 1;
}

void
trace_name(struct trace_line *line, const char *name)
{
	trace_add(line, "%s%s=", line->first ? "" : ", ", name);
	line->first = false;
}

void
trace_call(struct trace_line *line, const char *call)
{
	line->used = 0;
	line->first = true;
	trace_add(line, "%s(", call);
}

void
trace_send(struct trace_line *line)
{
	if (debug_wants(DEBUG_CALLS))
		debug_line("%s)", line->text);
}

void
trace_return(struct trace_line *line, const char *call, DAT_RETURN ret)
{
	const char *type = name_return_type(ret), *subtype = name_return_subtype(ret);

	line->used = 0;
	line->first = false;
	trace_add(line, "%s() = ", call);
	if (!type || !subtype)
		trace_add(line, "0x%08x", (unsigned int)ret);
	else if (ret == DAT_SUCCESS)
		trace_add(line, "%s", type);
	else
		trace_add(line, "%s%s%s (0x%08x)", type, *subtype ? " " : "", subtype,
		    (unsigned int)ret);
}

void
trace_send_return(struct trace_line *line)
{
	if (debug_wants(DEBUG_RESULTS))
		debug_line("%s", line->text);
}

/*
 * What an argument points to is not the provider's to believe before it has looked at the handle: a
 * call that is refused must not end the program because it is printed.
 */
static bool
peek(void *to, const void *from, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* A pointer that leads nowhere is printed as it is. */
static bool
follow(struct trace_line *line, const char *name, const void *v, void *to, size_t n)
{
	if (v && peek(to, v, n)) {
		trace_name(line, name);
		return true;
	}
	trace_pointer(line, name, v);
	return false;
}

/* ---- values ---- */

void
trace_pointer(struct trace_line *line, const char *name, const void *v)
{
	trace_name(line, name);
	if (v)
		trace_add(line, "0x%llx", (unsigned long long)(uintptr_t)v);
	else
		trace_add(line, "NULL");
}

void
trace_handle(struct trace_line *line, const char *name, DAT_HANDLE v)
{
	trace_pointer(line, name, v);
}

void
trace_handle_at(struct trace_line *line, const char *name, const DAT_HANDLE *v)
{
	DAT_HANDLE handle;

	if (v && peek(&handle, v, sizeof handle))
		trace_handle(line, name, handle);
	else
		trace_pointer(line, name, v);
}

void
trace_string(struct trace_line *line, const char *name, const char *v)
{
	char text[128];
	size_t room = 4096 - (uintptr_t)v % 4096; /* what is readable at all in its page */

	if (room >= sizeof text)
		room = sizeof text - 1;
	if (follow(line, name, v, text, room)) {
		text[room] = '\0';
		trace_add(line, "\"%s\"", text);
	}
}

void
trace_count(struct trace_line *line, const char *name, long long v)
{
	trace_name(line, name);
	trace_add(line, "%lld", v);
}

void
trace_number(struct trace_line *line, const char *name, unsigned long long v)
{
	trace_name(line, name);
	trace_add(line, "%llu", v);
}

void
trace_hex(struct trace_line *line, const char *name, unsigned long long v)
{
	trace_name(line, name);
	trace_add(line, "0x%llx", v);
}

void
trace_timeout(struct trace_line *line, const char *name, DAT_TIMEOUT v)
{
	trace_name(line, name);
	if (v == DAT_TIMEOUT_INFINITE)
		trace_add(line, "INFINITE");
	else
		trace_add(line, "%uus", (unsigned int)v);
}

void
trace_address(struct trace_line *line, const char *name, DAT_IA_ADDRESS_PTR v)
{
	char text[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (!follow(line, name, v, &four, sizeof four))
		return;
	if (four.sin_family == AF_INET)
		inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
	else if (four.sin_family == AF_INET6 && peek(&six, v, sizeof six))
		inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
	else
		snprintf(text, sizeof text, "family %d", four.sin_family);
	trace_add(line, "%s", text);
}

void
trace_cookie(struct trace_line *line, const char *name, DAT_CONTEXT v)
{
	trace_hex(line, name, v.as_64);
}

void
trace_agent(struct trace_line *line, const char *name, DAT_OS_WAIT_PROXY_AGENT v)
{
	trace_name(line, name);
	if (v.proxy_agent_func)
		trace_add(line, "{0x%llx, instance=0x%llx}",
		    (unsigned long long)(uintptr_t)v.proxy_agent_func,
		    (unsigned long long)(uintptr_t)v.instance_data);
	else
		trace_add(line, "NONE");
}

void
trace_upcall(struct trace_line *line, const char *name, const DAT_UPCALL_OBJECT *v)
{
	DAT_UPCALL_OBJECT object;

	if (!v) {
		trace_name(line, name);
		trace_add(line, "SAME");
	} else if (follow(line, name, v, &object, sizeof object)) {
		if (!object.upcall_func)
			trace_add(line, "NULL");
		else
			trace_add(line, "{0x%llx, instance=0x%llx}",
			    (unsigned long long)(uintptr_t)object.upcall_func,
			    (unsigned long long)(uintptr_t)object.instance_data);
	}
}

void
trace_remote(struct trace_line *line, const char *name, const DAT_RMR_TRIPLET *v)
{
	DAT_RMR_TRIPLET triplet;

	if (follow(line, name, v, &triplet, sizeof triplet))
		trace_add(line, "{0x%llx, length=%u, context=0x%x}",
		    (unsigned long long)triplet.virtual_address,
		    (unsigned int)triplet.segment_length, (unsigned int)triplet.rmr_context);
}

/* ---- events ---- */

/* What the event's number says is there. */
static void
add_event_data(struct trace_line *line, const DAT_EVENT *v)
{
	const DAT_EVENT_DATA *data = &v->event_data;

	if (v->event_number == DAT_DTO_COMPLETION_EVENT) {
		trace_handle(line, "ep", data->dto_completion_event_data.ep_handle);
		trace_cookie(line, "cookie", data->dto_completion_event_data.user_cookie);
		trace_dto_status(line, "status", data->dto_completion_event_data.status);
		trace_number(line, "length", data->dto_completion_event_data.transfered_length);
	} else if (v->event_number == DAT_CONNECTION_REQUEST_EVENT) {
		trace_handle(line, "sp", data->cr_arrival_event_data.sp_handle.psp_handle);
		trace_handle(line, "cr", data->cr_arrival_event_data.cr_handle);
	} else if (v->event_number == DAT_SOFTWARE_EVENT) {
		trace_pointer(line, "pointer", data->software_event_data.pointer);
	} else if ((v->event_number & 0xff000) == 0x4000) {
		trace_handle(line, "ep", data->connect_event_data.ep_handle);
		trace_count(line, "size", data->connect_event_data.private_data_size);
	} else if ((v->event_number & 0xff000) == 0x8000) {
		trace_handle(line, "handle", data->asynch_error_event_data.dat_handle);
		trace_count(line, "reason", data->asynch_error_event_data.reason);
	}
}

static void
add_event(struct trace_line *line, const DAT_EVENT *v)
{
	const char *number = name_event(v->event_number);

	if (number)
		trace_add(line, "{%s", number);
	else
		trace_add(line, "{0x%x", (unsigned int)v->event_number);
	add_event_data(line, v);
	trace_add(line, "}");
}

void
trace_event(struct trace_line *line, const char *name, const DAT_EVENT *v)
{
	DAT_EVENT event;

	if (follow(line, name, v, &event, sizeof event))
		add_event(line, &event);
}

void
trace_got(struct trace_line *line, const char *name, DAT_EVENT v)
{
	trace_name(line, name);
	add_event(line, &v);
}
