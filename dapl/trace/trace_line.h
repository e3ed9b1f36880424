/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_line -- a debug line about a call, one value after the other
 *
 * Each function appends ", name=value". A value that has a name is printed by name, without the
 * prefix of its type. A line that is too long is cut.
 */
#ifndef REARM_DAPL_TRACE_LINE_H
#define REARM_DAPL_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#define DAPL_TRACE_LINE_MAX 900

struct dapl_trace_line {
	char text[DAPL_TRACE_LINE_MAX];
	size_t used;
	bool first; /* no value yet */
};

/* "call(", to be followed by values and dapl_trace_send(). */
void dapl_trace_call(struct dapl_trace_line *line, const char *call);
void dapl_trace_send(struct dapl_trace_line *line);

/* "call() = CODE", likewise. */
void dapl_trace_return(struct dapl_trace_line *line, const char *call, DAT_RETURN ret);
void dapl_trace_send_return(struct dapl_trace_line *line);

void dapl_trace_handle(struct dapl_trace_line *line, const char *name, DAT_HANDLE v);
void dapl_trace_handle_at(struct dapl_trace_line *line, const char *name, const DAT_HANDLE *v);
void dapl_trace_pointer(struct dapl_trace_line *line, const char *name, const void *v);
void dapl_trace_string(struct dapl_trace_line *line, const char *name, const char *v);
void dapl_trace_count(struct dapl_trace_line *line, const char *name, long long v);
void dapl_trace_number(struct dapl_trace_line *line, const char *name, unsigned long long v);
void dapl_trace_hex(struct dapl_trace_line *line, const char *name, unsigned long long v);
void dapl_trace_timeout(struct dapl_trace_line *line, const char *name, DAT_TIMEOUT v);
void dapl_trace_address(struct dapl_trace_line *line, const char *name, DAT_IA_ADDRESS_PTR v);
void dapl_trace_cookie(struct dapl_trace_line *line, const char *name, DAT_CONTEXT v);
void dapl_trace_agent(struct dapl_trace_line *line, const char *name, DAT_OS_WAIT_PROXY_AGENT v);
void dapl_trace_upcall(struct dapl_trace_line *line, const char *name, const DAT_UPCALL_OBJECT *v);
void dapl_trace_upcall_array(
    struct dapl_trace_line *line, const char *name, const DAT_UPCALL_ARRAY_OBJECT *v);
void dapl_trace_event(struct dapl_trace_line *line, const char *name, const DAT_EVENT *v);
void dapl_trace_got(struct dapl_trace_line *line, const char *name, DAT_EVENT v);
void dapl_trace_remote(struct dapl_trace_line *line, const char *name, const DAT_RMR_TRIPLET *v);

/* ---- trace_name.c: enumerations and sets of flags ---- */

void dapl_trace_boolean(struct dapl_trace_line *line, const char *name, DAT_BOOLEAN v);
void dapl_trace_ep_state(struct dapl_trace_line *line, const char *name, DAT_EP_STATE v);
void dapl_trace_handle_type(struct dapl_trace_line *line, const char *name, DAT_HANDLE_TYPE v);
void dapl_trace_dto_status(
    struct dapl_trace_line *line, const char *name, DAT_DTO_COMPLETION_STATUS v);
void dapl_trace_policy(struct dapl_trace_line *line, const char *name, DAT_UPCALL_POLICY v);
void dapl_trace_invocation(struct dapl_trace_line *line, const char *name, DAT_UPCALL_FLAG v);
void dapl_trace_close(struct dapl_trace_line *line, const char *name, DAT_CLOSE_FLAGS v);
void dapl_trace_qos(struct dapl_trace_line *line, const char *name, DAT_QOS v);
void dapl_trace_psp(struct dapl_trace_line *line, const char *name, DAT_PSP_FLAGS v);
void dapl_trace_mem_type(struct dapl_trace_line *line, const char *name, DAT_MEM_TYPE v);
void dapl_trace_va_type(struct dapl_trace_line *line, const char *name, DAT_VA_TYPE v);
void dapl_trace_connect(struct dapl_trace_line *line, const char *name, DAT_CONNECT_FLAGS v);
void dapl_trace_evd_flags(struct dapl_trace_line *line, const char *name, DAT_EVD_FLAGS v);
void dapl_trace_completion(struct dapl_trace_line *line, const char *name, DAT_COMPLETION_FLAGS v);
void dapl_trace_privileges(struct dapl_trace_line *line, const char *name, DAT_MEM_PRIV_FLAGS v);

/* For trace_name.c: the beginning of a value, and more of it. */
void dapl_trace_name(struct dapl_trace_line *line, const char *name);
void dapl_trace_add(struct dapl_trace_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
