/* SPDX-License-Identifier: BSD-3-Clause */
#include "dat.h"

#include <stdio.h>
#include <string.h>

#include "report.h"

#define BIT(type) (1u << ((uint32_t)(type) >> 16))
#define OK BIT(DAT_SUCCESS)
#define HANDLE BIT(DAT_INVALID_HANDLE)
#define STATE BIT(DAT_INVALID_STATE)
#define PARAMETER BIT(DAT_INVALID_PARAMETER)
#define RESOURCES BIT(DAT_INSUFFICIENT_RESOURCES)
#define EMPTY BIT(DAT_QUEUE_EMPTY)

/*
 * The codes that dat2/dat_api_*.h and dat2/dat_upcall.h document, without those that cannot occur
 * here: lack of memory or of device objects, and bad arguments.
 */
static const struct {
	const char *name;
	uint32_t may;
} calls[CALLS] = {
	[CALL_IA_OPEN] = { "dat_ia_open", OK },
	[CALL_IA_CLOSE] = { "dat_ia_close", OK | HANDLE | STATE },
	[CALL_EVD_CREATE] = { "dat_evd_create", OK | HANDLE },
	[CALL_EVD_KCREATE] = { "dat_evd_kcreate", OK | HANDLE },
	[CALL_EVD_FREE] = { "dat_evd_free", OK | HANDLE | STATE },
	[CALL_EVD_QUERY] = { "dat_evd_query", OK | HANDLE },
	[CALL_EVD_WAIT] = { "dat_evd_wait", OK | HANDLE | STATE | PARAMETER |
						BIT(DAT_TIMEOUT_EXPIRED) | BIT(DAT_ABORT) |
						BIT(DAT_INTERRUPTED_CALL) },
	[CALL_EVD_DEQUEUE] = { "dat_evd_dequeue", OK | HANDLE | STATE | EMPTY },
	[CALL_EVD_DEQUEUE_N] = { "dat_evd_dequeue_n", OK | HANDLE | STATE | EMPTY },
	[CALL_EVD_POST_SE] = { "dat_evd_post_se", OK | HANDLE | PARAMETER | BIT(DAT_QUEUE_FULL) },
	[CALL_EVD_RESIZE] = { "dat_evd_resize", OK | HANDLE | STATE },
	[CALL_EVD_MODIFY_CNO] = { "dat_evd_modify_cno", OK | HANDLE },
	[CALL_EVD_MODIFY_UPCALL] = { "dat_evd_modify_upcall", OK | HANDLE | STATE },
	[CALL_EVD_MODIFY_UPCALL_ARRAY] = { "dat_evd_modify_upcall_array", OK | HANDLE | STATE },
	[CALL_EVD_ENABLE] = { "dat_evd_enable", OK | HANDLE },
	[CALL_EVD_DISABLE] = { "dat_evd_disable", OK | HANDLE },
	[CALL_EVD_SET_UNWAITABLE] = { "dat_evd_set_unwaitable", OK | HANDLE },
	[CALL_EVD_CLEAR_UNWAITABLE] = { "dat_evd_clear_unwaitable", OK | HANDLE },
	[CALL_CNO_CREATE] = { "dat_cno_create", OK | HANDLE },
	[CALL_CNO_FD_CREATE] = { "dat_cno_fd_create", OK | HANDLE },
	[CALL_CNO_FREE] = { "dat_cno_free", OK | HANDLE | STATE },
	[CALL_CNO_WAIT] = { "dat_cno_wait",
	    OK | HANDLE | STATE | EMPTY | BIT(DAT_INTERRUPTED_CALL) },
	[CALL_CNO_TRIGGER] = { "dat_cno_trigger", OK | HANDLE | EMPTY },
	[CALL_CNO_MODIFY_AGENT] = { "dat_cno_modify_agent", OK | HANDLE },
	[CALL_CNO_QUERY] = { "dat_cno_query", OK | HANDLE },
	[CALL_EP_CREATE] = { "dat_ep_create", OK | HANDLE },
	[CALL_EP_FREE] = { "dat_ep_free", OK | HANDLE | STATE },
	[CALL_EP_RESET] = { "dat_ep_reset", OK | HANDLE | STATE },
	[CALL_EP_CONNECT] = { "dat_ep_connect", OK | HANDLE | STATE },
	[CALL_EP_DISCONNECT] = { "dat_ep_disconnect", OK | HANDLE | STATE | PARAMETER },
	[CALL_EP_GET_STATUS] = { "dat_ep_get_status", OK | HANDLE },
	[CALL_EP_POST_RECV] = { "dat_ep_post_recv", OK | HANDLE | STATE | RESOURCES },
	[CALL_EP_POST_SEND] = { "dat_ep_post_send", OK | HANDLE | STATE | RESOURCES },
	[CALL_EP_POST_WRITE] = { "dat_ep_post_rdma_write", OK | HANDLE | STATE | RESOURCES },
	[CALL_EP_POST_READ] = { "dat_ep_post_rdma_read", OK | HANDLE | STATE | RESOURCES },
	[CALL_PSP_CREATE] = { "dat_psp_create_any", OK | HANDLE },
	[CALL_PSP_FREE] = { "dat_psp_free", OK | HANDLE },
	[CALL_CR_QUERY] = { "dat_cr_query", OK | HANDLE },
	[CALL_CR_ACCEPT] = { "dat_cr_accept", OK | HANDLE | STATE },
	[CALL_CR_REJECT] = { "dat_cr_reject", OK | HANDLE },
};

