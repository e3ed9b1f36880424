/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * option -- the options of ids, and the calls for connections that are made in parts elsewhere
 */
#include "story.h"

#include <net/if.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void
setup(void)
{
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

static void
expect_error(int r, int error)
{
	ck_assert_int_eq(r, -1);
	ck_assert_int_eq(errno, error);
}

static struct sockaddr_in
loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
}

/* ---- rdma_set_option() ---- */

static const struct {
	int level, name;
	size_t length;
	int error;
} options[] = {
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, 0 },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4, EINVAL },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, sizeof(int), 0 },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1, EINVAL },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, sizeof(int), 0 },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 8, EINVAL },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 0 },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 4, EINVAL },
	{ RDMA_OPTION_ID, 4, 1, ENOSYS },
	{ RDMA_OPTION_ID, -1, 1, ENOSYS },
	{ RDMA_OPTION_IB, 0, 1, ENOSYS },
	{ RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 1, EINVAL },
	{ RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, sizeof(struct ibv_path_data), EINVAL },
	{ 2, 0, 1, ENOSYS },
};

CASE("soft-option:option", setup, teardown);

TEST_LOOP(option__has_its_level_name_and_length, (sizeof options / sizeof options[0]))
{
	char value[sizeof(struct ibv_path_data)] = { 1 };
	const int r =
	    rdma_set_option(id, options[_i].level, options[_i].name, value, options[_i].length);

	if (options[_i].error)
		expect_error(r, options[_i].error);
	else
		ck_assert_int_eq(r, 0);
	expect_error(rdma_set_option(id, options[_i].level, options[_i].name, NULL, 4), EFAULT);
}

static int
set_int(struct rdma_cm_id *of, int name, int value)
{
	return rdma_set_option(of, RDMA_OPTION_ID, name, &value, sizeof value);
}

TEST(option__in_a_state_that_is_too_late__refused)
{
	struct sockaddr_in address = loopback(0);

	ck_assert_int_eq(set_int(id, RDMA_OPTION_ID_REUSEADDR, 1), 0);
	ck_assert_int_eq(set_int(id, RDMA_OPTION_ID_REUSEADDR, 0), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
	expect_error(set_int(id, RDMA_OPTION_ID_REUSEADDR, 0), EINVAL);
	ck_assert_int_eq(set_int(id, RDMA_OPTION_ID_REUSEADDR, 1), 0);
	ck_assert_int_eq(set_int(id, RDMA_OPTION_ID_AFONLY, 1), 0);
	ck_assert_int_eq(rdma_listen(id, 0), 0);
	expect_error(set_int(id, RDMA_OPTION_ID_REUSEADDR, 1), EINVAL);
	expect_error(set_int(id, RDMA_OPTION_ID_AFONLY, 0), EINVAL);
}

TEST(ack_timeout__is_for_connections)
{
	struct rdma_cm_id *datagrams;
	uint8_t timeout = 20;

	ck_assert_int_eq(rdma_create_id(channel, &datagrams, NULL, RDMA_PS_UDP), 0);
	expect_error(rdma_set_option(datagrams, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			 &timeout, sizeof timeout),
	    EINVAL);
	ck_assert_int_eq(rdma_destroy_id(datagrams), 0);
}

TEST(path__stands_for_the_resolution_of_the_route)
{
	struct ibv_path_data paths[] = { { .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY },
		{ .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
		    .path = { .flowlabel_hoplimit = htonl(0x12345 << 8 | 9),
			.tclass = 3,
			.slid = htons(7),
			.dlid = htons(8),
			.pkey = htons(9),
			.reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1,
			.qosclass_sl = htons(5),
			.mtu = 2 << 6 | IBV_MTU_2048,
			.rate = 2 << 6 | IBV_RATE_40_GBPS,
			.packetlifetime = 2 << 6 | 14 } } };
	struct sockaddr_in to = loopback(htons(20079));
	const struct ibv_sa_path_rec *path;

	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	expect_error(
	    rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof paths[0]),
	    EINVAL);
	ck_assert_int_eq(
	    rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof paths), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
	path = id->route.path_rec;
	ck_assert_int_eq(id->route.num_paths, 1);
	ck_assert_uint_eq(path->flow_label, htonl(0x12345));
	ck_assert_uint_eq(path->hop_limit, 9);
	ck_assert_uint_eq(path->traffic_class, 3);
	ck_assert_uint_eq(path->slid, htons(7));
	ck_assert_uint_eq(path->dlid, htons(8));
	ck_assert_uint_eq(path->pkey, htons(9));
	ck_assert_int_eq(path->reversible, 1);
	ck_assert_uint_eq(path->sl, 5);
	ck_assert_uint_eq(path->mtu, IBV_MTU_2048);
	ck_assert_uint_eq(path->rate, IBV_RATE_40_GBPS);
	ck_assert_uint_eq(path->packet_life_time, 14);
	expect_error(
	    rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof paths), EINVAL);
}

