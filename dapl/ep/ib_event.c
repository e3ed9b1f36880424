/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "dapl/ep/ib_event.h"

static DAT_IB_EXT_TYPE
ib_event_type(int operation)
{
	switch (operation) {
	case DAT_IB_DTO_FETCH_ADD:
		return DAT_IB_FETCH_AND_ADD;
	case DAT_IB_DTO_CMP_SWAP:
		return DAT_IB_CMP_AND_SWAP;
	case DAT_IB_DTO_RECV_IMMED:
		return DAT_IB_RDMA_WRITE_IMMED_DATA;
	case DAT_IB_DTO_RECV_MSG_IMMED:
		return DAT_IB_RECV_IMMED_DATA;
	case DAT_IB_DTO_SEND_UD:
		return DAT_IB_UD_SEND;
	case DAT_IB_DTO_RECV_UD:
	case DAT_IB_DTO_RECV_UD_IMMED:
		return DAT_IB_UD_RECV;
	default:
		return DAT_IB_RDMA_WRITE_IMMED;
	}
}

void
dapl_ib_event_extend(DAT_EVENT *event, DAT_UINT32 immediate)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	DAT_IB_EXTENSION_EVENT_DATA *ib =
	    (DAT_IB_EXTENSION_EVENT_DATA *)(void *)event->event_extension_data;

	event->event_number = (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT;
	memset(event->event_extension_data, 0, sizeof event->event_extension_data);
	ib->type = ib_event_type((int)dto->operation);
	ib->status = dto->status == DAT_DTO_SUCCESS ? (DAT_IB_STATUS)DAT_OP_SUCCESS : DAT_IB_OP_ERR;
	ib->val.immed.data = immediate;
	ib->context = dto->user_cookie;
}
