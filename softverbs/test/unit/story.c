/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "softverbs/soft_arm.h"

uint32_t side_psn = 0xfffffe;

void
sleep_ms(int ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

void
story_refuse(long call, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof code / sizeof code[0], code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

struct ibv_context *
story_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	ck_assert_ptr_nonnull(list);
	context = ibv_open_device(list[0]);
	ck_assert_ptr_nonnull(context);
	ibv_free_device_list(list);
	return context;
}

static void
make_qp(struct side *side, const struct side_options *options)
{
	struct ibv_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = side->srq,
		.cap = {
			.max_send_wr = options->sends ? options->sends : 16,
			.max_recv_wr = options->receives ? options->receives : 16,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 128,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = options->sig_all,
	};

	side->qp = ibv_create_qp(side->pd, &init);
	ck_assert_msg(side->qp != NULL, "ibv_create_qp: %s", strerror(errno));
}

void
side_make(struct side *side, const struct side_options *options)
{
	static const struct side_options usual;
	int access, cqe;

	options = options ? options : &usual;
	access = options->mr_access ? options->mr_access : SIDE_ACCESS;
	cqe = options->cqe ? options->cqe : 128;
	*side = (struct side){ .context = story_open() };
	side->pd = ibv_alloc_pd(side->context);
	ck_assert_ptr_nonnull(side->pd);
	side->channel = ibv_create_comp_channel(side->context);
	ck_assert_ptr_nonnull(side->channel);
	side->cq = ibv_create_cq(side->context, cqe, side, side->channel, 0);
	ck_assert_ptr_nonnull(side->cq);
	side->bytes = calloc(1, SIDE_BYTES);
	side->mr = ibv_reg_mr(side->pd, side->bytes, SIDE_BYTES, access);
	ck_assert_ptr_nonnull(side->mr);
	if (options->srq) {
		struct ibv_srq_init_attr init = { .attr = { .max_wr = (uint32_t)options->srq,
						      .max_sge = 4 } };

		side->srq = ibv_create_srq(side->pd, &init);
		ck_assert_ptr_nonnull(side->srq);
	}
	make_qp(side, options);
}

void
side_new_qp(struct side *side)
{
	make_qp(side, &(struct side_options){ 0 });
}

void
side_free(struct side *side)
{
	if (side->qp)
		ck_assert_int_eq(ibv_destroy_qp(side->qp), 0);
	if (side->srq)
		ck_assert_int_eq(ibv_destroy_srq(side->srq), 0);
	if (side->cq)
		ck_assert_int_eq(ibv_destroy_cq(side->cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(side->channel), 0);
	ck_assert_int_eq(ibv_dereg_mr(side->mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(side->pd), 0);
	ck_assert_int_eq(ibv_close_device(side->context), 0);
	free(side->bytes);
}

void
side_to_init(struct side *side, const struct side_options *options)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = SIDE_ACCESS,
	};

	if (options && options->qp_access)
		attr.qp_access_flags = options->qp_access & ~SIDE_NO_ACCESS;
	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    0);
}

void
side_to_rtr(struct side *side, uint32_t qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = { .dlid = 1, .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 4,
		.rq_psn = side_psn,
		.min_rnr_timer = 1,
	};

	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	    0);
}

void
side_to_rts(struct side *side, const struct side_options *options)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = options && options->patient ? 0 : 8, /* 1 ms */
		.retry_cnt = 3,
		.rnr_retry = options && options->no_retries ? 0 : 7,
		.sq_psn = side_psn,
		.max_rd_atomic = 4,
	};

	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
}

void
side_connect(struct side *a, struct side *b, const struct side_options *options)
{
	side_to_init(a, options);
	if (b != a)
		side_to_init(b, options);
	side_to_rtr(a, b->qp->qp_num);
	if (b != a)
		side_to_rtr(b, a->qp->qp_num);
	side_to_rts(a, options);
	if (b != a)
		side_to_rts(b, options);
}

