/* SPDX-License-Identifier: BSD-3-Clause */
#include "lookup.h"
#include "event.h"
#include "softverbs/device/changes.h"

#include <string.h>

void
soft_lookup_fill_event(struct soft_event *event, const struct soft_cm_message *message, bool answer)
{
	memcpy(event->data, message->data, sizeof event->data);
	event->public.param.ud = (struct rdma_ud_param){
		.private_data = event->data,
		.private_data_len = answer ? SOFT_CM_FOUND_DATA : SOFT_CM_LOOKUP_DATA,
	};
	if (message->type != SOFT_CM_REP)
		return;
	event->public.param.ud.qp_num = message->qpn;
	event->public.param.ud.qkey = RDMA_UDP_QKEY;
	event->public.param.ud.ah_attr =
	    (struct ibv_ah_attr){ .dlid = soft_port_lid(), .port_num = SOFT_PORT };
}

void
soft_lookup_found(struct soft_id *id, const struct soft_cm_message *reply)
{
	id->state = SOFT_ID_DISCONNECTED;
	soft_lookup_fill_event(&id->answer, reply, true);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void
soft_lookup_refused(struct soft_id *id, const struct soft_cm_message *rejection)
{
	const int status = rejection->reason == SOFT_CM_REJ_NO_SERVICE ? SOFT_CM_LOOKUP_NO_SERVICE :
									 SOFT_CM_LOOKUP_REFUSED;

	id->state = SOFT_ID_DISCONNECTED;
	soft_lookup_fill_event(&id->answer, rejection, true);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_UNREACHABLE, status);
}