const char *
dat_call_name(enum dat_call call)
{
	return calls[call].name;
}

bool
dat_call_may_return(enum dat_call call, DAT_RETURN ret)
{
	uint32_t type = DAT_GET_TYPE(ret) >> 16;

	return type < 32 && (calls[call].may & 1u << type);
}

/* The name in brackets at the end of a sentence of dat_strerror(). */
static const char *
symbol(const char *sentence, int *length)
{
	const char *open = strrchr(sentence, '('), *close = open ? strchr(open, ')') : NULL;

	if (!close) {
		*length = (int)strlen(sentence);
		return sentence;
	}
	*length = (int)(close - open) - 1;
	return open + 1;
}

const char *
dat_name(DAT_RETURN ret)
{
	static __thread char texts[4][128];
	static __thread int next;
	char *text = texts[next++ % 4];
	const char *major = "", *minor = "";
	int a, b;

	(void)dat_strerror(ret, &major, &minor);
	major = symbol(major, &a);
	minor = symbol(minor, &b);
	snprintf(text, sizeof texts[0], "%.*s%s%.*s", a, major, b ? "/" : "", b, minor);
	return text;
}

const char *
dat_policy_name(DAT_UPCALL_POLICY policy)
{
	switch (policy) {
	case DAT_UPCALL_TEARDOWN:
		return "TEARDOWN";
	case DAT_UPCALL_DISABLE:
		return "DISABLE";
	case DAT_UPCALL_SINGLE_INSTANCE:
		return "SINGLE_INSTANCE";
	case DAT_UPCALL_NORIFY:
		return "NOTIFY";
	case DAT_UPCALL_MANY:
		return "MANY";
	default:
		return "an unknown policy";
	}
}

DAT_RETURN
dat_open(const char *name, DAT_COUNT qlen, DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
	char copy[DAT_NAME_MAX_LENGTH];

	snprintf(copy, sizeof copy, "%s", name);
	return dat_ia_openv(copy, qlen, async, ia, DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_TRUE);
}

void
dat_must(const char *what, DAT_RETURN ret)
{
	if (ret != DAT_SUCCESS)
		report_wrong(NULL, NULL, "%s returned %s", what, dat_name(ret));
}
