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

#include <dat2/dat_event_str.h>

#include "dapl/state/event.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/name.h"

#define STRING_MAX 128 /* bytes of a string that a line shows */
#define PAGE 4096      /* the smallest: memory is readable by pages */

void
dapl_trace_add(struct dapl_trace_line *line, const char *format, ...)
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
dapl_trace_name(struct dapl_trace_line *line, const char *name)
{
	dapl_trace_add(line, "%s%s=", line->first ? "" : ", ", name);
	line->first = false;
}

void
dapl_trace_call(struct dapl_trace_line *line, const char *call)
{
	line->used = 0;
	line->first = true;
	dapl_trace_add(line, "%s(", call);
}

void
dapl_trace_send(struct dapl_trace_line *line)
{
	if (dapl_debug_wants(DAPL_DEBUG_CALLS))
		dapl_debug_line("%s)", line->text);
}

void
dapl_trace_return(struct dapl_trace_line *line, const char *call, DAT_RETURN ret)
{
	const char *type = dapl_name_return_type(ret), *subtype = dapl_name_return_subtype(ret);

	line->used = 0;
	line->first = false;
	dapl_trace_add(line, "%s() = ", call);
	if (!type || !subtype)
		dapl_trace_add(line, "0x%08x", (unsigned int)ret);
	else if (ret == DAT_SUCCESS)
		dapl_trace_add(line, "%s", type);
	else
		dapl_trace_add(
		    line, "%s%s%s (0x%08x)", type, *subtype ? " " : "", subtype, (unsigned int)ret);
}

void
dapl_trace_send_return(struct dapl_trace_line *line)
{
	if (dapl_debug_wants(DAPL_DEBUG_RESULTS))
		dapl_debug_line("%s", line->text);
}

/*
 * The arguments are printed before the provider has checked them. A bad pointer must not end
 * the program.
 */
