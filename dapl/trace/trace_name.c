/* SPDX-License-Identifier: BSD-3-Clause */
/* dapl_trace_name -- enumerations and sets of flags by name */
#include "dapl/trace/name.h"
#include "dapl/trace/trace_line.h"

struct named {
	long value;
	const char *name;
};

static void
trace_add_enum(struct dapl_trace_line *line, const char *name, long v, const struct named *values)
{
	dapl_trace_name(line, name);
	for (; values->name; values++)
		if (values->value == v) {
			dapl_trace_add(line, "%s", values->name);
			return;
		}
	dapl_trace_add(line, "%ld", v);
}

/*
 * The first entry names the value without flags.  The others may have several bits, those with more
 * bits first.
 */
static void
trace_add_flags(struct dapl_trace_line *line, const char *name, long v, const struct named *flags)
{
	const char *between = "";

	dapl_trace_name(line, name);
	if (v == 0)
		dapl_trace_add(line, "%s", flags->name);
	for (flags++; v && flags->name; flags++)
		if ((v & flags->value) == flags->value) {
			dapl_trace_add(line, "%s%s", between, flags->name);
			v &= ~flags->value;
			between = "|";
		}
	if (v)
		dapl_trace_add(line, "%s0x%lx", between, v);
}

#define END \
	{ \
		0, NULL \
	}
#define NAMED(prefix, name) \
	{ \
		DAT_##prefix##_##name, #name \
	}
#define FLAG(prefix, name) \
	{ \
		DAT_##prefix##_##name##_FLAG, #name \
	}

