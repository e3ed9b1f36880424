/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_event_str.h -- names of events and statuses, for messages and traces
 *
 * The functions are part of the program that includes this header: they work under any DAT 2.0
 * registry and provider.
 *
 *	`number`	the event_number of a DAT_EVENT
 *	`status`	the status of a completion event
 */
#ifndef _DAT_EVENT_STR_H_
#define _DAT_EVENT_STR_H_

#include <stddef.h>

#include <dat2/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the name of an event number.  It is spelt as in dat.h and dat_ib_extensions.h, such as
 * "DAT_DTO_COMPLETION_EVENT"; for a number that neither has it is NULL.
 *
 * Threads: any.  From: Rearm.
 */
static inline const char *
dat_event_name(DAT_EVENT_NUMBER number)
{
	switch ((unsigned int)number) {
	case DAT_DTO_COMPLETION_EVENT:
		return "DAT_DTO_COMPLETION_EVENT";
	case DAT_RMR_BIND_COMPLETION_EVENT:
		return "DAT_RMR_BIND_COMPLETION_EVENT";
	case DAT_CONNECTION_REQUEST_EVENT:
		return "DAT_CONNECTION_REQUEST_EVENT";
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		return "DAT_CONNECTION_EVENT_ESTABLISHED";
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
		return "DAT_CONNECTION_EVENT_PEER_REJECTED";
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
		return "DAT_CONNECTION_EVENT_NON_PEER_REJECTED";
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
		return "DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR";
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		return "DAT_CONNECTION_EVENT_DISCONNECTED";
	case DAT_CONNECTION_EVENT_BROKEN:
		return "DAT_CONNECTION_EVENT_BROKEN";
	case DAT_CONNECTION_EVENT_TIMED_OUT:
		return "DAT_CONNECTION_EVENT_TIMED_OUT";
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		return "DAT_CONNECTION_EVENT_UNREACHABLE";
	case DAT_ASYNC_ERROR_EVD_OVERFLOW:
		return "DAT_ASYNC_ERROR_EVD_OVERFLOW";
	case DAT_ASYNC_ERROR_IA_CATASTROPHIC:
		return "DAT_ASYNC_ERROR_IA_CATASTROPHIC";
	case DAT_ASYNC_ERROR_EP_BROKEN:
		return "DAT_ASYNC_ERROR_EP_BROKEN";
	case DAT_ASYNC_ERROR_TIMED_OUT:
		return "DAT_ASYNC_ERROR_TIMED_OUT";
	case DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR:
		return "DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR";
	case DAT_HA_DOWN_TO_1:
		return "DAT_HA_DOWN_TO_1";
	case DAT_HA_UP_TO_MULTI_PATH:
		return "DAT_HA_UP_TO_MULTI_PATH";
	case DAT_SOFTWARE_EVENT:
		return "DAT_SOFTWARE_EVENT";
	case 0x40000:
		return "DAT_IB_DTO_EVENT";
	case 0x40001:
		return "DAT_IB_UD_CONNECTION_REQUEST_EVENT";
	case 0x40002:
		return "DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED";
	case 0x40003:
		return "DAT_IB_UD_CONNECTION_REJECT_EVENT";
	case 0x40004:
		return "DAT_IB_UD_CONNECTION_ERROR_EVENT";
	case 0x40005:
		return "DAT_IB_COLLECTIVE_EVENT";
	default:
		return NULL;
	}
}

/*
 * Returns the name of a completion status.  It is spelt as in dat.h, such as "DAT_DTO_ERR_FLUSHED";
 * for a number that dat.h does not have it is NULL.  A number with two names has the one that
 * describes it better.
 *
 * Threads: any.  From: Rearm.
 */
static inline const char *
dat_dto_status_name(DAT_DTO_COMPLETION_STATUS status)
{
	switch ((unsigned int)status) {
	case DAT_DTO_SUCCESS:
		return "DAT_DTO_SUCCESS";
	case DAT_DTO_ERR_FLUSHED:
		return "DAT_DTO_ERR_FLUSHED";
	case DAT_DTO_ERR_LOCAL_LENGTH:
		return "DAT_DTO_ERR_LOCAL_LENGTH";
	case DAT_DTO_ERR_LOCAL_EP:
		return "DAT_DTO_ERR_LOCAL_EP";
	case DAT_DTO_ERR_LOCAL_PROTECTION:
		return "DAT_DTO_ERR_LOCAL_PROTECTION";
	case DAT_DTO_ERR_BAD_RESPONSE:
		return "DAT_DTO_ERR_BAD_RESPONSE";
	case DAT_DTO_ERR_REMOTE_ACCESS:
		return "DAT_DTO_ERR_REMOTE_ACCESS";
	case DAT_DTO_ERR_REMOTE_RESPONDER:
		return "DAT_DTO_ERR_REMOTE_RESPONDER";
	case DAT_DTO_ERR_TRANSPORT:
		return "DAT_DTO_ERR_TRANSPORT";
	case DAT_DTO_ERR_RECEIVER_NOT_READY:
		return "DAT_DTO_ERR_RECEIVER_NOT_READY";
	case DAT_DTO_ERR_PARTIAL_PACKET:
		return "DAT_DTO_ERR_PARTIAL_PACKET";
	case DAT_RMR_OPERATION_FAILED:
		return "DAT_RMR_OPERATION_FAILED";
	case DAT_DTO_ERR_LOCAL_MM_ERROR:
		return "DAT_DTO_ERR_LOCAL_MM_ERROR";
	default:
		return NULL;
	}
}

/*
 * Returns a name of an event number, for messages.  As dat_event_name(), but "unknown event"
 * instead of NULL.
 *
 * Threads: any.  From: Rearm.
 */
static inline const char *
dat_event_str(DAT_EVENT_NUMBER number)
{
	const char *name = dat_event_name(number);

	return name ? name : "unknown event";
}

/*
 * Returns a name of a completion status, for messages.  As dat_dto_status_name(), but "unknown
 * status" instead of NULL.
 *
 * Threads: any.  From: Rearm.
 */
static inline const char *
dat_dto_status_str(DAT_DTO_COMPLETION_STATUS status)
{
	const char *name = dat_dto_status_name(status);

	return name ? name : "unknown status";
}

#ifdef __cplusplus
}
#endif

#endif
