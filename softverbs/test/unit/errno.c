/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errno -- which errno each wrong call has
 *
 * A row for each call and cause.  Where the manual pages name no errno it is that of librdmacm,
 * libibverbs or the kernel; the last column says where.  test/tree/check-errno makes
 * softverbs/errno-softverbs.md of the rows; each is one line.  Only public calls are used, so the
 * rows hold for a kernel device, too.
 */
#include "story.h"
#include "lib/feature.h"

#include <fcntl.h>
#include <sys/wait.h>

static struct side a, b;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id, *other;

static void
setup(void)
{
	pair_make(&a, &b, NULL);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP), 0);
}

static void
teardown(void)
{
	cm_forget(&id);
	cm_forget(&other);
	rdma_destroy_event_channel(channel);
	pair_free(&a, &b);
}

/* What a call of librdmacm, and what one that returns an object, has said. */
static int
of_result(int r)
{
	return r ? errno : 0;
}

#define OF_OBJECT(object) ((object) ? 0 : errno)

static struct sockaddr_in
at(uint32_t host, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(host), .sin_port = port
	};
}

static int
bind_at(struct rdma_cm_id *which, uint32_t host, uint16_t port)
{
	struct sockaddr_in address = at(host, port);

	return of_result(rdma_bind_addr(which, (struct sockaddr *)&address));
}

#define HERE INADDR_LOOPBACK
#define ANY INADDR_ANY
#define ELSEWHERE 0xc0000201 /* 192.0.2.1, for documentation */

/* ---- ids ---- */

static int
create_id_port_space(void)
{
	struct rdma_cm_id *none;

	return of_result(rdma_create_id(channel, &none, NULL, (enum rdma_port_space)77));
}

static int
bind_family(void)
{
	struct sockaddr address = { .sa_family = AF_UNIX };

	return of_result(rdma_bind_addr(id, &address));
}

static int
bind_twice(void)
{
	ck_assert_int_eq(bind_at(id, HERE, 0), 0);
	return bind_at(id, HERE, 0);
}

#define CALL(name, call) \
	static int name(void) \
	{ \
		return call; \
	}

CALL(bind_elsewhere, bind_at(id, ELSEWHERE, 0))

static int
bind_any_and_any(void)
{
	ck_assert_int_eq(bind_at(id, ANY, 0), 0);
	return bind_at(other, ANY, rdma_get_src_port(id));
}

static int
bind_any_and_one(void)
{
	ck_assert_int_eq(bind_at(id, ANY, 0), 0);
	return bind_at(other, HERE, rdma_get_src_port(id));
}

static int
bind_one_and_any(void)
{
	ck_assert_int_eq(bind_at(id, HERE, 0), 0);
	return bind_at(other, ANY, rdma_get_src_port(id));
}

static int
bind_one_and_one(void)
{
	ck_assert_int_eq(bind_at(id, HERE, 0), 0);
	return bind_at(other, HERE, rdma_get_src_port(id));
}

static int
bind_one_and_another(void)
{
	ck_assert_int_eq(bind_at(id, HERE, 0), 0);
	return bind_at(other, HERE + 1, rdma_get_src_port(id));
}

static int
bind_link_local(void)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };

	address.sin6_addr.s6_addr[0] = 0xfe;
	address.sin6_addr.s6_addr[1] = 0x80;
	return of_result(rdma_bind_addr(id, (struct sockaddr *)&address));
}

static int
listen_twice(void)
{
	ck_assert_int_eq(rdma_listen(id, 1), 0);
	return of_result(rdma_listen(id, 1));
}

static int
listen_shared(void)
{
	int on = 1;

	ck_assert_int_eq(
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on), 0);
	ck_assert_int_eq(
	    rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on), 0);
	ck_assert_int_eq(bind_at(id, HERE, 0), 0);
	ck_assert_int_eq(bind_at(other, HERE, rdma_get_src_port(id)), 0);
	return of_result(rdma_listen(id, 1));
}

CALL(resolve_nothing, of_result(rdma_resolve_addr(id, NULL, NULL, 100)))

static int
resolve_families(void)
{
	struct sockaddr_in from = at(HERE, 0);
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };

	return of_result(
	    rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, 100));
}