void
side_to_error(struct side *side)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
}

void
pair_make(struct side *a, struct side *b, const struct side_options *options)
{
	side_make(a, options);
	side_make(b, options);
	side_connect(a, b, options);
}

void
pair_connect_again(struct side *a, struct side *b)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;

	ck_assert_int_eq(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE), 0);
	ck_assert_int_eq(ibv_modify_qp(b->qp, &attr, IBV_QP_STATE), 0);
	while (ibv_poll_cq(a->cq, 1, &wc) == 1 || ibv_poll_cq(b->cq, 1, &wc) == 1)
		;
	side_connect(a, b, NULL);
}

void
pair_free(struct side *a, struct side *b)
{
	side_free(a);
	side_free(b);
}

int
side_try_receive(struct side *side, uint64_t wr_id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)side->bytes + offset, length, side->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return side->srq ? ibv_post_srq_recv(side->srq, &wr, &bad) :
			   ibv_post_recv(side->qp, &wr, &bad);
}

void
side_receive(struct side *side, uint64_t wr_id, size_t offset, uint32_t length)
{
	ck_assert_int_eq(side_try_receive(side, wr_id, offset, length), 0);
}

int
side_try_post(struct side *side, enum ibv_wr_opcode opcode, unsigned int flags, uint64_t wr_id,
    size_t offset, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)side->bytes + offset, length, side->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = flags,
		.imm_data = htonl((uint32_t)wr_id),
	}, *bad;

	return ibv_post_send(side->qp, &wr, &bad);
}

void
side_post(struct side *side, enum ibv_wr_opcode opcode, unsigned int flags, uint64_t wr_id,
    size_t offset, uint32_t length)
{
	ck_assert_int_eq(side_try_post(side, opcode, flags, wr_id, offset, length), 0);
}

int
side_rdma_raw(struct side *side, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint64_t remote, uint32_t rkey, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)side->bytes + offset, length, side->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl((uint32_t)wr_id),
		.wr.rdma = { .remote_addr = remote, .rkey = rkey },
	}, *bad;

	return ibv_post_send(side->qp, &wr, &bad);
}

void
side_rdma(struct side *side, struct side *peer, enum ibv_wr_opcode opcode, uint64_t wr_id,
    size_t offset, size_t remote, uint32_t length)
{
	ck_assert_int_eq(side_rdma_raw(side, opcode, wr_id, offset, (uintptr_t)peer->bytes + remote,
			     peer->mr->rkey, length),
	    0);
}

struct ibv_wc
cq_next(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = 0;

	for (int i = 0; i < 10000 && !n; i++) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (!n)
			sleep_ms(1);
	}
	ck_assert_msg(n == 1, "no completion: ibv_poll_cq returned %d", n);
	return wc;
}

void
cq_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = cq_next(cq);

	ck_assert_msg(wc.wr_id == wr_id && wc.status == status,
	    "completion of %llu: %s; expected %llu: %s", (unsigned long long)wc.wr_id,
	    ibv_wc_status_str(wc.status), (unsigned long long)wr_id, ibv_wc_status_str(status));
}

void
cq_expect_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	ck_assert_int_eq(ibv_poll_cq(cq, 1, &wc), 0);
}

static bool
readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

bool
channel_ready(struct ibv_comp_channel *channel)
{
	return readable(channel->fd, 0);
}

void
channel_expect(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	struct ibv_cq *got;
	void *context;

	ck_assert_msg(readable(channel->fd, 10000), "no event on the channel");
	ck_assert_int_eq(ibv_get_cq_event(channel, &got, &context), 0);
	ck_assert_ptr_eq(got, cq);
	ck_assert_ptr_eq(context, cq->cq_context);
	ibv_ack_cq_events(got, 1);
}

void
channel_expect_no_event(struct ibv_comp_channel *channel)
{
	ck_assert_msg(!channel_ready(channel), "an event without an arm");
}

bool
async_ready(struct ibv_context *context)
{
	return readable(context->async_fd, 0);
}