/* ---- addresses ---- */

/* Connects to an address; the request must come to the listener, or to none. */
static void
expect_reached(const struct sockaddr *address, struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *caller, *child;
	union ibv_gid gid;

	ck_assert_int_eq(rdma_create_id(channel, &caller, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(
	    rdma_resolve_addr(caller, NULL, (struct sockaddr *)(uintptr_t)address, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, caller);
	ck_assert_int_eq(ibv_query_gid(caller->verbs, 1, 0, &gid), 0);
	ck_assert_mem_eq(&caller->route.addr.addr.ibaddr.sgid, &gid, sizeof gid);
	ck_assert_mem_eq(&caller->route.addr.addr.ibaddr.dgid, &gid, sizeof gid);
	ck_assert_uint_eq(caller->route.addr.addr.ibaddr.pkey, 0xffff);
	ck_assert_int_eq(rdma_resolve_route(caller, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, caller);
	ck_assert_mem_eq(&caller->route.path_rec->dgid, &gid, sizeof gid);
	ck_assert_int_eq(rdma_connect(caller, &param), 0);
	if (listener) {
		event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
		ck_assert_ptr_eq(event->listen_id, listener);
		child = event->id;
		ck_assert_int_eq(rdma_get_local_addr(child)->sa_family, address->sa_family);
		ck_assert_int_eq(child->route.num_paths, 1);
		rdma_ack_cm_event(event);
		ck_assert_int_eq(rdma_destroy_id(child), 0);
	}
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, caller);
	ck_assert_int_eq(rdma_destroy_id(caller), 0);
}

static bool
has_ipv6(void)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	struct rdma_cm_id *probe;
	bool has;

	ck_assert_int_eq(rdma_create_id(channel, &probe, NULL, RDMA_PS_TCP), 0);
	has = !rdma_bind_addr(probe, (struct sockaddr *)&address);
	ck_assert_int_eq(rdma_destroy_id(probe), 0);
	if (!has)
		runner_skip("no IPv6 on this host");
	return has;
}

TEST_LOOP(any_address__of_ipv6__includes_ipv4_unless_it_is_for_its_family, 2)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = loopback(0), any = { .sin_family = AF_INET };
	const bool by_ipv6 = has_ipv6();
	struct rdma_cm_id *other;

	ck_assert_int_eq(set_int(id, RDMA_OPTION_ID_AFONLY, _i), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&six), 0);
	ck_assert_int_eq(rdma_listen(id, 0), 0);
	six.sin6_port = four.sin_port = any.sin_port = rdma_get_src_port(id);
	six.sin6_addr = in6addr_loopback;
	if (by_ipv6)
		expect_reached((struct sockaddr *)&six, id);
	/* Only one of the two can listen for IPv4. */
	ck_assert_int_eq(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP), 0);
	if (_i) {
		ck_assert_int_eq(rdma_bind_addr(other, (struct sockaddr *)&any), 0);
		ck_assert_int_eq(rdma_listen(other, 0), 0);
		expect_reached((struct sockaddr *)&four, other);
		ck_assert_int_eq(rdma_destroy_id(other), 0);
		expect_reached((struct sockaddr *)&four, NULL);
	} else {
		expect_error(rdma_bind_addr(other, (struct sockaddr *)&any), EADDRNOTAVAIL);
		expect_error(rdma_bind_addr(other, (struct sockaddr *)&four), EADDRNOTAVAIL);
		ck_assert_int_eq(rdma_destroy_id(other), 0);
		expect_reached((struct sockaddr *)&four, id);
	}
	if (by_ipv6)
		expect_reached((struct sockaddr *)&six, id);
}