static int
resolve_source(void)
{
	struct sockaddr_in from = at(ELSEWHERE, 0), to = at(HERE, 0);

	return of_result(
	    rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, 100));
}

static int
resolve_listener(void)
{
	struct sockaddr_in to = at(HERE, 0);

	ck_assert_int_eq(rdma_listen(id, 1), 0);
	return of_result(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 100));
}

CALL(route_too_early, of_result(rdma_resolve_route(id, 100)))

static void
id_resolve(void)
{
	struct sockaddr_in to = at(HERE, htons(9));

	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_int_eq(rdma_resolve_route(id, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
}

static int
connect_too_early(void)
{
	struct rdma_conn_param param = { .retry_count = 7 };

	return of_result(rdma_connect(id, &param));
}

static int
connect_data(void)
{
	static const char data[57];
	struct rdma_conn_param param = { .private_data = data, .private_data_len = sizeof data };

	id_resolve();
	return of_result(rdma_connect(id, &param));
}

static int
connect_no_queue_pair(void)
{
	id_resolve();
	return of_result(rdma_connect(id, NULL));
}

static int
accept_no_request(void)
{
	struct rdma_conn_param param = { .retry_count = 7 };

	return of_result(rdma_accept(id, &param));
}

CALL(reject_no_request, of_result(rdma_reject(id, NULL, 0)))
CALL(disconnect_no_connection, of_result(rdma_disconnect(id)))
CALL(notify_no_connection, of_result(rdma_notify(id, IBV_EVENT_COMM_EST)))
CALL(establish_no_connection, of_result(rdma_establish(id)))

static int
option_level(void)
{
	int on = 1;

	return of_result(rdma_set_option(id, 77, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on));
}

static int
option_name(void)
{
	int on = 1;

	return of_result(rdma_set_option(id, RDMA_OPTION_ID, 77, &on, sizeof on));
}

static int
option_length(void)
{
	int on = 1;

	return of_result(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, 1));
}

static int
init_attr_no_device(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	return of_result(rdma_init_qp_attr(id, &attr, &mask));
}

static int
create_qp_twice(void)
{
	struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	int r;

	id_resolve();
	cm_qp(id, NULL);
	r = of_result(rdma_create_qp(id, NULL, &init));
	rdma_destroy_qp(id);
	return r;
}

static int
migrate_synchronous(void)
{
	struct rdma_cm_id *synchronous;
	int r;

	ck_assert_int_eq(rdma_create_id(NULL, &synchronous, NULL, RDMA_PS_TCP), 0);
	r = of_result(rdma_migrate_id(synchronous, NULL));
	ck_assert_int_eq(rdma_destroy_id(synchronous), 0);
	return r;
}

CALL(get_event_no_place, of_result(rdma_get_cm_event(channel, NULL)))

static int
get_event_none(void)
{
	struct rdma_cm_event *event;

	ck_assert_int_eq(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	return of_result(rdma_get_cm_event(channel, &event));
}

CALL(ack_nothing, of_result(rdma_ack_cm_event(NULL)))

static int
getaddrinfo_nothing(void)
{
	struct rdma_addrinfo *info;

	return of_result(rdma_getaddrinfo(NULL, NULL, NULL, &info));
}

/* ---- completion queues ---- */

CALL(cq_of_nothing, OF_OBJECT(ibv_create_cq(a.context, 0, NULL, NULL, 0)))

static int
cq_too_large(void)
{
	struct ibv_device_attr attr;

	ck_assert_int_eq(ibv_query_device(a.context, &attr), 0);
	return OF_OBJECT(ibv_create_cq(a.context, attr.max_cqe + 1, NULL, NULL, 0));
}

CALL(cq_vector, OF_OBJECT(ibv_create_cq(a.context, 1, NULL, NULL, a.context->num_comp_vectors)))
CALL(resize_cq_to_nothing, ibv_resize_cq(a.cq, 0))
CALL(destroy_cq_in_use, ibv_destroy_cq(a.cq))
CALL(destroy_channel_in_use, ibv_destroy_comp_channel(a.channel))

static int
get_cq_event_none(void)
{
	struct ibv_cq *cq;
	void *context;

	ck_assert_int_eq(fcntl(a.channel->fd, F_SETFL, O_NONBLOCK), 0);
	return of_result(ibv_get_cq_event(a.channel, &cq, &context));
}

static int
get_async_event_none(void)
{
	struct ibv_async_event event;

	ck_assert_int_eq(fcntl(a.context->async_fd, F_SETFL, O_NONBLOCK), 0);
	return of_result(ibv_get_async_event(a.context, &event));
}

/* ---- memory and domains ---- */

CALL(reg_mr_rights, OF_OBJECT(ibv_reg_mr(a.pd, a.bytes, 64, IBV_ACCESS_REMOTE_WRITE)))
CALL(reg_mr_nothing_there, OF_OBJECT(ibv_reg_mr(a.pd, (void *)4096, 64, IBV_ACCESS_LOCAL_WRITE)))
CALL(reg_mr_wraps, OF_OBJECT(ibv_reg_mr(a.pd, a.bytes, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE)))

static int
rereg_mr_flags(void)
{
	ck_assert_int_eq(ibv_rereg_mr(a.mr, 1 << 20, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	return errno;
}

CALL(dealloc_pd_in_use, ibv_dealloc_pd(a.pd))
CALL(alloc_mw_type, OF_OBJECT(ibv_alloc_mw(a.pd, (enum ibv_mw_type)77)))

static int
create_ah_port(void)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 77 };

	return OF_OBJECT(ibv_create_ah(a.pd, &attr));
}

/* ---- queue pairs ---- */

static int
create_qp_with(struct ibv_qp_cap cap, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = a.cq, .recv_cq = a.cq, .cap = cap, .qp_type = type
	};

	return OF_OBJECT(ibv_create_qp(a.pd, &init));
}

CALL(create_qp_requests, create_qp_with((struct ibv_qp_cap){ 1u << 30, 1, 1, 1, 0 }, IBV_QPT_RC))
CALL(create_qp_segments, create_qp_with((struct ibv_qp_cap){ 1, 1, 1, 1u << 20, 0 }, IBV_QPT_RC))
CALL(create_qp_type, create_qp_with((struct ibv_qp_cap){ 1, 1, 1, 1, 0 }, (enum ibv_qp_type)77))

static int
modify_qp_transition(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	return ibv_modify_qp(a.qp, &attr, IBV_QP_STATE); /* from RTS */
}

static int
modify_qp_attribute(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .path_mtu = IBV_MTU_1024 };

	return ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU);
}

