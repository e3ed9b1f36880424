/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"
#include "json.h"
#include "softverbs/cm/id.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/device.h"
#include "softverbs/device/slot.h"
#include "softverbs/fault/process.h"
#include "softverbs/qp/qp_table.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const qp_states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
static const char *const port_states[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };
static const char *const id_states[] = {
	[SOFT_ID_IDLE] = "IDLE",
	[SOFT_ID_BOUND] = "BOUND",
	[SOFT_ID_ADDR_RESOLVED] = "ADDR_RESOLVED",
	[SOFT_ID_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
	[SOFT_ID_LISTENING] = "LISTENING",
	[SOFT_ID_REQUESTING] = "REQUESTING",
	[SOFT_ID_REQUESTED] = "REQUESTED",
	[SOFT_ID_ANSWERED] = "ANSWERED",
	[SOFT_ID_ACCEPTED] = "ACCEPTED",
	[SOFT_ID_CONNECTED] = "CONNECTED",
	[SOFT_ID_DISCONNECTING] = "DISCONNECTING",
	[SOFT_ID_DISCONNECTED] = "DISCONNECTED",
};

bool
soft_state_is_of(const char *process)
{
	char number[16];

	snprintf(number, sizeof number, "%d", (int)getpid());
	return !strcmp(process, number) || !strcmp(process, program_invocation_short_name) ||
	       !strcmp(process, soft_fault_process()->name);
}

/* ---- the process ---- */

static void
state_print_process(FILE *stream)
{
	const struct soft_recorded_process *own = soft_fault_process();
	unsigned int calls = 0;

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		calls += own->calls[call];
	fprintf(stream, "{\"process\":%d,\"name\":", (int)getpid());
	soft_json_print(stream, own->name);
	fprintf(stream, ",\"slot\":%u,\"calls\":%u,\"faults\":%u", soft_slot_number(), calls,
	    soft_record_fired(soft_record));
	for (enum soft_object i = 0; i < SOFT_OBJECTS; i++) {
		fputs(",\"", stream);
		for (const char *c = soft_object_names[i]; *c; c++)
			fputc(*c == ' ' ? '_' : *c, stream);
		fprintf(stream, "s\":%d", (int)own->objects[i]);
	}
	fputs("}\n", stream);
}

/* ---- devices ---- */

static void
state_print_port(FILE *stream, const char *device, const struct soft_device_port *port)
{
	const struct ibv_port_attr attr = soft_port_now(port);

	fprintf(stream, "{\"port\":\"%s/%u\",\"state\":\"%s\",\"lid\":%u,\"link\":\"%s\"}\n",
	    device, port->port, port_states[attr.state], attr.lid,
	    soft_device_port_is_ethernet(port) ? "ethernet" : "infiniband");
}

static void
state_print_devices(FILE *stream)
{
	const struct soft_topology *topology = soft_topology();

	for (unsigned int i = 0; i < topology->count; i++) {
		const struct soft_device *device = &topology->devices[i];

		fputs("{\"device\":", stream);
		soft_json_print(stream, device->name);
		fprintf(stream, ",\"ports\":%u,\"removed\":%s}\n", device->attr.phys_port_cnt,
		    soft_device_is_away(i) ? "true" : "false");
		for (unsigned int port = 0; port < device->attr.phys_port_cnt; port++)
			state_print_port(stream, device->name, &device->ports[port]);
	}
}

/* ---- queue pairs ---- */

/* The counts are those of requests and receives since the queue pair was last reset. */
static void
state_print_qp(struct soft_qp *qp, void *arg) SOFT_NO_SEND_LOCK
{
	uint32_t posted, completed, receives, received;
	enum ibv_qp_state state;
	FILE *stream = arg;

	soft_qp_lock_send(qp);
	state = qp->state;
	posted = qp->sq.tail - SOFT_COUNT_FIRST;
	completed = qp->sq.head - SOFT_COUNT_FIRST;
	soft_qp_unlock_send(qp);
	soft_qp_lock_receive(qp);
	receives = qp->rq.tail - SOFT_COUNT_FIRST;
	received = qp->rq.head - SOFT_COUNT_FIRST;
	soft_qp_unlock_receive(qp);
	fprintf(stream, "{\"queue_pair\":%u,\"number\":%u,\"device\":", qp->made, qp->ibv.qp_num);
	soft_json_print(stream, qp->ibv.context->device->name);
	fprintf(stream,
	    ",\"type\":\"%s\",\"state\":\"%s\",\"peer\":%u,\"sends\":%u,\"completed\":%u,"
	    "\"receives\":%u,\"received\":%u}\n",
	    qp->ibv.qp_type == IBV_QPT_UD ? "UD" : "RC",
	    state < IBV_QPS_ERR + 1 ? qp_states[state] : "?", soft_qp_peer(qp), posted, completed,
	    receives, received);
}

/* ---- connections ---- */

static void
state_print_address(FILE *stream, const char *key, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (address->sa_family == AF_INET)
		(void)inet_ntop(AF_INET,
		    &((const struct sockaddr_in *)(const void *)address)->sin_addr, text,
		    sizeof text);
	else if (address->sa_family == AF_INET6)
		(void)inet_ntop(AF_INET6,
		    &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text,
		    sizeof text);
	/* The port has its place in both. */
	fprintf(stream, ",\"%s\":\"%s\",\"%s_port\":%u", key, text, key,
	    ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port));
}

static void
state_print_id(struct soft_id *id, void *arg) REQUIRES(soft_locks.cm)
{
	struct rdma_addr *address = &id->public.route.addr;
	/* None before an address has chosen it, and the program has read so. */
	const struct ibv_context *verbs = id->public.verbs;
	FILE *stream = arg;

	fprintf(stream, "{\"connection\":%u,\"state\":\"%s\",\"device\":", id->made,
	    id_states[id->state]);
	soft_json_print(stream, verbs ? verbs->device->name : "");
	state_print_address(stream, "local", &address->src_addr);
	state_print_address(stream, "remote", &address->dst_addr);
	fprintf(stream,
	    ",\"queue_pair\":%u,\"peer\":%u,\"peer_slot\":%u,\"events\":%u,\"acknowledged\":%u}\n",
	    id->qpn, id->peer_qpn, id->peer_slot, id->reported, id->acknowledged);
}

void
soft_state_print(FILE *stream)
{
	state_print_process(stream);
	state_print_devices(stream);
	soft_qp_table_each(state_print_qp, stream);
	soft_cm_lock();
	soft_id_each(state_print_id, stream);
	soft_cm_unlock();
}
