/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ends -- objects that are destroyed in any order
 *
 * For each pair of which one needs the other, the one that is needed goes first: the call fails
 * with EBUSY, or works and the other can go later.  Nothing crashes, and nothing is left.
 */
#include "mw_story.h"
#include "pair.h"

#include <sys/wait.h>

static struct ibv_qp *
qp_in(struct ibv_pd *pd, struct ibv_cq *send, struct ibv_cq *receive, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = { .send_cq = send,
		.recv_cq = receive,
		.srq = srq,
		.cap = { 4, srq ? 0 : 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	ck_assert_ptr_nonnull(qp);
	return qp;
}

/* ---- objects of a context */

static void
context_first(void)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, channel, 0);
	struct ibv_qp *qp = qp_in(pd, cq, cq, NULL);

	ck_assert_int_eq(ibv_close_device(context), 0);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

static void
list_of_devices_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device = list[0];
	struct ibv_context *context;

	ibv_free_device_list(list);
	context = ibv_open_device(device);
	ck_assert_ptr_nonnull(context);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

static void
channel_before_its_queue(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(a.context);
	struct ibv_cq *cq = ibv_create_cq(a.context, 4, NULL, channel, 0);

	ck_assert_int_eq(ibv_destroy_comp_channel(channel), EBUSY);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}

static void
queue_with_an_event_that_was_not_read(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(a.context);
	struct ibv_cq *cq = ibv_create_cq(a.context, 4, NULL, channel, 0);
	struct ibv_qp *qp = qp_in(a.pd, cq, cq, NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;

	ck_assert_int_eq(ibv_req_notify_cq(cq, 0), 0);
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	ck_assert_int_eq(ibv_post_recv(qp, &wr, &bad), 0); /* is flushed */
	ck_assert(channel_ready(channel));
	ck_assert_int_eq(ibv_destroy_cq(cq), EBUSY);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert(!channel_ready(channel));
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}

static void
queues_before_their_pair(void)
{
	struct ibv_cq *send = ibv_create_cq(a.context, 4, NULL, NULL, 0),
		      *receive = ibv_create_cq(a.context, 4, NULL, NULL, 0);
	struct ibv_qp *qp = qp_in(a.pd, send, receive, NULL);

	ck_assert_int_eq(ibv_destroy_cq(send), EBUSY);
	ck_assert_int_eq(ibv_destroy_cq(receive), EBUSY);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(send), 0);
	ck_assert_int_eq(ibv_destroy_cq(receive), 0);
}

static void
shared_queue_before_its_pair(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(a.pd, &init);
	struct ibv_qp *qp = qp_in(a.pd, a.cq, a.cq, srq);

	ck_assert_int_eq(ibv_destroy_srq(srq), EBUSY);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}

/* A domain of which one object is left, of each kind. */
static void
domain_before_its_objects(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(a.context);
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_parent_domain_init_attr parent_init = { .pd = pd };
	struct ibv_ah_attr ah_attr = { .dlid = 1, .port_num = 1 };
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_pd *parent;

	mr = ibv_reg_mr(pd, a.bytes, 64, 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ah = ibv_create_ah(pd, &ah_attr);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	srq = ibv_create_srq(pd, &srq_init);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	qp = qp_in(pd, a.cq, a.cq, NULL);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	parent = ibv_alloc_parent_domain(a.context, &parent_init);
	qp = qp_in(parent, a.cq, a.cq, NULL);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_dealloc_pd(parent), EBUSY);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

static void
threads_domain_before_its_parent_domain(void)
{
	struct ibv_td_init_attr td_init = { .comp_mask = 0 };
	struct ibv_td *td = ibv_alloc_td(a.context, &td_init);
	struct ibv_parent_domain_init_attr init = { .pd = a.pd, .td = td };
	struct ibv_pd *parent = ibv_alloc_parent_domain(a.context, &init);

	ck_assert_int_eq(ibv_dealloc_td(td), EBUSY);
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
	ck_assert_int_eq(ibv_dealloc_td(td), 0);
}

static void
region_before_its_window(void)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 4096, MW_ACCESS);
	struct ibv_mw *mw = mw_make(&a, IBV_MW_TYPE_1);

	mw_bind_to(&a, mw, mr, 0, 64, IBV_ACCESS_REMOTE_READ);
	ck_assert_int_eq(ibv_dereg_mr(mr), EBUSY);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

static void
pair_before_the_window_that_is_bound_on_it(void)
{
	struct ibv_mw *mw = mw_make(&a, IBV_MW_TYPE_2);

	mw_bind(&a, mw, 0, 64, IBV_ACCESS_REMOTE_READ);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	side_new_qp(&a);
}

/* The other end finds that nothing is there. */
static void
region_and_pair_before_their_requests(void)
{
	side_receive(&b, 1, 0, 64);
	ck_assert_int_eq(ibv_dereg_mr(b.mr), 0);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 64);
	cq_expect(a.cq, 2, IBV_WC_REM_OP_ERR);
	cq_expect(b.cq, 1, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	side_new_qp(&b);
	b.mr = ibv_reg_mr(b.pd, b.bytes, SIDE_BYTES, SIDE_ACCESS);
}

/* ---- objects of the connection manager */

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *active, *passive;
static uint16_t port;

static void
cm_open(void)
{
	channel = cm_channel();
	listener = cm_listen(channel, &port);
	active = cm_resolved(channel, port);
	cm_qp(active, NULL);
}

static void
cm_ask(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_connect(active, &param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	rdma_ack_cm_event(event);
}

static void
cm_establish(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	cm_ask();
	cm_qp(passive, NULL);
	ck_assert_int_eq(rdma_accept(passive, &param), 0);
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_ESTABLISHED));
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_ESTABLISHED));
}