void
dapl_trace_boolean(struct dapl_trace_line *line, const char *name, DAT_BOOLEAN v)
{
	static const struct named values[] = { { DAT_FALSE, "FALSE" }, { DAT_TRUE, "TRUE" }, END };

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_ep_state(struct dapl_trace_line *line, const char *name, DAT_EP_STATE v)
{
	const char *state = dapl_name_ep_state(v);

	dapl_trace_name(line, name);
	dapl_trace_add(line, "%s", state ? state : "?");
}

void
dapl_trace_handle_type(struct dapl_trace_line *line, const char *name, DAT_HANDLE_TYPE v)
{
	static const struct named values[] = {
		NAMED(HANDLE_TYPE, CR),
		NAMED(HANDLE_TYPE, EP),
		NAMED(HANDLE_TYPE, EVD),
		NAMED(HANDLE_TYPE, IA),
		NAMED(HANDLE_TYPE, LMR),
		NAMED(HANDLE_TYPE, PSP),
		NAMED(HANDLE_TYPE, PZ),
		NAMED(HANDLE_TYPE, RMR),
		NAMED(HANDLE_TYPE, RSP),
		NAMED(HANDLE_TYPE, CNO),
		NAMED(HANDLE_TYPE, SRQ),
		NAMED(HANDLE_TYPE, CSP),
		END,
	};

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_dto_status(struct dapl_trace_line *line, const char *name, DAT_DTO_COMPLETION_STATUS v)
{
	static const struct named values[] = {
		NAMED(DTO, SUCCESS),
		NAMED(DTO, ERR_FLUSHED),
		NAMED(DTO, ERR_LOCAL_LENGTH),
		NAMED(DTO, ERR_LOCAL_EP),
		NAMED(DTO, ERR_LOCAL_PROTECTION),
		NAMED(DTO, ERR_BAD_RESPONSE),
		NAMED(DTO, ERR_REMOTE_ACCESS),
		NAMED(DTO, ERR_REMOTE_RESPONDER),
		NAMED(DTO, ERR_TRANSPORT),
		NAMED(DTO, ERR_RECEIVER_NOT_READY),
		NAMED(RMR, OPERATION_FAILED),
		END,
	};

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_policy(struct dapl_trace_line *line, const char *name, DAT_UPCALL_POLICY v)
{
	static const struct named values[] = {
		NAMED(UPCALL, TEARDOWN),
		NAMED(UPCALL, DISABLE),
		NAMED(UPCALL, SINGLE_INSTANCE),
		NAMED(UPCALL, NOTIFY),
		NAMED(UPCALL, MANY),
		END,
	};

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_invocation(struct dapl_trace_line *line, const char *name, DAT_UPCALL_FLAG v)
{
	static const struct named values[] = {
		NAMED(UPCALL, INVOC_NEW),
		NAMED(UPCALL, INVOC_ANY),
		END,
	};

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_close(struct dapl_trace_line *line, const char *name, DAT_CLOSE_FLAGS v)
{
	static const struct named values[] = { FLAG(CLOSE, ABRUPT), FLAG(CLOSE, GRACEFUL), END };

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_qos(struct dapl_trace_line *line, const char *name, DAT_QOS v)
{
	static const struct named values[] = {
		NAMED(QOS, BEST_EFFORT),
		NAMED(QOS, HIGH_THROUGHPUT),
		NAMED(QOS, LOW_LATENCY),
		NAMED(QOS, ECONOMY),
		NAMED(QOS, PREMIUM),
		END,
	};

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_psp(struct dapl_trace_line *line, const char *name, DAT_PSP_FLAGS v)
{
	static const struct named values[] = { FLAG(PSP, CONSUMER), FLAG(PSP, PROVIDER), END };

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_mem_type(struct dapl_trace_line *line, const char *name, DAT_MEM_TYPE v)
{
	static const struct named values[] = {
		NAMED(MEM_TYPE, VIRTUAL),
		NAMED(MEM_TYPE, LMR),
		NAMED(MEM_TYPE, SHARED_VIRTUAL),
		END,
	};

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_va_type(struct dapl_trace_line *line, const char *name, DAT_VA_TYPE v)
{
	static const struct named values[] = { NAMED(VA_TYPE, VA), NAMED(VA_TYPE, ZB), END };

	trace_add_enum(line, name, v, values);
}

void
dapl_trace_connect(struct dapl_trace_line *line, const char *name, DAT_CONNECT_FLAGS v)
{
	static const struct named flags[] = {
		FLAG(CONNECT, DEFAULT),
		FLAG(CONNECT, MULTIPATH),
		FLAG(CONNECT, MULTIPATH_REQUIRED),
		END,
	};

	trace_add_flags(line, name, v, flags);
}

void
dapl_trace_evd_flags(struct dapl_trace_line *line, const char *name, DAT_EVD_FLAGS v)
{
	static const struct named flags[] = {
		{ 0, "NONE" },
		FLAG(EVD, DEFAULT),
		FLAG(EVD, SOFTWARE),
		FLAG(EVD, CR),
		FLAG(EVD, DTO),
		FLAG(EVD, CONNECTION),
		FLAG(EVD, RMR_BIND),
		FLAG(EVD, ASYNC),
		END,
	};

	trace_add_flags(line, name, v, flags);
}

void
dapl_trace_completion(struct dapl_trace_line *line, const char *name, DAT_COMPLETION_FLAGS v)
{
	static const struct named flags[] = {
		FLAG(COMPLETION, DEFAULT),
		FLAG(COMPLETION, SUPPRESS),
		FLAG(COMPLETION, SOLICITED_WAIT),
		FLAG(COMPLETION, UNSIGNALLED),
		FLAG(COMPLETION, BARRIER_FENCE),
		FLAG(COMPLETION, EVD_THRESHOLD),
		FLAG(COMPLETION, LMR_INVALIDATE_FENCE),
		END,
	};

	trace_add_flags(line, name, v, flags);
}

void
dapl_trace_privileges(struct dapl_trace_line *line, const char *name, DAT_MEM_PRIV_FLAGS v)
{
	static const struct named flags[] = {
		FLAG(MEM_PRIV, NONE),
		FLAG(MEM_PRIV, ALL),
		FLAG(MEM_PRIV, LOCAL_READ),
		FLAG(MEM_PRIV, REMOTE_READ),
		FLAG(MEM_PRIV, LOCAL_WRITE),
		FLAG(MEM_PRIV, REMOTE_WRITE),
		END,
	};

	trace_add_flags(line, name, v, flags);
}
