/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_name -- enumerations and sets of flags by name */
#include "dapl/trace/name.h"
#include "dapl/trace/trace_line.h"

struct named {
	long value;
	const char *name;
};

static void
add_enum(struct trace_line *line, const char *name, long v, const struct named *values)
{
	trace_name(line, name);
	for (; values->name; values++)
		if (values->value == v) {
			trace_add(line, "%s", values->name);
			return;
		}
	trace_add(line, "%ld", v);
}

/* The first entry names no flag at all; the others may be of several bits, the larger first. */
static void
add_flags(struct trace_line *line, const char *name, long v, const struct named *flags)
{
	const char *between = "";

	trace_name(line, name);
	if (v == 0)
		trace_add(line, "%s", flags->name);
	for (flags++; v && flags->name; flags++)
		if ((v & flags->value) == flags->value) {
			trace_add(line, "%s%s", between, flags->name);
			v &= ~flags->value;
			between = "|";
		}
	if (v)
		trace_add(line, "%s0x%lx", between, v);
}

#define END { 0, NULL }
#define NAMED(prefix, name) { DAT_##prefix##_##name, #name }
#define FLAG(prefix, name) { DAT_##prefix##_##name##_FLAG, #name }

void
trace_boolean(struct trace_line *line, const char *name, DAT_BOOLEAN v)
{
	static const struct named values[] = { { DAT_FALSE, "FALSE" }, { DAT_TRUE, "TRUE" }, END };

	add_enum(line, name, v, values);
}

void
trace_ep_state(struct trace_line *line, const char *name, DAT_EP_STATE v)
{
	const char *state = name_ep_state(v);

	trace_name(line, name);
	trace_add(line, "%s", state ? state : "?");
}

void
trace_handle_type(struct trace_line *line, const char *name, DAT_HANDLE_TYPE v)
{
	static const struct named values[] = {
		NAMED(HANDLE_TYPE, CR), NAMED(HANDLE_TYPE, EP), NAMED(HANDLE_TYPE, EVD),
		NAMED(HANDLE_TYPE, IA), NAMED(HANDLE_TYPE, LMR), NAMED(HANDLE_TYPE, PSP),
		NAMED(HANDLE_TYPE, PZ), NAMED(HANDLE_TYPE, RMR), NAMED(HANDLE_TYPE, RSP),
		NAMED(HANDLE_TYPE, CNO), NAMED(HANDLE_TYPE, SRQ), NAMED(HANDLE_TYPE, CSP), END,
	};

	add_enum(line, name, v, values);
}

void
trace_dto_status(struct trace_line *line, const char *name, DAT_DTO_COMPLETION_STATUS v)
{
	static const struct named values[] = {
		NAMED(DTO, SUCCESS), NAMED(DTO, ERR_FLUSHED), NAMED(DTO, ERR_LOCAL_LENGTH),
		NAMED(DTO, ERR_LOCAL_EP), NAMED(DTO, ERR_LOCAL_PROTECTION),
		NAMED(DTO, ERR_BAD_RESPONSE), NAMED(DTO, ERR_REMOTE_ACCESS),
		NAMED(DTO, ERR_REMOTE_RESPONDER), NAMED(DTO, ERR_TRANSPORT),
		NAMED(DTO, ERR_RECEIVER_NOT_READY), NAMED(RMR, OPERATION_FAILED), END,
	};

	add_enum(line, name, v, values);
}

void
trace_policy(struct trace_line *line, const char *name, DAT_UPCALL_POLICY v)
{
	static const struct named values[] = {
		NAMED(UPCALL, TEARDOWN), NAMED(UPCALL, DISABLE), NAMED(UPCALL, SINGLE_INSTANCE),
		NAMED(UPCALL, NOTIFY), NAMED(UPCALL, MANY), END,
	};

	add_enum(line, name, v, values);
}

