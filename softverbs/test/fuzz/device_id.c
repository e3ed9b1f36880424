/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_id.h"
#include "fuzz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define IDS 12

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static struct ibv_cq *cq;
static struct rdma_cm_id *ids[IDS];

static struct sockaddr_in
loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

void
id_open(void)
{
	struct sockaddr_in address = loopback(0);

	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) || rdma_listen(listener, 4))
		fuzz_found("cannot listen: %s", strerror(errno));
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	cq = ibv_create_cq(listener->verbs, 4096, NULL, NULL, 0);
	if (!cq)
		fuzz_found("no completion queue: %s", strerror(errno));
	fcntl(listener->verbs->async_fd, F_SETFL, O_NONBLOCK);
}

void
id_close(void)
{
	if (ibv_destroy_cq(cq) || rdma_destroy_id(listener))
		fuzz_found("the listener is not closed: %s", strerror(errno));
	rdma_destroy_event_channel(channel);
}

uint16_t
id_port(void)
{
	return ntohs(rdma_get_src_port(listener));
}

static void
drain(void)
{
	struct ibv_async_event event;
	struct ibv_wc wc[32];

	while (ibv_poll_cq(cq, 32, wc) > 0)
		;
	while (!ibv_get_async_event(listener->verbs, &event))
		ibv_ack_async_event(&event);
}

static void
destroy(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		fuzz_found("an id is not destroyed: %s", strerror(errno));
	drain();
}

static int
make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 }
	};

	return rdma_create_qp(id, NULL, &init);
}

static struct rdma_cm_id **
free_place(void)
{
	for (unsigned int i = 0; i < IDS; i++)
		if (!ids[i])
			return &ids[i];
	return NULL;
}

static void
requested(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4, .rnr_retry_count = 1
	};
	struct rdma_cm_id **place = free_place();
	const unsigned int how = input_below(5);

	if (!place || how == 0) {
		(void)rdma_reject(id, "no", 2);
		destroy(id);
		return;
	}
	*place = id;
	if (how == 1 || how == 2)
		(void)make_qp(id);
	if (how != 4)
		(void)rdma_accept(id, how == 2 ? NULL : &param);
}

void
id_events(void)
{
	struct rdma_cm_event *event;
	uint8_t sum = 0;

	for (int i = 0; i < 64 && !rdma_get_cm_event(channel, &event); i++) {
		struct rdma_cm_id *child =
		    event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;
		const struct rdma_conn_param *conn = &event->param.conn;

		for (int k = 0; conn->private_data && k < conn->private_data_len; k++)
			sum ^= ((const uint8_t *)conn->private_data)[k];
		if (rdma_ack_cm_event(event))
			fuzz_found("an event is not acknowledged");
		if (child)
			requested(child);
	}
	if (sum == 1 && !channel) /* so that the sum, and the reading, is needed */
		fuzz_found("no channel");
}

static void
call(void)
{
	struct rdma_conn_param param = { .responder_resources = input8() % 17,
		.initiator_depth = input8() % 17,
		.private_data = "hello",
		.private_data_len = 5 };
	struct sockaddr_in address = loopback(input8() & 1 ? PEER_PORT : id_port());
	struct rdma_cm_id **place = free_place();

	if (!place || rdma_create_id(channel, place, NULL, RDMA_PS_TCP))
		return;
	(void)rdma_resolve_addr(*place, NULL, (struct sockaddr *)&address, 1);
	id_events();
	(void)rdma_resolve_route(*place, 1);
	id_events();
	if (input8() & 1)
		(void)make_qp(*place);
	(void)rdma_connect(*place, &param);
}

void
id_step(void)
{
	struct rdma_cm_id **place = &ids[input_below(IDS)];
	const unsigned int how = input_below(8);

	if (!*place) {
		if (how & 1)
			call();
		return;
	}
	if (how < 2) {
		(void)rdma_disconnect(*place);
	} else if (how < 4) {
		(void)rdma_establish(*place);
	} else if (how < 5) {
		(void)rdma_reject(*place, "no", 2);
	} else if (how < 6) {
		(void)rdma_notify(*place, IBV_EVENT_COMM_EST);
	} else {
		destroy(*place);
		*place = NULL;
	}
}

void
id_end(void)
{
	/* A request that is read now becomes an id of its own. */
	for (int i = 0; i < 4; i++) {
		id_events();
		for (unsigned int k = 0; k < IDS; k++) {
			if (ids[k])
				destroy(ids[k]);
			ids[k] = NULL;
		}
	}
}
