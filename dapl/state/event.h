/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event -- which numbers of events have the same data
 *
 * Datagram endpoints have numbers of their own (dat_ib_extensions.h) for what connected ones have,
 * too.
 */
#ifndef REARM_DAPL_EVENT_H
#define REARM_DAPL_EVENT_H

#include <stdbool.h>

#include <dat2/dat_ib_extensions.h>

/* It brings a connection request: cr_arrival_event_data. */
static inline bool
dapl_event_is_request(DAT_EVENT_NUMBER number)
{
	return number == DAT_CONNECTION_REQUEST_EVENT ||
	       number == (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT;
}

/* It reports on the connection of an endpoint: connect_event_data. */
static inline bool
dapl_event_is_of_connection(DAT_EVENT_NUMBER number)
{
	switch ((int)number) {
	case DAT_CONNECTION_EVENT_ESTABLISHED:
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
	case DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED:
	case DAT_IB_UD_CONNECTION_REJECT_EVENT:
	case DAT_IB_UD_CONNECTION_ERROR_EVENT:
		return true;
	default:
		return false;
	}
}

/* It reports a request that an endpoint has completed: dto_completion_event_data. */
static inline bool
dapl_event_is_of_dto(DAT_EVENT_NUMBER number)
{
	return number == DAT_DTO_COMPLETION_EVENT || number == (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT;
}

#endif
