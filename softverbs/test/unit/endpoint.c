/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint -- addresses by rdma_getaddrinfo(), and the ids that rdma_create_ep() makes of them
 */
#include "story.h"

#include <fcntl.h>
#include <netdb.h>
#include <rdma/rdma_verbs.h>

#define LOOPBACK "127.0.0.1"

static struct rdma_addrinfo *info;

static void
teardown(void)
{
	rdma_freeaddrinfo(info);
	info = NULL;
}

static void
forget_info(void)
{
	rdma_freeaddrinfo(info);
	info = NULL;
}

static void
look_up(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	forget_info();
	ck_assert_int_eq(rdma_getaddrinfo(node, service, hints, &info), 0);
	ck_assert_ptr_nonnull(info);
}

static uint16_t
port_of(const struct sockaddr *address)
{
	return ntohs(address->sa_family == AF_INET ?
			 ((const struct sockaddr_in *)(const void *)address)->sin_port :
			 ((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
}

/* ---- rdma_getaddrinfo() ---- */

CASE("soft-endpoint:addresses", .teardown = teardown);

TEST(addresses__of_node_and_service__are_the_destination)
{
	look_up(LOOPBACK, "7174", NULL);
	ck_assert_int_eq(info->ai_family, AF_INET);
	ck_assert_int_eq(info->ai_port_space, RDMA_PS_TCP);
	ck_assert_int_eq(info->ai_qp_type, IBV_QPT_RC);
	ck_assert_int_eq(info->ai_flags, 0);
	ck_assert_uint_eq(info->ai_dst_len, sizeof(struct sockaddr_in));
	ck_assert_uint_eq(port_of(info->ai_dst_addr), 7174);
	ck_assert_str_eq(info->ai_dst_canonname, LOOPBACK);
	ck_assert_uint_eq(info->ai_src_len, 0);
	ck_assert_ptr_null(info->ai_src_addr);
	ck_assert_ptr_null(info->ai_src_canonname);
	ck_assert_ptr_null(info->ai_next);
	look_up("::1", NULL, NULL);
	ck_assert_int_eq(info->ai_family, AF_INET6);
	ck_assert_uint_eq(info->ai_dst_len, sizeof(struct sockaddr_in6));
	ck_assert_uint_eq(port_of(info->ai_dst_addr), 0);
}

TEST(addresses__passive__are_the_source)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE | RAI_NOROUTE,
		.ai_family = AF_INET };
	const struct sockaddr_in *in;

	look_up(NULL, "7174", &hints);
	ck_assert_int_eq(info->ai_flags, RAI_PASSIVE);
	ck_assert_uint_eq(info->ai_dst_len, 0);
	ck_assert_uint_eq(info->ai_src_len, sizeof *in);
	in = (const struct sockaddr_in *)(void *)info->ai_src_addr;
	ck_assert_uint_eq(in->sin_addr.s_addr, htonl(INADDR_ANY));
	ck_assert_uint_eq(ntohs(in->sin_port), 7174);
	look_up(LOOPBACK, NULL, &hints);
	ck_assert_str_eq(info->ai_src_canonname, LOOPBACK);
	ck_assert_uint_eq(port_of(info->ai_src_addr), 0);
	/* Without a node and not passive it is a service of this host. */
	hints.ai_flags = 0;
	look_up(NULL, "7174", &hints);
	in = (const struct sockaddr_in *)(void *)info->ai_dst_addr;
	ck_assert_uint_eq(in->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

static const struct {
	int space, type;	     /* of the hints */
	int found_space, found_type; /* -1: an error */
} kinds[] = {
	{ 0, 0, RDMA_PS_TCP, IBV_QPT_RC },
	{ RDMA_PS_TCP, 0, RDMA_PS_TCP, IBV_QPT_RC },
	{ RDMA_PS_UDP, 0, RDMA_PS_UDP, IBV_QPT_UD },
	{ RDMA_PS_IB, 0, RDMA_PS_IB, IBV_QPT_RC },
	{ RDMA_PS_IB, IBV_QPT_UD, RDMA_PS_IB, IBV_QPT_UD },
	{ 0, IBV_QPT_UD, RDMA_PS_UDP, IBV_QPT_UD },
	{ 0, IBV_QPT_RC, RDMA_PS_TCP, IBV_QPT_RC },
	{ RDMA_PS_TCP, IBV_QPT_UD, -1, -1 },
	{ RDMA_PS_UDP, IBV_QPT_RC, -1, -1 },
	{ 77, 0, -1, -1 },
};

TEST_LOOP(kind__of_service__is_that_of_the_hints, (sizeof kinds / sizeof kinds[0]))
{
	const struct rdma_addrinfo hints = { .ai_port_space = kinds[_i].space,
		.ai_qp_type = kinds[_i].type };
	int r = rdma_getaddrinfo(LOOPBACK, "1", &hints, &info);

	if (kinds[_i].found_space < 0) {
		ck_assert_int_eq(r, EAI_SOCKTYPE);
		return;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(info->ai_port_space, kinds[_i].found_space);
	ck_assert_int_eq(info->ai_qp_type, kinds[_i].found_type);
}

TEST(addresses__without_names__are_those_of_the_hints)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = 5 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = 6 };
	struct rdma_addrinfo hints = { .ai_src_addr = (struct sockaddr *)&from,
		.ai_src_len = sizeof from,
		.ai_dst_addr = (struct sockaddr *)&to,
		.ai_dst_len = sizeof to };

	look_up(NULL, NULL, &hints);
	ck_assert_int_eq(info->ai_family, AF_INET);
	ck_assert_int_eq(info->ai_port_space, RDMA_PS_TCP);
	ck_assert_mem_eq(info->ai_src_addr, &from, sizeof from);
	ck_assert_mem_eq(info->ai_dst_addr, &to, sizeof to);
	hints.ai_dst_addr = NULL;
	look_up(NULL, NULL, &hints);
	ck_assert_int_eq(info->ai_family, AF_INET);
	ck_assert_mem_eq(info->ai_src_addr, &from, sizeof from);
	ck_assert_ptr_null(info->ai_dst_addr);
	hints = (struct rdma_addrinfo){ .ai_dst_addr = (struct sockaddr *)&to,
		.ai_dst_len = sizeof to };
	look_up(NULL, NULL, &hints);
	ck_assert_int_eq(info->ai_family, AF_INET);
	ck_assert_ptr_null(info->ai_src_addr);
	/* The family of the hints is the one asked for. */
	hints.ai_family = AF_INET6;
	look_up(NULL, NULL, &hints);
	ck_assert_int_eq(info->ai_family, AF_INET6);
	/* The source goes with a destination that has a name. */
	hints = (struct rdma_addrinfo){ .ai_src_addr = (struct sockaddr *)&from,
		.ai_src_len = sizeof from };
	look_up(LOOPBACK, "9", &hints);
	ck_assert_mem_eq(info->ai_src_addr, &from, sizeof from);
	ck_assert_uint_eq(port_of(info->ai_dst_addr), 9);
}

TEST(names__that_lead_nowhere__have_the_errors_of_getaddrinfo)
{
	struct rdma_addrinfo hints = { .ai_flags = 1 << 20 };

	errno = 0;
	ck_assert_int_eq(rdma_getaddrinfo(NULL, NULL, NULL, &info), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_getaddrinfo(LOOPBACK, "1", &hints, &info), EAI_BADFLAGS);
	hints = (struct rdma_addrinfo){ .ai_family = AF_UNIX };
	ck_assert_int_eq(rdma_getaddrinfo(LOOPBACK, "1", &hints, &info), EAI_FAMILY);
	hints = (struct rdma_addrinfo){ .ai_flags = RAI_NUMERICHOST };
	ck_assert_int_eq(rdma_getaddrinfo("localhost", "1", &hints, &info), EAI_NONAME);
	ck_assert_int_eq(rdma_getaddrinfo(LOOPBACK, "no service", NULL, &info), EAI_SERVICE);
	hints = (struct rdma_addrinfo){ .ai_flags = RAI_FAMILY, .ai_family = AF_INET6 };
	ck_assert_int_ne(rdma_getaddrinfo(LOOPBACK, "1", &hints, &info), 0);
	ck_assert_ptr_null(info);
	rdma_freeaddrinfo(NULL);
}

/* ---- rdma_create_ep() and rdma_get_request() ---- */

static struct ibv_qp_init_attr
small_qp(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 4, 4, 1, 1, 16 }, .sq_sig_all = 1 };
}

