/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * id_state -- which call an rdma id takes in which of its states
 *
 * A call in a wrong state fails with EINVAL, as in drivers/infiniband/core/cma.c.  Each call is
 * made on an id that is new.
 */
#include "story.h"

#include "softverbs/qp/qp.h"

static struct rdma_event_channel *server, *client;
static struct rdma_cm_id *listener, *active, *passive, *fresh;
static struct ibv_cq *cq;
static uint16_t port;

static struct rdma_conn_param
usual(void)
{
	return (struct rdma_conn_param){ .responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7 };
}

static void
setup(void)
{
	server = cm_channel();
	client = cm_channel();
	listener = cm_listen(server, &port);
	active = cm_resolved(client, port);
	cq = ibv_create_cq(active->verbs, 64, NULL, NULL, 0);
	cm_qp(active, cq);
}

/* What was not read goes with its id; a request that was not read has an id of its own. */
static void
drop(void)
{
	cm_forget(&active);
	cm_forget(&passive);
	cm_forget(&fresh);
	cm_forget(&listener);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
}

/* ---- the states ---- */

static struct rdma_cm_id *
idle(void)
{
	ck_assert_int_eq(rdma_create_id(client, &fresh, NULL, RDMA_PS_TCP), 0);
	return fresh;
}

static struct rdma_cm_id *
bound(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	idle();
	ck_assert_int_eq(rdma_bind_addr(fresh, (struct sockaddr *)&here), 0);
	return fresh;
}

static struct rdma_cm_id *
listening(void)
{
	return listener;
}

static struct rdma_cm_id *
address_resolved(void)
{
	struct sockaddr_in there = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	idle();
	ck_assert_int_eq(rdma_resolve_addr(fresh, NULL, (struct sockaddr *)&there, 1000), 0);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, fresh);
	return fresh;
}

static struct rdma_cm_id *
route_resolved(void)
{
	return active;
}

static struct rdma_cm_id *
requested(void)
{
	struct rdma_conn_param p = usual();
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_connect(active, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	cm_qp(passive, cq);
	return passive;
}

static struct rdma_cm_id *
requesting(void)
{
	requested();
	return active;
}

/* The caller has not read the answer. */
static struct rdma_cm_id *
answered(void)
{
	struct rdma_conn_param p = usual();

	requested();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	return passive;
}

static struct rdma_cm_id *
established_here(void)
{
	answered();
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	return passive;
}

static struct rdma_cm_id *
established_there(void)
{
	established_here();
	return active;
}

static struct rdma_cm_id *
disconnected(void)
{
	established_here();
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	return passive;
}

/* By its peer. */
static struct rdma_cm_id *
disconnected_there(void)
{
	disconnected();
	return active;
}

static struct rdma_cm_id *
rejecting(void)
{
	requested();
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), 0);
	return passive;
}

static struct rdma_cm_id *
rejected(void)
{
	rejecting();
	cm_expect(client, RDMA_CM_EVENT_REJECTED, active);
	return active;
}

/* The caller has gone. */
static struct rdma_cm_id *
abandoned(void)
{
	requested();
	cm_forget(&active);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	return passive;
}

/* ---- the calls ---- */

static int
bind_it(struct rdma_cm_id *id)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return rdma_bind_addr(id, (struct sockaddr *)&here);
}

static int
resolve_it(struct rdma_cm_id *id)
{
	struct sockaddr_in there = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 1000);
}

static int
route_it(struct rdma_cm_id *id)
{
	return rdma_resolve_route(id, 1000);
}

static int
listen_it(struct rdma_cm_id *id)
{
	return rdma_listen(id, 1);
}

static int
connect_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param p = usual();

	return rdma_connect(id, &p);
}

static int
accept_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param p = usual();

	return rdma_accept(id, &p);
}

static int
reject_it(struct rdma_cm_id *id)
{
	return rdma_reject(id, NULL, 0);
}

static int
notify_it(struct rdma_cm_id *id)
{
	return rdma_notify(id, IBV_EVENT_COMM_EST);
}

static int
establish_it(struct rdma_cm_id *id)
{
	return rdma_establish(id);
}

static int
disconnect_it(struct rdma_cm_id *id)
{
	return rdma_disconnect(id);
}

static int (*const calls[])(struct rdma_cm_id *id) = { bind_it, resolve_it, route_it, listen_it,
	connect_it, accept_it, reject_it, notify_it, establish_it, disconnect_it };
#define CALLS (sizeof calls / sizeof *calls)

static const struct {
	const char *name;
	struct rdma_cm_id *(*enter)(void);
	/* Of the calls: "." succeeds, I EINVAL, C EISCONN. */
	const char *results;
} states[] = {
	{ "idle", idle, "..I.IIIIII" },
	{ "bound", bound, "I.I.IIIIII" },
	{ "listening", listening, "IIIIIIIIII" },
	{ "address resolved", address_resolved, "II.IIIIIII" },
	{ "route resolved", route_resolved, "IIII.IIIII" },
	{ "requesting", requesting, "IIIIIIIII." },
	{ "requested", requested, "IIIII..II." },
	{ "answered", answered, "IIIIIII.I." },
	{ "established here", established_here, "IIIIIIICI." },
	{ "established there", established_there, "IIIIIIICI." },
	{ "disconnected", disconnected, "IIIIII.II." },
	{ "disconnected there", disconnected_there, "IIIIII.II." },
	{ "rejecting", rejecting, "IIIIIIIII." },
	{ "rejected", rejected, "IIIIII.II." },
	{ "abandoned", abandoned, "IIIIII.II." },
};
#define STATES ((int)(sizeof states / sizeof *states))

