/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_line -- a debug line about a call, one value after the other
 *
 * Each function appends ", name=value".  A value with a name is printed by it, without the prefix
 * that its type has anyhow.  What does not fit is cut off.
 */
#ifndef REARM_DAPL_TRACE_LINE_H
#define REARM_DAPL_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

struct trace_line {
	char text[900];
	size_t used;
	bool first; /* no value yet */
};

/* "call(", to be followed by values and trace_send(). */
void trace_call(struct trace_line *line, const char *call);
void trace_send(struct trace_line *line);

/* "call() = CODE", likewise. */
void trace_return(struct trace_line *line, const char *call, DAT_RETURN ret);
void trace_send_return(struct trace_line *line);

void trace_handle(struct trace_line *line, const char *name, DAT_HANDLE v);
void trace_handle_at(struct trace_line *line, const char *name, const DAT_HANDLE *v);
void trace_pointer(struct trace_line *line, const char *name, const void *v);
void trace_string(struct trace_line *line, const char *name, const char *v);
void trace_count(struct trace_line *line, const char *name, long long v);
void trace_number(struct trace_line *line, const char *name, unsigned long long v);
void trace_hex(struct trace_line *line, const char *name, unsigned long long v);
void trace_timeout(struct trace_line *line, const char *name, DAT_TIMEOUT v);
void trace_address(struct trace_line *line, const char *name, DAT_IA_ADDRESS_PTR v);
void trace_cookie(struct trace_line *line, const char *name, DAT_CONTEXT v);
void trace_agent(struct trace_line *line, const char *name, DAT_OS_WAIT_PROXY_AGENT v);
void trace_upcall(struct trace_line *line, const char *name, const DAT_UPCALL_OBJECT *v);
void trace_event(struct trace_line *line, const char *name, const DAT_EVENT *v);
void trace_got(struct trace_line *line, const char *name, DAT_EVENT v);
void trace_remote(struct trace_line *line, const char *name, const DAT_RMR_TRIPLET *v);

/* ---- trace_name.c: enumerations and sets of flags ---- */

void trace_boolean(struct trace_line *line, const char *name, DAT_BOOLEAN v);
void trace_ep_state(struct trace_line *line, const char *name, DAT_EP_STATE v);
void trace_handle_type(struct trace_line *line, const char *name, DAT_HANDLE_TYPE v);
void trace_dto_status(struct trace_line *line, const char *name, DAT_DTO_COMPLETION_STATUS v);
void trace_policy(struct trace_line *line, const char *name, DAT_UPCALL_POLICY v);
void trace_invocation(struct trace_line *line, const char *name, DAT_UPCALL_FLAG v);
void trace_close(struct trace_line *line, const char *name, DAT_CLOSE_FLAGS v);
void trace_qos(struct trace_line *line, const char *name, DAT_QOS v);
void trace_psp(struct trace_line *line, const char *name, DAT_PSP_FLAGS v);
void trace_mem_type(struct trace_line *line, const char *name, DAT_MEM_TYPE v);
void trace_va_type(struct trace_line *line, const char *name, DAT_VA_TYPE v);
void trace_connect(struct trace_line *line, const char *name, DAT_CONNECT_FLAGS v);
void trace_evd_flags(struct trace_line *line, const char *name, DAT_EVD_FLAGS v);
void trace_completion(struct trace_line *line, const char *name, DAT_COMPLETION_FLAGS v);
void trace_privileges(struct trace_line *line, const char *name, DAT_MEM_PRIV_FLAGS v);

/* For trace_name.c: the beginning of a value, and more of it. */
void trace_name(struct trace_line *line, const char *name);
void trace_add(struct trace_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