static struct rdma_cm_id *
listening_ep(struct ibv_qp_init_attr *init, int space)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = space };
	struct rdma_cm_id *id;

	look_up(LOOPBACK, NULL, &hints);
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, init), 0);
	ck_assert_int_eq(rdma_listen(id, 0), 0);
	return id;
}

static struct rdma_cm_id *
calling_ep(uint16_t port, struct ibv_qp_init_attr *init, int space)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_NOROUTE, .ai_port_space = space };
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof service, "%u", ntohs(port));
	look_up(LOOPBACK, service, &hints);
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, init), 0);
	return id;
}

struct service {
	struct rdma_cm_id *listening, *id;
	bool own_qp; /* made after the request, not by the listener's attributes */
	bool srq;
	char word[8];
};

/* Echoes one message. */
static void *
serve(void *arg)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr init = small_qp();
	struct service *s = arg;
	struct ibv_wc wc;
	struct ibv_mr *mr;

	ck_assert_int_eq(rdma_get_request(s->listening, &s->id), 0);
	ck_assert_int_eq(s->id->event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_nonnull(s->id->route.path_rec);
	ck_assert_int_eq(!s->id->qp, s->own_qp);
	if (s->srq)
		ck_assert_int_eq(rdma_create_srq(s->id, NULL, &shared), 0);
	if (s->own_qp) {
		init.qp_type = IBV_QPT_RC;
		init.cap.max_recv_wr = s->srq ? 0 : 4;
		ck_assert_int_eq(rdma_create_qp(s->id, NULL, &init), 0);
		ck_assert_ptr_eq(s->id->qp->srq, s->id->srq);
	}
	mr = rdma_reg_msgs(s->id, s->word, sizeof s->word);
	/*
	 * More than one, and those of a shared queue, too, have room in the queue of completions.
	 */
	for (uintptr_t i = 0; i < 2; i++)
		ck_assert_int_eq(
		    rdma_post_recv(s->id, (void *)(i + 1), s->word, sizeof s->word, mr), 0);
	ck_assert_int_eq(rdma_accept(s->id, NULL), 0);
	ck_assert_int_eq(s->id->event->event, RDMA_CM_EVENT_ESTABLISHED);
	for (uint64_t i = 0; i < 2; i++) {
		ck_assert_int_eq(rdma_get_recv_comp(s->id, &wc), 1);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_uint_eq(wc.wr_id, i + 1);
	}
	ck_assert_int_eq(rdma_post_send(s->id, NULL, s->word, sizeof s->word, mr, 0), 0);
	ck_assert_int_eq(rdma_get_send_comp(s->id, &wc), 1);
	ck_assert_int_eq(rdma_disconnect(s->id), 0);
	ck_assert_int_eq(s->id->event->event, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rdma_dereg_mr(mr), 0);
	return NULL;
}

