/* SPDX-License-Identifier: BSD-3-Clause */
/* dat -- the names of the DAT calls, and the codes that they may return */
#ifndef REARM_HOSTILE_DAT_H
#define REARM_HOSTILE_DAT_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>
#include <dat2/dat_event_str.h>

enum dat_call {
	CALL_IA_OPEN,
	CALL_IA_CLOSE,
	CALL_EVD_CREATE,
	CALL_EVD_KCREATE,
	CALL_EVD_FREE,
	CALL_EVD_QUERY,
	CALL_EVD_WAIT,
	CALL_EVD_DEQUEUE,
	CALL_EVD_DEQUEUE_N,
	CALL_EVD_POST_SE,
	CALL_EVD_RESIZE,
	CALL_EVD_MODIFY_CNO,
	CALL_EVD_MODIFY_UPCALL,
	CALL_EVD_MODIFY_UPCALL_ARRAY,
	CALL_EVD_ENABLE,
	CALL_EVD_DISABLE,
	CALL_EVD_SET_UNWAITABLE,
	CALL_EVD_CLEAR_UNWAITABLE,
	CALL_CNO_CREATE,
	CALL_CNO_FD_CREATE,
	CALL_CNO_FREE,
	CALL_CNO_WAIT,
	CALL_CNO_TRIGGER,
	CALL_CNO_MODIFY_AGENT,
	CALL_CNO_QUERY,
	CALL_EP_CREATE,
	CALL_EP_FREE,
	CALL_EP_RESET,
	CALL_EP_CONNECT,
	CALL_EP_DISCONNECT,
	CALL_EP_GET_STATUS,
	CALL_EP_POST_RECV,
	CALL_EP_POST_SEND,
	CALL_EP_POST_WRITE,
	CALL_EP_POST_READ,
	CALL_PSP_CREATE,
	CALL_PSP_FREE,
	CALL_CR_QUERY,
	CALL_CR_ACCEPT,
	CALL_CR_REJECT,
	CALLS
};

const char *dat_call_name(enum dat_call call);
/* Whether the headers document a code of this type for the call. */
bool dat_call_may_return(enum dat_call call, DAT_RETURN ret);

/* "DAT_INVALID_STATE/EVD_WAITER"; the thread may keep the text until its fourth next call. */
const char *dat_name(DAT_RETURN ret);
const char *dat_policy_name(DAT_UPCALL_POLICY policy);

static inline bool
dat_is(DAT_RETURN ret, DAT_RETURN_TYPE type)
{
	return DAT_GET_TYPE(ret) == (DAT_UINT32)type;
}

/* Opens an adapter for a thread-safe consumer. */
DAT_RETURN dat_open(const char *name, DAT_COUNT qlen, DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia);
/* Ends the run unless ret is DAT_SUCCESS. */
void dat_must(const char *what, DAT_RETURN ret);

#endif