void
async_expect(struct ibv_context *context, enum ibv_event_type type, const void *element)
{
	struct ibv_async_event event;

	ck_assert_msg(readable(context->async_fd, 10000), "no asynchronous event");
	ck_assert_int_eq(ibv_get_async_event(context, &event), 0);
	ck_assert_msg(event.event_type == type, "asynchronous event: %s; expected: %s",
	    ibv_event_type_str(event.event_type), ibv_event_type_str(type));
	ck_assert_ptr_eq(event.element.qp, element);
	ibv_ack_async_event(&event);
}

enum ibv_qp_state
qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ck_assert_int_eq(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

struct rdma_event_channel *
cm_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	ck_assert_ptr_nonnull(channel);
	return channel;
}

static struct sockaddr_in
loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

struct rdma_cm_id *
cm_listen(struct rdma_event_channel *channel, uint16_t *port)
{
	struct sockaddr_in address = loopback(0);
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_listen(id, 0), 0);
	*port = rdma_get_src_port(id);
	ck_assert_int_ne(*port, 0);
	return id;
}

/* TIMEWAIT_EXIT comes long after the connection has ended, but a busy machine takes long, too. */
static struct rdma_cm_event *
cm_read(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int ms)
{
	struct rdma_cm_event *event;

	while (readable(channel->fd, ms)) {
		ck_assert_int_eq(rdma_get_cm_event(channel, &event), 0);
		if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT || event->event == type)
			return event;
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	}
	return NULL;
}

struct rdma_cm_event *
cm_next(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = cm_read(channel, type, 10000);

	ck_assert_msg(event != NULL, "no %s", rdma_event_str(type));
	ck_assert_msg(event->event == type, "%s (%d); expected %s", rdma_event_str(event->event),
	    event->status, rdma_event_str(type));
	return event;
}

void
cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id *id)
{
	struct rdma_cm_event *event = cm_next(channel, type);

	ck_assert_ptr_eq(event->id, id);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
}

void
cm_expect_no_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = cm_read(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);

	ck_assert_msg(!event, "an unexpected %s", rdma_event_str(event->event));
}

struct rdma_cm_id *
cm_resolved(struct rdma_event_channel *channel, uint16_t port)
{
	struct sockaddr_in address = loopback(port);
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_int_eq(rdma_resolve_route(id, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
	return id;
}

void
cm_forget(struct rdma_cm_id **id)
{
	if (*id) {
		rdma_destroy_qp(*id);
		ck_assert_int_eq(rdma_destroy_id(*id), 0);
	}
	*id = NULL;
}

void
cm_qp(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 16,
		    .max_recv_wr = 16,
		    .max_send_sge = 1,
		    .max_recv_sge = 1,
		    .max_inline_data = 64 },
		.qp_type = IBV_QPT_RC,
	};

	ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
}

/* The two ends of a stream, and how many messages it has. */
struct stream {
	struct side *from, *to;
	unsigned int messages;
};

static void *
stream_send(void *arg)
{
	const struct stream *stream = arg;

	for (uint64_t i = 0; i < stream->messages; i++) {
		while (side_try_receive(stream->to, i, 0, 8))
			sched_yield();
		while (side_try_post(stream->from, IBV_WR_SEND, 0, i, 0, 8))
			sched_yield();
	}
	return NULL;
}

void
pair_stream(struct side *from, struct side *to, unsigned int messages)
{
	struct stream stream = { from, to, messages };
	uint64_t seen = 0;
	struct ibv_wc wc;
	pthread_t thread;

	ck_assert_int_eq(ibv_resize_cq(to->cq, (int)messages), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, stream_send, &stream), 0);
	while (seen < messages) {
		if (!soft_cq_arm(to->cq, 0))
			channel_expect(to->channel, to->cq);
		while (ibv_poll_cq(to->cq, 1, &wc) == 1)
			ck_assert_uint_eq(wc.wr_id, seen++);
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