static int
modify_qp_state_before(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD };

	return ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

static int
post_send_of(struct ibv_qp *qp, int segments, unsigned int flags)
{
	struct ibv_sge sge[64] = { { .length = 0 } };
	struct ibv_send_wr wr = { .sg_list = sge,
		.num_sge = segments,
		.opcode = IBV_WR_SEND,
		.send_flags = flags },
			   *bad;
	int r = ibv_post_send(qp, &wr, &bad);

	if (r)
		ck_assert_ptr_eq(bad, &wr);
	return r;
}

CALL(post_send_segments, post_send_of(a.qp, 64, 0))

static int
post_send_full(void)
{
	int r = 0;

	for (int i = 0; i < 10000 && !r; i++)
		r = post_send_of(a.qp, 0, 0); /* no receive is posted */
	return r;
}

CALL(post_send_inline, side_try_post(&a, IBV_WR_SEND, IBV_SEND_INLINE, 1, 0, SIDE_BYTES))

static int
post_send_state(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	return post_send_of(a.qp, 0, 0);
}

static int
post_recv_of(int segments)
{
	struct ibv_sge sge[64] = { { .length = 0 } };
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = segments }, *bad;

	return ibv_post_recv(a.qp, &wr, &bad);
}

CALL(post_recv_segments, post_recv_of(64))

static int
post_recv_full(void)
{
	int r = 0;

	for (int i = 0; i < 10000 && !r; i++)
		r = post_recv_of(0);
	return r;
}

static int
post_recv_state(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	return post_recv_of(0);
}

/* ---- shared receive queues, and what is asked ---- */

static int
create_srq_with(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return OF_OBJECT(ibv_create_srq(a.pd, &init));
}

CALL(create_srq_of_nothing, create_srq_with(0, 1))
CALL(create_srq_too_large, create_srq_with(1u << 30, 1))