/* Two addresses of one port have a listener each. */
TEST(port__at_two_addresses__has_two_listeners)
{
	struct sockaddr_in one = loopback(0), two;
	struct rdma_cm_id *other;

	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&one), 0);
	ck_assert_int_eq(rdma_listen(id, 0), 0);
	one.sin_port = rdma_get_src_port(id);
	two = one;
	two.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	ck_assert_int_eq(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(other, (struct sockaddr *)&two), 0);
	ck_assert_int_eq(rdma_listen(other, 0), 0);
	expect_reached((struct sockaddr *)&one, id);
	expect_reached((struct sockaddr *)&two, other);
	ck_assert_int_eq(rdma_destroy_id(other), 0);
	expect_reached((struct sockaddr *)&two, NULL);
	expect_reached((struct sockaddr *)&one, id);
}

/* The link-local address of an interface of this host; false if there is none. */
static bool
find_link_local(struct sockaddr_in6 *address)
{
	char text[33], name[IF_NAMESIZE + 1];
	FILE *file = fopen("/proc/net/if_inet6", "r");
	unsigned int scope, index, byte;
	bool found = false;

	while (file && !found &&
	       fscanf(file, "%32s %x %*x %x %*x %16s", text, &index, &scope, name) == 4) {
		*address = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_scope_id = index };
		for (int i = 0; i < 16; i++)
			if (sscanf(text + 2 * i, "%2x", &byte) == 1)
				address->sin6_addr.s6_addr[i] = (uint8_t)byte;
		found = IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
	}
	if (file)
		fclose(file);
	return found;
}

TEST(link_local_address__is_one_of_its_interface)
{
	struct sockaddr_in6 address, elsewhere = { .sin6_family = AF_INET6 };

	elsewhere.sin6_addr.s6_addr[0] = 0xfe;
	elsewhere.sin6_addr.s6_addr[1] = 0x80;
	expect_error(rdma_bind_addr(id, (struct sockaddr *)&elsewhere), EINVAL);
	if (!find_link_local(&address)) {
		runner_skip("no link-local address on this host");
		return;
	}
	elsewhere = address;
	elsewhere.sin6_scope_id = 0x7ffffffe;
	expect_error(rdma_bind_addr(id, (struct sockaddr *)&elsewhere), EADDRNOTAVAIL);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_listen(id, 0), 0);
	address.sin6_port = rdma_get_src_port(id);
	expect_reached((struct sockaddr *)&address, id);
}

TEST(address__of_no_family_or_two__refused)
{
	struct sockaddr other = { .sa_family = AF_UNIX };
	struct sockaddr_in four = loopback(htons(1));
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };

	expect_error(rdma_bind_addr(id, &other), EINVAL);
	expect_error(rdma_bind_addr(id, NULL), EINVAL);
	expect_error(rdma_resolve_addr(id, NULL, &other, 1), EINVAL);
	expect_error(rdma_resolve_addr(id, NULL, NULL, 1), EINVAL);
	expect_error(
	    rdma_resolve_addr(id, (struct sockaddr *)&six, (struct sockaddr *)&four, 1), EINVAL);
	/* An id that is bound keeps its address. */
	four.sin_port = 0;
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&four), 0);
	six.sin6_port = rdma_get_src_port(id);
	four.sin_port = htons(1);
	ck_assert_int_eq(
	    rdma_resolve_addr(id, (struct sockaddr *)&four, (struct sockaddr *)&four, 1), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_uint_eq(rdma_get_src_port(id), six.sin6_port);
}

/* ---- connections of queue pairs that the ids do not have ---- */

struct outside {
	struct rdma_cm_id *listener, *active, *passive;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	uint16_t port;
};

static void
outside_make(struct outside *o)
{
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	o->listener = cm_listen(channel, &o->port);
	o->active = cm_resolved(channel, o->port);
	o->pd = ibv_alloc_pd(o->active->verbs);
	o->cq = ibv_create_cq(o->active->verbs, 16, NULL, NULL, 0);
	init.send_cq = init.recv_cq = o->cq;
	for (int i = 0; i < 2; i++) {
		o->qp[i] = ibv_create_qp(o->pd, &init);
		ck_assert_ptr_nonnull(o->qp[i]);
	}
}

static void
outside_free(struct outside *o)
{
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ibv_destroy_qp(o->qp[i]), 0);
	ck_assert_int_eq(ibv_destroy_cq(o->cq), 0);
	ck_assert_int_eq(ibv_dealloc_pd(o->pd), 0);
	ck_assert_int_eq(rdma_destroy_id(o->active), 0);
	ck_assert_int_eq(rdma_destroy_id(o->passive), 0);
	ck_assert_int_eq(rdma_destroy_id(o->listener), 0);
}