static void
cm_close(void)
{
	cm_forget(&active);
	if (passive)
		cm_forget(&passive);
	passive = NULL;
	cm_forget(&listener);
	rdma_destroy_event_channel(channel);
}

static void
listener_before_its_request(void)
{
	cm_open();
	cm_ask();
	cm_forget(&listener);
	cm_close();
}

static void
listener_before_a_request_that_was_not_read(void)
{
	struct rdma_conn_param param = { .retry_count = 7 };

	cm_open();
	ck_assert_int_eq(rdma_connect(active, &param), 0);
	cm_forget(&listener);
	cm_close();
}

static void
id_before_its_pair(void)
{
	struct ibv_qp *qp;
	struct ibv_cq *cqs[2];
	struct ibv_comp_channel *channels[2];

	cm_open();
	cm_establish();
	qp = active->qp;
	cqs[0] = active->send_cq;
	cqs[1] = active->recv_cq;
	channels[0] = active->send_cq_channel;
	channels[1] = active->recv_cq_channel;
	ck_assert_int_eq(rdma_destroy_id(active), 0);
	active = NULL;
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
		ck_assert_int_eq(ibv_destroy_comp_channel(channels[i]), 0);
	}
	cm_close();
}

static void
id_before_a_domain_of_its_device(void)
{
	struct ibv_pd *pd;

	cm_open();
	pd = ibv_alloc_pd(active->verbs);
	cm_close();
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

static void
devices_before_their_id(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	cm_open();
	ck_assert_ptr_eq(active->verbs, list[0]);
	rdma_free_devices(list);
	cm_close();
}

/* An id that lost its channel keeps its memory, as with librdmacm; so these tests leave some. */
static struct rdma_cm_id *
orphan(void)
{
	struct rdma_event_channel *own = cm_channel();
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(own, &id, NULL, RDMA_PS_TCP), 0);
	rdma_destroy_event_channel(own);
	return id;
}

#define EXPECT_EBADF(call) \
	do { \
		errno = 0; \
		ck_assert_int_eq(call, -1); \
		ck_assert_int_eq(errno, EBADF); \
	} while (0)