static int
modify_srq_limit(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(a.pd, &init);
	struct ibv_srq_attr attr = { .srq_limit = 1u << 30 };
	int r = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);

	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	return r;
}

static int
query_port_number(void)
{
	struct ibv_port_attr attr;

	return ibv_query_port(a.context, 77, &attr);
}

static int
query_gid_index(void)
{
	union ibv_gid gid;

	return of_result(ibv_query_gid(a.context, 1, 1 << 20, &gid));
}

static int
query_pkey_index(void)
{
	__be16 pkey;

	return of_result(ibv_query_pkey(a.context, 1, 1 << 20, &pkey));
}

CALL(pkey_index_unknown, of_result(ibv_get_pkey_index(a.context, 1, 0x1234) < 0))

/* Read by test/tree/check-errno. */
/* clang-format off */
static const struct {
	const char *call, *cause;
	int error;
	const char *place;
	int (*run)(void);
} rows[] = {
	{ "rdma_create_id", "a port space that does not exist", EINVAL, "ucma.c, ucma_get_qp_type", create_id_port_space },
	{ "rdma_bind_addr", "an address of another family than IPv4 and IPv6", EINVAL, "librdmacm, rdma_bind_addr", bind_family },
	{ "rdma_bind_addr", "the id is bound", EINVAL, "cma.c, rdma_bind_addr", bind_twice },
	{ "rdma_bind_addr", "an address of another host", EADDRNOTAVAIL, "addr.c, rdma_find_ndev_for_src_ip_rcu", bind_elsewhere },
	{ "rdma_bind_addr", "any address, and the port is bound at any address", EADDRNOTAVAIL, "cma.c, cma_check_port", bind_any_and_any },
	{ "rdma_bind_addr", "an address, and the port is bound at any address", EADDRNOTAVAIL, "cma.c, cma_check_port", bind_any_and_one },
	{ "rdma_bind_addr", "any address, and the port is bound at one", EADDRNOTAVAIL, "cma.c, cma_check_port", bind_one_and_any },
	{ "rdma_bind_addr", "an address, and the port is bound at the same one", EADDRINUSE, "cma.c, cma_check_port", bind_one_and_one },
	{ "rdma_bind_addr", "an address, and the port is bound at another one", 0, "cma.c, cma_check_port", bind_one_and_another },
	{ "rdma_bind_addr", "a link-local address without its scope", EINVAL, "cma.c, cma_check_linklocal", bind_link_local },
	{ "rdma_listen", "the id listens", EINVAL, "cma.c, rdma_listen", listen_twice },
	{ "rdma_listen", "another id shares the address by REUSEADDR", EADDRINUSE, "cma.c, cma_bind_listen", listen_shared },
	{ "rdma_resolve_addr", "no destination", EINVAL, "librdmacm, rdma_resolve_addr", resolve_nothing },
	{ "rdma_resolve_addr", "source and destination are of two families", EINVAL, "cma.c, resolve_prepare_src", resolve_families },
	{ "rdma_resolve_addr", "the source is an address of another host", EADDRNOTAVAIL, "addr.c, rdma_find_ndev_for_src_ip_rcu", resolve_source },
	{ "rdma_resolve_addr", "the id listens", EINVAL, "cma.c, resolve_prepare_src", resolve_listener },
	{ "rdma_resolve_route", "the address is not resolved", EINVAL, "cma.c, rdma_resolve_route", route_too_early },
	{ "rdma_connect", "the route is not resolved", EINVAL, "cma.c, rdma_connect_locked", connect_too_early },
	{ "rdma_connect", "more than 56 bytes of data", EINVAL, "cma.c, cma_connect_ib", connect_data },
	{ "rdma_connect", "neither a queue pair nor parameters", EINVAL, "librdmacm, ucma_valid_param", connect_no_queue_pair },
	{ "rdma_accept", "the id is not of a request", EINVAL, "cma.c, rdma_accept", accept_no_request },
	{ "rdma_reject", "the id is not of a request", EINVAL, "cma.c, rdma_reject", reject_no_request },
	{ "rdma_disconnect", "the id has no connection", EINVAL, "cma.c, rdma_disconnect", disconnect_no_connection },
	{ "rdma_notify", "the id has no connection", EINVAL, "cma.c, rdma_notify", notify_no_connection },
	{ "rdma_establish", "the id waits for no response", EINVAL, "cma.c, rdma_accept", establish_no_connection },
	{ "rdma_set_option", "a level that does not exist", ENOSYS, "ucma.c, ucma_set_option_level", option_level },
	{ "rdma_set_option", "a name that does not exist", ENOSYS, "ucma.c, ucma_set_option_id", option_name },
	{ "rdma_set_option", "another length than the option has", EINVAL, "ucma.c, ucma_set_option_id", option_length },
	{ "rdma_init_qp_attr", "the id has no device", EINVAL, "ucma.c, ucma_init_qp_attr", init_attr_no_device },
	{ "rdma_create_qp", "the id has a queue pair", EINVAL, "librdmacm, rdma_create_qp_ex", create_qp_twice },
	{ "rdma_migrate_id", "a synchronous id, to no channel", EINVAL, "librdmacm, rdma_migrate_id", migrate_synchronous },
	{ "rdma_get_cm_event", "no place for the event", EINVAL, "librdmacm, rdma_get_cm_event", get_event_no_place },
	{ "rdma_get_cm_event", "no event, and O_NONBLOCK", EAGAIN, "ucma.c, ucma_get_event", get_event_none },
	{ "rdma_ack_cm_event", "no event", EINVAL, "librdmacm, rdma_ack_cm_event", ack_nothing },
	{ "rdma_getaddrinfo", "neither node, service nor hints", EINVAL, "librdmacm, rdma_getaddrinfo", getaddrinfo_nothing },
	{ "ibv_create_cq", "no entries", EINVAL, "rxe_cq.c, rxe_cq_chk_attr", cq_of_nothing },
	{ "ibv_create_cq", "more entries than max_cqe", EINVAL, "rxe_cq.c, rxe_cq_chk_attr", cq_too_large },
	{ "ibv_create_cq", "a completion vector that does not exist", EINVAL, "uverbs_cmd.c, create_cq", cq_vector },
	{ "ibv_resize_cq", "no entries", EINVAL, "rxe_cq.c, rxe_cq_chk_attr", resize_cq_to_nothing },
	{ "ibv_destroy_cq", "a queue pair uses it", EBUSY, "ibv_destroy_cq(3); verbs.c, ib_destroy_cq_user", destroy_cq_in_use },
	{ "ibv_destroy_comp_channel", "a completion queue uses it", EBUSY, "libibverbs, ibv_destroy_comp_channel", destroy_channel_in_use },
	{ "ibv_get_cq_event", "no event, and O_NONBLOCK", EAGAIN, "uverbs_main.c, ib_uverbs_event_read", get_cq_event_none },
	{ "ibv_get_async_event", "no event, and O_NONBLOCK", EAGAIN, "uverbs_main.c, ib_uverbs_event_read", get_async_event_none },
	{ "ibv_reg_mr", "remote writing without local writing", EINVAL, "ib_verbs.h, ib_check_mr_access", reg_mr_rights },
	{ "ibv_reg_mr", "memory that is not mapped", EFAULT, "umem.c, ib_umem_get", reg_mr_nothing_there },
	{ "ibv_reg_mr", "a length beyond the end of the address space", EINVAL, "umem.c, ib_umem_get", reg_mr_wraps },
	{ "ibv_rereg_mr", "flags that do not exist", EINVAL, "libibverbs, ibv_rereg_mr", rereg_mr_flags },
	{ "ibv_dealloc_pd", "a region or queue pair is in it", EBUSY, "ibv_dealloc_pd(3); uverbs_std_types.c, uverbs_free_pd", dealloc_pd_in_use },
	{ "ibv_alloc_mw", "a type that does not exist", EINVAL, "uverbs_cmd.c, ib_uverbs_alloc_mw", alloc_mw_type },
	{ "ibv_create_ah", "a port that does not exist", EINVAL, "uverbs_cmd.c, ib_uverbs_create_ah", create_ah_port },
	{ "ibv_create_qp", "more requests than max_qp_wr", EINVAL, "rxe_qp.c, rxe_qp_chk_cap", create_qp_requests },
	{ "ibv_create_qp", "more segments than max_sge", EINVAL, "rxe_qp.c, rxe_qp_chk_cap", create_qp_segments },
	{ "ibv_create_qp", "a type that the device does not have", EOPNOTSUPP, "rxe_qp.c, rxe_qp_chk_init", create_qp_type },
	{ "ibv_modify_qp", "a transition that does not exist", EINVAL, "verbs.c, ib_modify_qp_is_ok", modify_qp_transition },
	{ "ibv_modify_qp", "an attribute that the transition does not allow", EINVAL, "verbs.c, ib_modify_qp_is_ok", modify_qp_attribute },
	{ "ibv_modify_qp", "cur_qp_state is not the state", EINVAL, "rxe_qp.c, rxe_qp_chk_attr", modify_qp_state_before },
	{ "ibv_post_send", "more segments than max_send_sge", EINVAL, "providers/rxe, validate_send_wr", post_send_segments },
	{ "ibv_post_send", "the queue is full", ENOMEM, "ibv_post_send(3); providers/rxe, post_one_send", post_send_full },
	{ "ibv_post_send", "more inline data than max_inline_data", EINVAL, "providers/rxe, validate_send_wr", post_send_inline },
	{ "ibv_post_send", "the state is before RTS", EINVAL, "rxe_verbs.c, rxe_post_send", post_send_state },
	{ "ibv_post_recv", "more segments than max_recv_sge", EINVAL, "providers/rxe, rxe_post_one_recv", post_recv_segments },
	{ "ibv_post_recv", "the queue is full", ENOMEM, "providers/rxe, rxe_post_one_recv", post_recv_full },
	{ "ibv_post_recv", "the state is RESET", EINVAL, "rxe_verbs.c, rxe_post_recv", post_recv_state },
	{ "ibv_create_srq", "no requests", EINVAL, "rxe_srq.c, rxe_srq_chk_init", create_srq_of_nothing },
	{ "ibv_create_srq", "more requests than max_srq_wr", EINVAL, "rxe_srq.c, rxe_srq_chk_init", create_srq_too_large },
	{ "ibv_modify_srq", "a limit above the size", EINVAL, "rxe_srq.c, rxe_srq_chk_attr", modify_srq_limit },
	{ "ibv_query_port", "a port that does not exist", EINVAL, "device.c, ib_query_port", query_port_number },
	{ "ibv_query_gid", "an index that does not exist", EINVAL, "uverbs_std_types_device.c, query_gid_entry", query_gid_index },
	{ "ibv_query_pkey", "an index that does not exist", EINVAL, "sysfs: libibverbs, ibv_query_pkey", query_pkey_index },
	{ "ibv_get_pkey_index", "a key that the port does not have", EINVAL, "libibverbs, ibv_get_pkey_index", pkey_index_unknown },
};
/* clang-format on */
#define ROWS ((int)(sizeof rows / sizeof *rows))