CASE("soft-endpoint:endpoints", .teardown = teardown);

TEST_LOOP(endpoints__with_queue_pairs_of_every_origin__talk, 3)
{
	struct service s = { .own_qp = _i > 0, .srq = _i > 1 };
	struct ibv_qp_init_attr init = small_qp(), here = small_qp();
	char out[8] = "a word", in[8] = "";
	struct rdma_cm_id *id;
	pthread_t thread;
	struct ibv_wc wc;
	struct ibv_mr *mr[2];

	s.listening = listening_ep(s.own_qp ? NULL : &init, RDMA_PS_TCP);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve, &s), 0);
	id = calling_ep(rdma_get_src_port(s.listening), &here, RDMA_PS_TCP);
	ck_assert_int_eq(here.qp_type, IBV_QPT_RC);
	mr[0] = rdma_reg_msgs(id, out, sizeof out);
	mr[1] = rdma_reg_msgs(id, in, sizeof in);
	ck_assert_int_eq(rdma_post_recv(id, NULL, in, sizeof in, mr[1]), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	ck_assert_int_eq(id->event->event, RDMA_CM_EVENT_ESTABLISHED);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rdma_post_send(id, NULL, out, sizeof out, mr[0], 0), 0);
		ck_assert_int_eq(rdma_get_send_comp(id, &wc), 1);
	}
	ck_assert_int_eq(rdma_get_recv_comp(id, &wc), 1);
	ck_assert_str_eq(in, out);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(rdma_dereg_mr(mr[i]), 0);
	rdma_destroy_ep(id);
	rdma_destroy_ep(s.id);
	rdma_destroy_ep(s.listening);
}

