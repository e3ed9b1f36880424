/* SPDX-License-Identifier: BSD-3-Clause */
#include "fate.h"
#include "softverbs/wire/wire.h"

/* A key that no region has. */
#define WRONG_KEY SOFT_NO_KEY

/* The incident, and a status that this request cannot have. */
static enum soft_incident
fate_incident(const struct soft_qp *qp, const struct soft_send *send, int *unfit)
{
	*unfit = 0;
	if (qp->ibv.qp_type == IBV_QPT_UD)
		return SOFT_INCIDENT_COMPLETION_UD_SEND;
	switch (send->opcode) {
	case IBV_WR_RDMA_WRITE:
		*unfit = send->length ? 0 : IBV_WC_REM_ACCESS_ERR; /* its key is not looked at */
		return SOFT_INCIDENT_COMPLETION_WRITE;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		*unfit = send->length ? 0 : IBV_WC_REM_ACCESS_ERR;
		return SOFT_INCIDENT_COMPLETION_WRITE_IMM;
	case IBV_WR_RDMA_READ:
		*unfit = send->length ? 0 : IBV_WC_REM_ACCESS_ERR;
		return SOFT_INCIDENT_COMPLETION_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return SOFT_INCIDENT_COMPLETION_ATOMIC;
	case IBV_WR_LOCAL_INV:
		return SOFT_INCIDENT_COMPLETION_INVALIDATE;
	case IBV_WR_BIND_MW:
		return SOFT_INCIDENT_COMPLETION_BIND;
	default:
		return SOFT_INCIDENT_COMPLETION_SEND;
	}
}

enum ibv_wc_status
soft_fate_decide(struct soft_qp *qp, struct soft_send *send)
{
	enum soft_incident incident;
	int unfit;

	if (!send->judged) {
		send->judged = true;
		incident = fate_incident(qp, send, &unfit);
		send->fate = (enum ibv_wc_status)soft_fault_value(incident, qp->ibv.context, unfit);
		if (send->fate == IBV_WC_REM_ACCESS_ERR)
			send->rkey = WRONG_KEY;
		else if (send->fate == IBV_WC_REM_INV_REQ_ERR && soft_opcode_is_read(send->opcode))
			send->remote_addr |= 1;
		else if (send->fate == IBV_WC_REM_INV_REQ_ERR && !qp->sq.remote)
			send->length = SOFT_MAX_MSG;
	}
	if (send->fate == IBV_WC_REM_ACCESS_ERR || send->fate == IBV_WC_REM_INV_REQ_ERR)
		return IBV_WC_SUCCESS; /* the peer finds it */
	return send->fate;
}

void
soft_fate_change_frame(const struct soft_send *send, struct soft_frame *frame)
{
	if (send->fate != IBV_WC_REM_INV_REQ_ERR || soft_opcode_is_read(send->opcode))
		return;
	frame->total = SOFT_MAX_MSG;
	frame->flags &= (uint8_t)~SOFT_FRAME_LAST;
}