CASE("soft-errno:errno", setup, teardown);

/* origin: out33.F04 */
TEST_LOOP(wrong_call__has_the_errno_of_its_row, ROWS)
{
	const int error = rows[_i].run();

	ck_assert_msg(error == rows[_i].error, "%s, %s: %s instead of %s", rows[_i].call,
	    rows[_i].cause, strerror(error), strerror(rows[_i].error));
}

/* Only a process that has no privilege can see this, so a child gives up its own. */
TEST(bind__port_below_1024__needs_the_capability)
{
	pid_t child;
	int status;

	if (!feature_child()) {
		runner_skip(FEATURE_NO_CHILD);
		return;
	}
	child = fork();
	if (!child) {
		struct rdma_event_channel *own;
		struct rdma_cm_id *mine;

		if (geteuid() == 0 && (setenv("XDG_RUNTIME_DIR", "/nowhere", 1) ||
					  setenv("TMPDIR", "/tmp", 1) || setuid(65534)))
			_exit(2);
		own = rdma_create_event_channel();
		if (!own || rdma_create_id(own, &mine, NULL, RDMA_PS_TCP))
			_exit(3);
		_exit(bind_at(mine, HERE, htons(80)) == EACCES ? 0 : 4);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	if (geteuid() == 0)
		ck_assert_int_eq(bind_at(id, HERE, htons(80)), 0);
}
