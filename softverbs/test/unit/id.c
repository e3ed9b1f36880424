/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * id -- ids of the connection manager: their addresses and ports, and which calls they reject
 */
#include "story.h"

#include <fcntl.h>

static struct rdma_event_channel *server, *client;
static struct rdma_cm_id *listener, *active;
static uint16_t port;

static void
setup(void)
{
	server = cm_channel();
	client = cm_channel();
	listener = cm_listen(server, &port);
	active = cm_resolved(client, port);
}

static void
forget(struct rdma_cm_id **id)
{
	if (*id)
		ck_assert_int_eq(rdma_destroy_id(*id), 0);
	*id = NULL;
}

static void
teardown(void)
{
	forget(&active);
	forget(&listener);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
}

CASE("soft-id:id", setup, teardown);

TEST(bind__port_taken__address_in_use)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(rdma_listen(id, 0), 0); /* binds to any */
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}

TEST(bind__address_of_another_host__address_not_available)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000201) }; /* 192.0.2.1, for documentation */
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 100), 0);
	event = cm_next(client, RDMA_CM_EVENT_ADDR_ERROR);
	ck_assert_int_lt(event->status, 0);
	rdma_ack_cm_event(event);
	/* It has no destination, and can get another. */
	ck_assert_int_eq(rdma_resolve_route(id, 100), -1);
	ck_assert_int_eq(errno, EINVAL);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 100), 0);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	/* And then no other. */
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 100), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}

TEST(bind__any_address__no_device_until_a_request_comes)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_conn_param p = { .rnr_retry_count = 7 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id, *caller, *passive;

	ck_assert_int_eq(rdma_create_id(server, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
	ck_assert_ptr_null(id->verbs);
	ck_assert_uint_ne(rdma_get_src_port(id), 0);
	ck_assert_int_eq(rdma_listen(id, 5), 0);
	caller = cm_resolved(client, rdma_get_src_port(id));
	ck_assert_int_eq(rdma_connect(caller, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_nonnull(event->id->verbs);
	passive = event->id;
	rdma_ack_cm_event(event);
	forget(&id);
	forget(&caller);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	forget(&passive);
}

TEST(get_event__nonblocking_and_none__EAGAIN)
{
	struct rdma_cm_event *event;

	ck_assert_int_eq(fcntl(client->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(rdma_get_cm_event(client, &event), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(fcntl(client->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(wrong_state__refused)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct rdma_conn_param p = { .rnr_retry_count = 7 };
	int mask = 0;
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_connect(id, &p), -1);
	ck_assert_int_eq(rdma_accept(id, &p), -1);
	ck_assert_int_eq(rdma_reject(id, NULL, 0), -1);
	ck_assert_int_eq(rdma_disconnect(id), -1);
	ck_assert_int_eq(rdma_resolve_route(id, 100), -1);
	/* It has a device then, and no peer. */
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&here), 0);
	errno = 0;
	ck_assert_int_eq(rdma_init_qp_attr(id, &attr, &mask), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_IPOIB), -1);
	ck_assert_int_eq(errno, EPROTONOSUPPORT);
}

TEST(devices__context_outlives_the_list_and_the_ids)
{
	struct ibv_context **list, *context;
	struct ibv_pd *pd;
	int n;

	list = rdma_get_devices(&n);
	ck_assert_int_eq(n, 1);
	context = list[0];
	ck_assert_ptr_eq(context, active->verbs);
	rdma_free_devices(list);
	pd = ibv_alloc_pd(context);
	ck_assert_ptr_nonnull(pd);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

/* Each id has a port of its own; a descriptor for each would soon be too many. */
TEST(a_thousand_calling_ids__few_descriptors__unique_ports)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	static struct rdma_cm_id *ids[1000];
	static char seen[65536];
	int before = runner_count_fds();

	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(rdma_create_id(client, &ids[i], NULL, RDMA_PS_TCP), 0);
		ck_assert_int_eq(rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&to, 100), 0);
		cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, ids[i]);
		ck_assert_int_eq(seen[rdma_get_src_port(ids[i])]++, 0);
	}
	ck_assert_int_lt(runner_count_fds() - before, 32);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(rdma_destroy_id(ids[i]), 0);
	ck_assert_int_le(runner_count_fds(), before);
}

/*
 * Of all ports that it can choose, none is one that Linux leaves to programs: these choose a port
 * there when others have bound theirs.
 */
/* origin: out33.Y1 */
TEST(any_port__each_choice__leaves_those_of_servers_alone)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *id;

	for (int i = 0; i < 65536 - 49152; i++) {
		ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
		ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
		ck_assert_uint_ge(ntohs(rdma_get_src_port(id)), 49152);
		ck_assert_uint_le(ntohs(rdma_get_src_port(id)), 60999);
		ck_assert_int_eq(rdma_destroy_id(id), 0);
	}
}

TEST(port_of_a_calling_id__bound_by_name__address_in_use)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = rdma_get_src_port(active),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	forget(&active);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}