static bool
trace_peek(void *to, const void *from, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* A pointer that leads nowhere is printed as it is. */
static bool
trace_follow(struct dapl_trace_line *line, const char *name, const void *v, void *to, size_t n)
{
	if (v && trace_peek(to, v, n)) {
		dapl_trace_name(line, name);
		return true;
	}
	dapl_trace_pointer(line, name, v);
	return false;
}

/* ---- values ---- */

void
dapl_trace_pointer(struct dapl_trace_line *line, const char *name, const void *v)
{
	dapl_trace_name(line, name);
	if (v)
		dapl_trace_add(line, "0x%llx", (unsigned long long)(uintptr_t)v);
	else
		dapl_trace_add(line, "NULL");
}

void
dapl_trace_handle(struct dapl_trace_line *line, const char *name, DAT_HANDLE v)
{
	dapl_trace_pointer(line, name, v);
}

void
dapl_trace_handle_at(struct dapl_trace_line *line, const char *name, const DAT_HANDLE *v)
{
	DAT_HANDLE handle;

	if (v && trace_peek(&handle, v, sizeof handle))
		dapl_trace_handle(line, name, handle);
	else
		dapl_trace_pointer(line, name, v);
}

void
dapl_trace_string(struct dapl_trace_line *line, const char *name, const char *v)
{
	char text[STRING_MAX];
	size_t room = PAGE - (uintptr_t)v % PAGE; /* what is readable at all in its page */

	if (room >= sizeof text)
		room = sizeof text - 1;
	if (trace_follow(line, name, v, text, room)) {
		text[room] = '\0';
		dapl_trace_add(line, "\"%s\"", text);
	}
}

void
dapl_trace_count(struct dapl_trace_line *line, const char *name, long long v)
{
	dapl_trace_name(line, name);
	dapl_trace_add(line, "%lld", v);
}

void
dapl_trace_number(struct dapl_trace_line *line, const char *name, unsigned long long v)
{
	dapl_trace_name(line, name);
	dapl_trace_add(line, "%llu", v);
}

void
dapl_trace_hex(struct dapl_trace_line *line, const char *name, unsigned long long v)
{
	dapl_trace_name(line, name);
	dapl_trace_add(line, "0x%llx", v);
}

void
dapl_trace_timeout(struct dapl_trace_line *line, const char *name, DAT_TIMEOUT v)
{
	dapl_trace_name(line, name);
	if (v == DAT_TIMEOUT_INFINITE)
		dapl_trace_add(line, "INFINITE");
	else
		dapl_trace_add(line, "%uus", (unsigned int)v);
}

void
dapl_trace_address(struct dapl_trace_line *line, const char *name, DAT_IA_ADDRESS_PTR v)
{
	char text[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (!trace_follow(line, name, v, &four, sizeof four))
		return;
	if (four.sin_family == AF_INET)
		inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
	else if (four.sin_family == AF_INET6 && trace_peek(&six, v, sizeof six))
		inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
	else
		snprintf(text, sizeof text, "family %d", four.sin_family);
	dapl_trace_add(line, "%s", text);
}

void
dapl_trace_cookie(struct dapl_trace_line *line, const char *name, DAT_CONTEXT v)
{
	dapl_trace_hex(line, name, v.as_64);
}

void
dapl_trace_agent(struct dapl_trace_line *line, const char *name, DAT_OS_WAIT_PROXY_AGENT v)
{
	dapl_trace_name(line, name);
	if (v.proxy_agent_func)
		dapl_trace_add(line, "{0x%llx, instance=0x%llx}",
		    (unsigned long long)(uintptr_t)v.proxy_agent_func,
		    (unsigned long long)(uintptr_t)v.instance_data);
	else
		dapl_trace_add(line, "NONE");
}

static void
trace_add_upcall(struct dapl_trace_line *line, uintptr_t function, const void *instance)
{
	if (!function)
		dapl_trace_add(line, "NULL");
	else
		dapl_trace_add(line, "{0x%llx, instance=0x%llx}", (unsigned long long)function,
		    (unsigned long long)(uintptr_t)instance);
}

void
dapl_trace_upcall(struct dapl_trace_line *line, const char *name, const DAT_UPCALL_OBJECT *v)
{
	DAT_UPCALL_OBJECT object;

	if (!v) {
		dapl_trace_name(line, name);
		dapl_trace_add(line, "SAME");
	} else if (trace_follow(line, name, v, &object, sizeof object)) {
		trace_add_upcall(line, (uintptr_t)object.upcall_func, object.instance_data);
	}
}

void
dapl_trace_upcall_array(
    struct dapl_trace_line *line, const char *name, const DAT_UPCALL_ARRAY_OBJECT *v)
{
	DAT_UPCALL_ARRAY_OBJECT object;

	if (!v) {
		dapl_trace_name(line, name);
		dapl_trace_add(line, "SAME");
	} else if (trace_follow(line, name, v, &object, sizeof object)) {
		trace_add_upcall(line, (uintptr_t)object.upcall_func, object.instance_data);
		dapl_trace_add(line, " of up to %d events", object.max_events);
	}
}

void
dapl_trace_remote(struct dapl_trace_line *line, const char *name, const DAT_RMR_TRIPLET *v)
{
	DAT_RMR_TRIPLET triplet;

	if (trace_follow(line, name, v, &triplet, sizeof triplet))
		dapl_trace_add(line, "{0x%llx, length=%u, context=0x%x}",
		    (unsigned long long)triplet.virtual_address,
		    (unsigned int)triplet.segment_length, (unsigned int)triplet.rmr_context);
}

/* ---- events ---- */

/* The event data that the event number selects. */
static void
trace_add_event_data(struct dapl_trace_line *line, const DAT_EVENT *v)
{
	const DAT_EVENT_DATA *data = &v->event_data;

	if (dapl_event_is_of_dto(v->event_number)) {
		dapl_trace_handle(line, "ep", data->dto_completion_event_data.ep_handle);
		dapl_trace_cookie(line, "cookie", data->dto_completion_event_data.user_cookie);
		dapl_trace_dto_status(line, "status", data->dto_completion_event_data.status);
		dapl_trace_number(
		    line, "length", data->dto_completion_event_data.transfered_length);
	} else if (dapl_event_is_request(v->event_number)) {
		dapl_trace_handle(line, "sp", data->cr_arrival_event_data.sp_handle.psp_handle);
		dapl_trace_handle(line, "cr", data->cr_arrival_event_data.cr_handle);
	} else if (v->event_number == DAT_SOFTWARE_EVENT) {
		dapl_trace_pointer(line, "pointer", data->software_event_data.pointer);
	} else if (dapl_event_is_of_connection(v->event_number)) {
		dapl_trace_handle(line, "ep", data->connect_event_data.ep_handle);
		dapl_trace_count(line, "size", data->connect_event_data.private_data_size);
	} else if ((v->event_number & 0xff000) == 0x8000) {
		dapl_trace_handle(line, "handle", data->asynch_error_event_data.dat_handle);
		dapl_trace_count(line, "reason", data->asynch_error_event_data.reason);
	}
}

static void
trace_add_event(struct dapl_trace_line *line, const DAT_EVENT *v)
{
	const char *number = dat_event_name(v->event_number);

	if (number)
		dapl_trace_add(line, "{%s", number);
	else
		dapl_trace_add(line, "{0x%x", (unsigned int)v->event_number);
	trace_add_event_data(line, v);
	dapl_trace_add(line, "}");
}

void
dapl_trace_event(struct dapl_trace_line *line, const char *name, const DAT_EVENT *v)
{
	DAT_EVENT event;

	if (trace_follow(line, name, v, &event, sizeof event))
		trace_add_event(line, &event);
}

void
dapl_trace_got(struct dapl_trace_line *line, const char *name, DAT_EVENT v)
{
	dapl_trace_name(line, name);
	trace_add_event(line, &v);
}