static char
letter(int r)
{
	if (!r)
		return '.';
	ck_assert_int_eq(r, -1);
	switch (errno) {
	case EINVAL:
		return 'I';
	case EISCONN:
		return 'C';
	default:
		return '?';
	}
}

CASE("soft-id-state:calls");

/* origin: out33.U4 */
TEST_LOOP(id__each_call_in_each_state__is_taken_or_has_its_errno, STATES)
{
	char found[CALLS + 1] = "";

	for (size_t i = 0; i < CALLS; i++) {
		setup();
		errno = 0;
		found[i] = letter(calls[i](states[_i].enter()));
		drop();
	}
	ck_assert_msg(!strcmp(found, states[_i].results), "%s: %s, expected %s", states[_i].name,
	    found, states[_i].results);
}

/* ---- a race ---- */

static int accepted, accept_errno;

static void *
accept_elsewhere(void *unused)
{
	struct rdma_conn_param param = usual();

	(void)unused;
	accepted = rdma_accept(passive, &param);
	accept_errno = errno;
	return NULL;
}

/* The thread that accepts waits for its queue pair, which this one has. */
/* origin: out33.BB5 */
TEST(accept__of_a_request_that_ends_meanwhile__has_the_errno_of_one_that_has_ended)
{
	pthread_t thread;

	setup();
	(void)requested();
	soft_qp_lock_send(soft_qp_of(passive->qp));
	ck_assert_int_eq(pthread_create(&thread, NULL, accept_elsewhere, NULL), 0);
	sleep_ms(20);
	cm_forget(&active);
	soft_qp_unlock_send(soft_qp_of(passive->qp));
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(accepted, -1);
	ck_assert_int_eq(accept_errno, EINVAL);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	drop();
}

/* What the subnet manager would say of the one path that there is. */
/* origin: out33.D8 */
TEST(path__of_a_resolved_id__has_each_field_of_the_record)
{
	const struct ibv_sa_path_rec *path;
	union ibv_gid gid;

	setup();
	path = active->route.path_rec;
	ck_assert_int_eq(active->route.num_paths, 1);
	ck_assert_int_eq(ibv_query_gid(active->verbs, 1, 0, &gid), 0);
	ck_assert_mem_eq(&path->sgid, &path->dgid, sizeof gid);
	ck_assert_uint_eq(path->slid, htons(1));
	ck_assert_uint_eq(path->dlid, htons(1));
	ck_assert_int_eq(path->raw_traffic, 0);
	ck_assert_int_eq(path->reversible, 1);
	ck_assert_int_eq(path->numb_path, 1);
	ck_assert_uint_eq(path->pkey, htons(0xffff));
	ck_assert_uint_eq(path->sl, 0);
	ck_assert_uint_eq(path->mtu_selector, 2);
	ck_assert_uint_eq(path->mtu, IBV_MTU_4096);
	ck_assert_uint_eq(path->rate_selector, 2);
	ck_assert_uint_eq(path->rate, IBV_RATE_100_GBPS);
	ck_assert_uint_eq(path->packet_life_time_selector, 2);
	ck_assert_uint_eq(path->packet_life_time, 17);
	ck_assert_uint_eq(path->preference, 0);
	drop();
}

/* origin: out33.U16 */
TEST(attributes__for_a_state_that_is_none_of_a_connection__refused)
{
	struct ibv_qp_attr attr;
	int mask;

	setup();
	for (enum ibv_qp_state state = IBV_QPS_RESET; state <= IBV_QPS_UNKNOWN; state++) {
		attr = (struct ibv_qp_attr){ .qp_state = state };
		mask = 0;
		errno = 0;
		/* To be ready to receive it needs the peer, which no one has named yet. */
		if (state == IBV_QPS_INIT || state == IBV_QPS_RTS)
			ck_assert_int_eq(rdma_init_qp_attr(active, &attr, &mask), 0);
		else
			ck_assert_int_eq(rdma_init_qp_attr(active, &attr, &mask), -1);
		ck_assert_int_eq(errno, mask ? 0 : EINVAL);
	}
	drop();
}

/* One number stands for a port of each. */
/* origin: out33.U16 */
TEST(port__in_each_port_space__is_another)
{
	static const enum rdma_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB };
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct rdma_cm_id *ids[3], *second;

	client = cm_channel();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(rdma_create_id(client, &ids[i], NULL, spaces[i]), 0);
		ck_assert_int_eq(rdma_bind_addr(ids[i], (struct sockaddr *)&address), 0);
		address.sin_port = rdma_get_src_port(ids[0]);
		ck_assert_int_eq(rdma_get_src_port(ids[i]), address.sin_port);
		ck_assert_int_eq(rdma_create_id(client, &second, NULL, spaces[i]), 0);
		ck_assert_int_eq(rdma_bind_addr(second, (struct sockaddr *)&address), -1);
		ck_assert_int_eq(errno, EADDRINUSE);
		ck_assert_int_eq(rdma_destroy_id(second), 0);
	}
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(rdma_destroy_id(ids[i]), 0);
	rdma_destroy_event_channel(client);
}