/* origin: out33.U16 */
TEST(get_request__nonblocking_and_none__EAGAIN)
{
	struct rdma_cm_id *listening = listening_ep(NULL, RDMA_PS_TCP), *id = NULL;

	ck_assert_int_eq(fcntl(listening->channel->fd, F_SETFL, O_NONBLOCK), 0);
	errno = 0;
	ck_assert_int_eq(rdma_get_request(listening, &id), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_ptr_null(id);
	rdma_destroy_ep(listening);
}

TEST(listener__that_was_migrated__makes_no_queue_pairs)
{
	struct ibv_qp_init_attr init = small_qp(), here = small_qp(), there = small_qp();
	struct rdma_event_channel *server = cm_channel(), *client = cm_channel();
	struct rdma_cm_id *listening = listening_ep(&init, RDMA_PS_TCP), *id, *passive;
	struct rdma_cm_event *event;

	errno = 0;
	ck_assert_int_eq(rdma_migrate_id(listening, NULL), -1); /* it is synchronous already */
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_migrate_id(listening, server), 0);
	ck_assert_int_eq(rdma_get_request(listening, &passive), -1);
	ck_assert_int_eq(errno, EINVAL);
	id = calling_ep(rdma_get_src_port(listening), &here, RDMA_PS_TCP);
	ck_assert_int_eq(rdma_migrate_id(id, client), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	ck_assert_ptr_null(passive->qp);
	there.qp_type = IBV_QPT_RC;
	ck_assert_int_eq(rdma_create_qp(passive, NULL, &there), 0);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	rdma_destroy_ep(id);
	rdma_destroy_ep(passive);
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
}

/* The attributes are wrong: the request is refused, and nothing is left. */
TEST(request__whose_queue_pair_cannot_be_made__is_refused)
{
	struct ibv_qp_init_attr bad = small_qp(), here = small_qp();
	struct rdma_event_channel *client = cm_channel();
	struct rdma_cm_id *listening, *id, *passive = NULL;

	bad.cap.max_send_sge = 1000;
	listening = listening_ep(&bad, RDMA_PS_TCP);
	id = calling_ep(rdma_get_src_port(listening), &here, RDMA_PS_TCP);
	ck_assert_int_eq(rdma_migrate_id(id, client), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	errno = 0;
	ck_assert_int_eq(rdma_get_request(listening, &passive), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(passive);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, id);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(client);
}

TEST(domain__of_a_listener__is_that_of_its_queue_pairs)
{
	struct ibv_qp_init_attr init = small_qp(), here = small_qp();
	const struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE };
	struct rdma_cm_id *listening, *id, *passive;
	struct rdma_event_channel *client = cm_channel();
	struct ibv_context **devices = rdma_get_devices(NULL);
	struct ibv_pd *pd = ibv_alloc_pd(devices[0]);

	look_up(NULL, NULL, &(struct rdma_addrinfo){ .ai_src_len = 0 });
	look_up(LOOPBACK, NULL, &hints);
	ck_assert_int_eq(rdma_create_ep(&listening, info, pd, &init), 0);
	ck_assert_ptr_eq(listening->pd, pd);
	ck_assert_int_eq(rdma_listen(listening, 0), 0);
	id = calling_ep(rdma_get_src_port(listening), &here, RDMA_PS_TCP);
	ck_assert_int_eq(rdma_migrate_id(id, client), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	ck_assert_int_eq(rdma_get_request(listening, &passive), 0);
	ck_assert_ptr_eq(passive->qp->pd, pd);
	ck_assert_ptr_eq(passive->pd, pd);
	rdma_destroy_ep(passive);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(client);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	rdma_free_devices(devices);
}

TEST(datagrams__have_endpoints_too)
{
	struct ibv_qp_init_attr init = small_qp(), here = small_qp();
	struct rdma_cm_id *listening = listening_ep(&init, RDMA_PS_UDP), *id, *passive;
	struct rdma_event_channel *client = cm_channel();
	struct rdma_cm_event *event;

	id = calling_ep(rdma_get_src_port(listening), &here, RDMA_PS_UDP);
	ck_assert_int_eq(id->qp->qp_type, IBV_QPT_UD);
	ck_assert_int_eq(rdma_migrate_id(id, client), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	ck_assert_int_eq(rdma_get_request(listening, &passive), 0);
	ck_assert_int_eq(passive->qp->qp_type, IBV_QPT_UD);
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	event = cm_next(client, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_uint_eq(event->param.ud.qp_num, passive->qp->qp_num);
	rdma_ack_cm_event(event);
	rdma_destroy_ep(passive);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(client);
}

/* What an address needs to be connected to comes before what the caller says. */
TEST(data_and_route__of_an_address__are_used)
{
	struct ibv_path_data path = { .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
					       IBV_PATH_FLAG_BIDIRECTIONAL,
		.path = { .mtu = IBV_MTU_1024 } };
	struct rdma_conn_param param = { .private_data = " and more", .private_data_len = 10 };
	struct ibv_qp_init_attr init = small_qp(), here = small_qp();
	struct rdma_cm_id *listening = listening_ep(&init, RDMA_PS_TCP), *id, *passive;
	struct rdma_event_channel *client = cm_channel();
	char service[8], data[60] = "this";

	snprintf(service, sizeof service, "%u", ntohs(rdma_get_src_port(listening)));
	look_up(LOOPBACK, service, NULL);
	info->ai_route = &path;
	info->ai_route_len = sizeof path;
	info->ai_connect = data;
	info->ai_connect_len = 4;
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, &here), 0);
	info->ai_route = info->ai_connect = NULL;
	ck_assert_int_eq(id->route.path_rec->mtu, IBV_MTU_1024);
	ck_assert_int_eq(rdma_migrate_id(id, client), 0);
	param.private_data_len = 53;
	ck_assert_int_eq(rdma_connect(id, &param), -1); /* one byte too many */
	param.private_data_len = 10;
	ck_assert_int_eq(rdma_connect(id, &param), 0);
	ck_assert_int_eq(rdma_get_request(listening, &passive), 0);
	ck_assert_str_eq(passive->event->param.conn.private_data, "this and more");
	rdma_destroy_ep(passive);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(client);
}

TEST(endpoint__that_cannot_be_made__says_why)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_IB, .ai_qp_type = IBV_QPT_UD };
	struct ibv_qp_init_attr init = small_qp();
	struct rdma_cm_id *id = NULL;
	struct rdma_addrinfo bare = { .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC };
	char service[8] = "";

	look_up("192.0.2.1", "1", NULL); /* for documentation: of no host */
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, &init), -1);
	ck_assert_int_eq(errno, ENETUNREACH);
	look_up(LOOPBACK, "1", &hints);
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, &init), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	info->ai_port_space = RDMA_PS_TCP;
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	info->ai_port_space = RDMA_PS_UDP;
	info->ai_qp_type = IBV_QPT_RC;
	errno = 0;
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_create_ep(&id, &bare, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	bare.ai_flags = RAI_PASSIVE;
	ck_assert_int_eq(rdma_create_ep(&id, &bare, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	/* A record of a route that is none, and an address of no device to listen at. */
	look_up(LOOPBACK, "1", NULL);
	info->ai_route = service;
	info->ai_route_len = 7;
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	info->ai_route = NULL;
	info->ai_route_len = 0;
	look_up("192.0.2.1", "1", &(struct rdma_addrinfo){ .ai_flags = RAI_PASSIVE });
	ck_assert_int_eq(rdma_create_ep(&id, info, NULL, &init), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
	ck_assert_ptr_null(id);
}

/* The queue pair, with its operations, is that of the extended call. */
TEST(extended_queue_pair__of_an_id__has_its_operations)
{
	struct ibv_qp_init_attr_ex init = { .cap = { 4, 4, 1, 1, 16 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND };
	struct rdma_event_channel *client = cm_channel();
	struct rdma_cm_id *listening = listening_ep(NULL, RDMA_PS_TCP), *id, *passive;
	struct ibv_qp_init_attr there = small_qp();
	struct ibv_qp_ex *ex;
	struct ibv_mr *mr;
	char word[] = "word", heard[8] = "";

	id = calling_ep(rdma_get_src_port(listening), NULL, RDMA_PS_TCP);
	ck_assert_int_eq(rdma_create_qp_ex(id, &init), 0);
	ck_assert_ptr_eq(init.pd, id->pd);
	ck_assert_ptr_eq(init.send_cq, id->send_cq);
	ck_assert_int_eq(rdma_create_qp_ex(id, &init), -1); /* it has one */
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_migrate_id(id, client), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	ck_assert_int_eq(rdma_get_request(listening, &passive), 0);
	there.qp_type = IBV_QPT_RC;
	ck_assert_int_eq(rdma_create_qp(passive, NULL, &there), 0);
	mr = rdma_reg_msgs(passive, heard, sizeof heard);
	ck_assert_int_eq(rdma_post_recv(passive, NULL, heard, sizeof heard, mr), 0);
	ck_assert_int_eq(rdma_migrate_id(passive, client), 0);
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, passive);
	ex = ibv_qp_to_qp_ex(id->qp);
	ck_assert_ptr_nonnull(ex);
	ibv_wr_start(ex);
	ex->wr_id = 7;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, word, sizeof word);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	cq_expect(id->send_cq, 7, IBV_WC_SUCCESS);
	cq_expect(passive->recv_cq, 0, IBV_WC_SUCCESS);
	ck_assert_str_eq(heard, word);
	ck_assert_int_eq(rdma_dereg_mr(mr), 0);
	rdma_destroy_ep(passive);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(client);
}

/*
 * The queue pair of a request cannot be made: the caller is rejected, and the next one is served as
 * before.
 */
/* origin: outside.165 */
TEST(get_request__its_queue_pair_cannot_be_made__the_caller_is_rejected)
{
	struct ibv_qp_init_attr init, large = small_qp();
	struct rdma_cm_id *listening, *calling, *passive = NULL;
	struct rdma_event_channel *events = cm_channel();
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_event *event;

	large.cap.max_send_wr = 1 << 20;
	listening = listening_ep(&large, RDMA_PS_TCP);
	for (int i = 0; i < 3; i++) {
		init = small_qp();
		calling = calling_ep(rdma_get_src_port(listening), &init, RDMA_PS_TCP);
		ck_assert_int_eq(rdma_migrate_id(calling, events), 0);
		ck_assert_int_eq(rdma_connect(calling, &param), 0);
		ck_assert_int_eq(rdma_get_request(listening, &passive), -1);
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_ptr_null(passive);
		event = cm_next(events, RDMA_CM_EVENT_REJECTED);
		ck_assert_int_eq(event->status, 28);
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
		rdma_destroy_ep(calling);
	}
	rdma_destroy_ep(listening);
	rdma_destroy_event_channel(events);
}

/* A shared queue of an id: its domain is that of the id, or the one that is given. */
TEST(create_srq__of_an_id__with_and_without_a_domain)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex ex = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct rdma_event_channel *events = cm_channel();
	struct rdma_cm_id *id;
	struct ibv_pd *pd;

	ck_assert_int_eq(rdma_create_id(events, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_create_srq(id, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	id = cm_resolved(events, htons(9));
	pd = ibv_alloc_pd(id->verbs);
	ck_assert_int_eq(rdma_create_srq(id, NULL, &init), 0);
	ck_assert_ptr_eq(id->srq->pd, id->pd);
	ck_assert_int_eq(rdma_create_srq(id, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	rdma_destroy_srq(id);
	ck_assert_ptr_null(id->srq);
	rdma_destroy_srq(id);
	init.attr.max_wr = 1 << 20;
	ck_assert_int_eq(rdma_create_srq(id, NULL, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(id->srq);
	ex.comp_mask = IBV_SRQ_INIT_ATTR_XRCD;
	ck_assert_int_eq(rdma_create_srq_ex(id, &ex), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	ex.srq_type = IBV_SRQT_XRC;
	ck_assert_int_eq(rdma_create_srq_ex(id, &ex), -1);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	ex.srq_type = IBV_SRQT_BASIC;
	ex.pd = pd;
	ck_assert_int_eq(rdma_create_srq_ex(id, &ex), 0);
	ck_assert_ptr_eq(id->srq->pd, pd);
	ck_assert_ptr_eq(id->pd, pd);
	rdma_destroy_srq(id);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(events);
}