TEST(reuse_address__two_ids_share_a_port__a_listener_is_alone)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(20079),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *ids[2];
	int on = 1;

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rdma_create_id(client, &ids[i], NULL, RDMA_PS_TCP), 0);
		ck_assert_int_eq(rdma_set_option(ids[i], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
				     &on, sizeof on),
		    0);
		ck_assert_int_eq(rdma_bind_addr(ids[i], (struct sockaddr *)&address), 0);
	}
	ck_assert_int_eq(rdma_listen(ids[0], 0), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(rdma_destroy_id(ids[1]), 0);
	ck_assert_int_eq(rdma_listen(ids[0], 0), 0);
	ck_assert_int_eq(rdma_create_id(client, &ids[1], NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(
	    rdma_set_option(ids[1], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on), 0);
	ck_assert_int_eq(rdma_bind_addr(ids[1], (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(rdma_destroy_id(ids[1]), 0);
	/* The ports of datagrams are others. */
	ck_assert_int_eq(rdma_create_id(client, &ids[1], NULL, RDMA_PS_UDP), 0);
	ck_assert_int_eq(rdma_bind_addr(ids[1], (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_destroy_id(ids[1]), 0);
	ck_assert_int_eq(rdma_destroy_id(ids[0]), 0);
}

TEST(ipv6__loopback__connects)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	struct rdma_conn_param p = { .rnr_retry_count = 7 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *six, *caller, *passive;

	ck_assert_int_eq(rdma_create_id(server, &six, NULL, RDMA_PS_TCP), 0);
	if (rdma_bind_addr(six, (struct sockaddr *)&address)) {
		ck_assert_int_eq(errno, EADDRNOTAVAIL); /* a host without IPv6 */
		ck_assert_int_eq(rdma_destroy_id(six), 0);
		return;
	}
	ck_assert_int_eq(rdma_listen(six, 0), 0);
	address.sin6_port = rdma_get_src_port(six);
	ck_assert_int_eq(rdma_create_id(client, &caller, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(caller, NULL, (struct sockaddr *)&address, 100), 0);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, caller);
	ck_assert_int_eq(rdma_resolve_route(caller, 100), 0);
	cm_expect(client, RDMA_CM_EVENT_ROUTE_RESOLVED, caller);
	ck_assert_int_eq(rdma_connect(caller, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	ck_assert_int_eq(rdma_get_peer_addr(passive)->sa_family, AF_INET6);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), 0);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, caller);
	forget(&passive);
	forget(&six);
	forget(&caller);
}

static void *
serve_once(void *listening)
{
	struct rdma_cm_id *id;

	if (rdma_get_request(listening, &id))
		return NULL;
	if (rdma_accept(id, NULL)) {
		rdma_destroy_ep(id);
		return NULL;
	}
	return id;
}

static void *
refuse_once(void *listening)
{
	struct rdma_cm_id *id;

	if (rdma_get_request(listening, &id) || rdma_reject(id, NULL, 0))
		return listening;
	rdma_destroy_ep(id);
	return NULL;
}

/* By the program that listens, or because there is none. */
/* origin: out33.D8 */
TEST_LOOP(synchronous_id__its_connect_is_rejected__ECONNREFUSED, 2)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 16 }, .sq_sig_all = 1 }, copy = init;
	struct rdma_cm_id *listening, *there;
	struct rdma_addrinfo *info;
	char service[8];
	pthread_t thread;
	void *failed = NULL;

	ck_assert_int_eq(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), 0);
	ck_assert_int_eq(rdma_create_ep(&listening, info, NULL, &copy), 0);
	rdma_freeaddrinfo(info);
	if (_i) {
		ck_assert_int_eq(rdma_listen(listening, 0), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, refuse_once, listening), 0);
	}
	snprintf(service, sizeof service, "%u", ntohs(rdma_get_src_port(listening)));
	hints.ai_flags = 0;
	ck_assert_int_eq(rdma_getaddrinfo("127.0.0.1", service, &hints, &info), 0);
	ck_assert_int_eq(rdma_create_ep(&there, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	errno = 0;
	ck_assert_int_eq(rdma_connect(there, NULL), -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	if (_i)
		ck_assert_int_eq(pthread_join(thread, &failed), 0);
	ck_assert_ptr_null(failed);
	rdma_destroy_ep(there);
	rdma_destroy_ep(listening);
}

TEST(endpoints__synchronous_ids_make_their_own_queues)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 16 }, .sq_sig_all = 1 };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *listening, *there;
	struct ibv_qp_init_attr copy = init;
	char service[8];
	pthread_t thread;
	void *here;

	ck_assert_int_eq(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), 0);
	ck_assert_int_eq(rdma_create_ep(&listening, info, NULL, &copy), 0);
	rdma_freeaddrinfo(info);
	ck_assert_int_eq(rdma_listen(listening, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve_once, listening), 0);
	snprintf(service, sizeof service, "%u", ntohs(rdma_get_src_port(listening)));
	hints.ai_flags = 0;
	ck_assert_int_eq(rdma_getaddrinfo("127.0.0.1", service, &hints, &info), 0);
	ck_assert_int_eq(rdma_create_ep(&there, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	ck_assert_int_eq(rdma_connect(there, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, &here), 0);
	ck_assert_ptr_nonnull(here);
	ck_assert_ptr_eq(there->send_cq->cq_context, there);
	ck_assert_int_eq(qp_state(there->qp), IBV_QPS_RTS);
	ck_assert_int_eq(rdma_disconnect(there), 0);
	rdma_destroy_ep(there);
	rdma_destroy_ep(here);
	rdma_destroy_ep(listening);
}

/*
 * The wildcard address leads to the loopback address of its family; a source of another host to
 * nothing.
 */
TEST(resolve__of_special_addresses__as_a_host_does)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = port },
			   elsewhere = { .sin_family = AF_INET, .sin_addr = { htonl(0xc0000201) } };
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = port };
	const struct sockaddr_in *to;
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, NULL, 10), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(
	    rdma_resolve_addr(id, (struct sockaddr *)&any6, (struct sockaddr *)&any, 10), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(
	    rdma_resolve_addr(id, (struct sockaddr *)&elsewhere, (struct sockaddr *)&any, 10), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
	ck_assert_ptr_null(id->verbs);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&any, 10), 0);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	to = (const struct sockaddr_in *)rdma_get_peer_addr(id);
	ck_assert_uint_eq(to->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	ck_assert_uint_eq(to->sin_port, port);
	ck_assert_int_eq(rdma_destroy_id(id), 0);

	/* A source of this host is kept, and its port. */
	elsewhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	elsewhere.sin_port = htons(20083);
	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(
	    rdma_resolve_addr(id, (struct sockaddr *)&elsewhere, (struct sockaddr *)&any, 10), 0);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	to = (const struct sockaddr_in *)rdma_get_local_addr(id);
	ck_assert_uint_eq(to->sin_addr.s_addr, htonl(INADDR_LOOPBACK + 1));
	ck_assert_uint_eq(to->sin_port, htons(20083));
	ck_assert_int_eq(rdma_destroy_id(id), 0);

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&any6, 10)) {
		runner_skip("no IPv6 on this host");
	} else {
		const struct sockaddr_in6 *to6 =
		    (const struct sockaddr_in6 *)rdma_get_peer_addr(id);
		struct rdma_cm_event *event;

		ck_assert_int_eq(rdma_get_cm_event(client, &event), 0);
		if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED)
			ck_assert(IN6_IS_ADDR_LOOPBACK(&to6->sin6_addr));
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	}
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}