static void
outside_request(struct outside *o)
{
	struct rdma_conn_param param = {
		.qp_num = o->qp[0]->qp_num, .retry_count = 9, .rnr_retry_count = 12
	};
	struct rdma_cm_event *event;

	expect_error(rdma_connect(o->active, NULL), EINVAL); /* of which queue pair? */
	ck_assert_int_eq(rdma_connect(o->active, &param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_uint_eq(event->param.conn.qp_num, o->qp[0]->qp_num);
	/* More than three bits mean as many as possible. */
	ck_assert_uint_eq(event->param.conn.retry_count, 7);
	ck_assert_uint_eq(event->param.conn.rnr_retry_count, 7);
	o->passive = event->id;
	rdma_ack_cm_event(event);
}

static void
to_state(struct rdma_cm_id *of, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	ck_assert_int_eq(rdma_init_qp_attr(of, &attr, &mask), 0);
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, mask), 0);
}

TEST(queue_pairs__of_their_own__are_connected_step_by_step)
{
	struct ibv_recv_wr receive = { .wr_id = 1 }, *bad_receive;
	struct ibv_send_wr send = { .wr_id = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_event *event;
	struct outside o;

	outside_make(&o);
	expect_error(rdma_notify(o.active, IBV_EVENT_COMM_EST), EINVAL);
	outside_request(&o);
	expect_error(rdma_accept(o.passive, NULL), EINVAL);
	expect_error(rdma_notify(o.passive, IBV_EVENT_COMM_EST), EINVAL);
	to_state(o.passive, o.qp[1], IBV_QPS_INIT);
	to_state(o.passive, o.qp[1], IBV_QPS_RTR);
	to_state(o.passive, o.qp[1], IBV_QPS_RTS);
	ck_assert_int_eq(ibv_post_recv(o.qp[1], &receive, &bad_receive), 0);
	param.qp_num = o.qp[1]->qp_num;
	ck_assert_int_eq(rdma_accept(o.passive, &param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	ck_assert_uint_eq(event->param.conn.qp_num, o.qp[1]->qp_num);
	rdma_ack_cm_event(event);
	to_state(o.active, o.qp[0], IBV_QPS_INIT);
	to_state(o.active, o.qp[0], IBV_QPS_RTR);
	to_state(o.active, o.qp[0], IBV_QPS_RTS);
	expect_error(rdma_notify(o.active, IBV_EVENT_COMM_EST), EINVAL);
	ck_assert_int_eq(rdma_establish(o.active), 0);
	expect_error(rdma_establish(o.active), EINVAL);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, o.passive);
	expect_error(rdma_notify(o.passive, IBV_EVENT_COMM_EST), EISCONN);
	expect_error(rdma_notify(o.active, IBV_EVENT_COMM_EST), EISCONN);
	expect_error(rdma_notify(o.active, IBV_EVENT_PATH_MIG), EINVAL);
	ck_assert_int_eq(ibv_post_send(o.qp[0], &send, &bad), 0);
	cq_expect(o.cq, 1, IBV_WC_SUCCESS);
	cq_expect(o.cq, 2, IBV_WC_SUCCESS);
	outside_free(&o);
}

/* The device has no options of vendors, as most have none. */
TEST(vendor_options__are_taken_and_never_come)
{
	struct ibv_ece ece = { .vendor_id = 0 };
	struct rdma_cm_event *event;
	struct outside o;

	outside_make(&o);
	expect_error(rdma_set_local_ece(o.active, &ece), EINVAL);
	expect_error(rdma_set_local_ece(o.active, NULL), EINVAL);
	ece.vendor_id = 5;
	ck_assert_int_eq(rdma_set_local_ece(o.active, &ece), 0);
	outside_request(&o);
	ck_assert_int_eq(rdma_get_remote_ece(o.passive, &ece), 0);
	ck_assert_uint_eq(ece.vendor_id, 0);
	expect_error(rdma_get_remote_ece(o.passive, NULL), EINVAL);
	cm_qp(o.passive, o.cq);
	expect_error(rdma_get_remote_ece(o.passive, &ece), EINVAL);
	ece.vendor_id = 5;
	expect_error(rdma_set_local_ece(o.passive, &ece), EINVAL);
	rdma_destroy_qp(o.passive);
	ck_assert_int_eq(rdma_reject_ece(o.passive, "why", 4), 0);
	event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 35);
	ck_assert_str_eq(event->param.conn.private_data, "why");
	rdma_ack_cm_event(event);
	outside_free(&o);
}

TEST(event__without_a_place_for_it__refused)
{
	expect_error(rdma_get_cm_event(channel, NULL), EINVAL);
}