void
trace_invocation(struct trace_line *line, const char *name, DAT_UPCALL_FLAG v)
{
	static const struct named values[] = {
		NAMED(UPCALL, INVOC_NEW), NAMED(UPCALL, INVOC_ANY), END,
	};

	add_enum(line, name, v, values);
}

void
trace_close(struct trace_line *line, const char *name, DAT_CLOSE_FLAGS v)
{
	static const struct named values[] = { FLAG(CLOSE, ABRUPT), FLAG(CLOSE, GRACEFUL), END };

	add_enum(line, name, v, values);
}

void
trace_qos(struct trace_line *line, const char *name, DAT_QOS v)
{
	static const struct named values[] = {
		NAMED(QOS, BEST_EFFORT), NAMED(QOS, HIGH_THROUGHPUT), NAMED(QOS, LOW_LATENCY),
		NAMED(QOS, ECONOMY), NAMED(QOS, PREMIUM), END,
	};

	add_enum(line, name, v, values);
}

void
trace_psp(struct trace_line *line, const char *name, DAT_PSP_FLAGS v)
{
	static const struct named values[] = { FLAG(PSP, CONSUMER), FLAG(PSP, PROVIDER), END };

	add_enum(line, name, v, values);
}

void
trace_mem_type(struct trace_line *line, const char *name, DAT_MEM_TYPE v)
{
	static const struct named values[] = {
		NAMED(MEM_TYPE, VIRTUAL), NAMED(MEM_TYPE, LMR), NAMED(MEM_TYPE, SHARED_VIRTUAL),
		END,
	};

	add_enum(line, name, v, values);
}

void
trace_va_type(struct trace_line *line, const char *name, DAT_VA_TYPE v)
{
	static const struct named values[] = { NAMED(VA_TYPE, VA), NAMED(VA_TYPE, ZB), END };

	add_enum(line, name, v, values);
}

void
trace_connect(struct trace_line *line, const char *name, DAT_CONNECT_FLAGS v)
{
	static const struct named flags[] = {
		FLAG(CONNECT, DEFAULT), FLAG(CONNECT, MULTIPATH), FLAG(CONNECT, MULTIPATH_REQUIRED),
		END,
	};

	add_flags(line, name, v, flags);
}

void
trace_evd_flags(struct trace_line *line, const char *name, DAT_EVD_FLAGS v)
{
	static const struct named flags[] = {
		{ 0, "NONE" }, FLAG(EVD, DEFAULT), FLAG(EVD, SOFTWARE), FLAG(EVD, CR),
		FLAG(EVD, DTO), FLAG(EVD, CONNECTION), FLAG(EVD, RMR_BIND), FLAG(EVD, ASYNC), END,
	};

	add_flags(line, name, v, flags);
}

void
trace_completion(struct trace_line *line, const char *name, DAT_COMPLETION_FLAGS v)
{
	static const struct named flags[] = {
		FLAG(COMPLETION, DEFAULT), FLAG(COMPLETION, SUPPRESS),
		FLAG(COMPLETION, SOLICITED_WAIT), FLAG(COMPLETION, UNSIGNALLED),
		FLAG(COMPLETION, BARRIER_FENCE), FLAG(COMPLETION, EVD_THRESHOLD),
		FLAG(COMPLETION, LMR_INVALIDATE_FENCE), END,
	};

	add_flags(line, name, v, flags);
}

void
trace_privileges(struct trace_line *line, const char *name, DAT_MEM_PRIV_FLAGS v)
{
	static const struct named flags[] = {
		FLAG(MEM_PRIV, NONE), FLAG(MEM_PRIV, ALL), FLAG(MEM_PRIV, LOCAL_READ),
		FLAG(MEM_PRIV, REMOTE_READ), FLAG(MEM_PRIV, LOCAL_WRITE),
		FLAG(MEM_PRIV, REMOTE_WRITE), END,
	};

	add_flags(line, name, v, flags);
}