static void
channel_before_its_id(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_conn_param param = { .retry_count = 7 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_cm_id *id = orphan();
	int on = 1, mask;

	channel = cm_channel();
	EXPECT_EBADF(rdma_bind_addr(id, (struct sockaddr *)&here));
	EXPECT_EBADF(rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, 100));
	EXPECT_EBADF(rdma_resolve_route(id, 100));
	EXPECT_EBADF(rdma_connect(id, &param));
	EXPECT_EBADF(rdma_listen(id, 1));
	EXPECT_EBADF(rdma_accept(id, &param));
	EXPECT_EBADF(rdma_reject(id, NULL, 0));
	EXPECT_EBADF(rdma_establish(id));
	EXPECT_EBADF(rdma_notify(id, IBV_EVENT_COMM_EST));
	EXPECT_EBADF(rdma_disconnect(id));
	EXPECT_EBADF(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof on));
	EXPECT_EBADF(rdma_init_qp_attr(id, &attr, &mask));
	EXPECT_EBADF(rdma_migrate_id(id, channel));
	EXPECT_EBADF(rdma_migrate_id(id, NULL));
	EXPECT_EBADF(rdma_destroy_id(id));
	EXPECT_EBADF(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/* The other end learns of it, and the port is free. */
static void
channel_of_a_connection_first(void)
{
	struct rdma_event_channel *own = cm_channel();

	cm_open();
	cm_establish();
	ck_assert_int_eq(rdma_migrate_id(passive, own), 0);
	rdma_destroy_event_channel(own);
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_DISCONNECTED));
	rdma_destroy_qp(passive);
	EXPECT_EBADF(rdma_destroy_id(passive));
	passive = NULL;
	cm_close();
}

static void
channel_of_a_listener_first(void)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_event_channel *own = cm_channel();

	cm_open();
	ck_assert_int_eq(rdma_migrate_id(listener, own), 0);
	ck_assert_int_eq(rdma_connect(active, &param), 0); /* not read */
	rdma_destroy_event_channel(own);
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_REJECTED));
	EXPECT_EBADF(rdma_destroy_id(listener));
	listener = cm_listen(channel, &port);
	cm_close();
}

static void
channel_of_all_first(void)
{
	cm_open();
	cm_establish();
	rdma_destroy_event_channel(channel);
	rdma_destroy_qp(active);
	rdma_destroy_qp(passive);
	EXPECT_EBADF(rdma_destroy_id(active));
	EXPECT_EBADF(rdma_destroy_id(passive));
	EXPECT_EBADF(rdma_destroy_id(listener));
	passive = NULL;
}

static void
channel_of_a_synchronous_id_first(void)
{
	struct rdma_cm_id *id, *request;

	ck_assert_int_eq(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	rdma_destroy_event_channel(id->channel);
	EXPECT_EBADF(rdma_get_request(id, &request));
	EXPECT_EBADF(rdma_destroy_id(id));
}

static void (*const rows[])(void) = {
	context_first,
	list_of_devices_first,
	channel_before_its_queue,
	queue_with_an_event_that_was_not_read,
	queues_before_their_pair,
	shared_queue_before_its_pair,
	domain_before_its_objects,
	threads_domain_before_its_parent_domain,
	region_before_its_window,
	pair_before_the_window_that_is_bound_on_it,
	region_and_pair_before_their_requests,
	listener_before_its_request,
	listener_before_a_request_that_was_not_read,
	id_before_its_pair,
	id_before_a_domain_of_its_device,
	devices_before_their_id,
};

/* They leave the memory of the id, and its device. */
static void (*const orphans[])(void) = {
	channel_before_its_id,
	channel_of_a_connection_first,
	channel_of_a_listener_first,
	channel_of_all_first,
	channel_of_a_synchronous_id_first,
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

MW_CASE("soft-ends:pairs");

TEST_LOOP(object__destroyed_before_one_that_needs_it__busy_or_gone, COUNT(rows))
{
	rows[_i]();
}

CASE("soft-ends:channels");

/* origin: out33.F11 */
TEST_LOOP(event_channel__destroyed_before_its_id__EBADF, COUNT(orphans))
{
	const pid_t child = fork();
	int status;

	if (!child) {
		orphans[_i]();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
