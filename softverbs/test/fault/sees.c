/* SPDX-License-Identifier: BSD-3-Clause */
#include "sees.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 8192

/* Of later releases. */
struct registration {
	size_t length;
	int access;
	uint64_t mask, iova;
	void *addr;
	int fd;
	uint64_t offset;
	void *dmah, *buf;
};
#define WITH_ADDR 2

static struct ibv_context *context;
static struct ibv_pd *pd;
static char memory[SIZE] __attribute__((aligned(4096)));

/* ---- what was returned ---- */

static const char *
sees_error(int error)
{
#define NAME(error_) \
	if (error == error_) \
		return #error_;
	NAME(EACCES)
	NAME(EADDRINUSE)
	NAME(EADDRNOTAVAIL)
	NAME(EAGAIN)
	NAME(EBUSY)
	NAME(EFAULT)
	NAME(EINTR)
	NAME(EINVAL)
	NAME(EIO)
	NAME(EISCONN)
	NAME(EMFILE)
	NAME(ENETUNREACH)
	NAME(ENFILE)
	NAME(ENODATA)
	NAME(ENODEV)
	NAME(ENOENT)
	NAME(ENOMEM)
	NAME(ENOSYS)
	NAME(EOPNOTSUPP)
	NAME(EPERM)
	NAME(ETIMEDOUT)
	return "none";
}

static void
sees_print(const char *name, const char *convention, int error)
{
	printf("%s\t%s\t%s\n", name, convention, sees_error(error));
}

void
sees_null(const char *name, const void *result)
{
	sees_print(name, result ? "an object" : "NULL, errno", errno);
}

void
sees_number(const char *name, long result)
{
	const int error = errno;

	if (!strcmp(name, "ibv_rereg_mr") && result == IBV_REREG_MR_ERR_CMD)
		sees_print(name, "ERR_CMD, errno", error);
	else if (result == -1)
		sees_print(name, "-1, errno", error);
	else if (result < 0)
		sees_print(name, "-error", (int)-result);
	else if (result && result == error)
		sees_print(name, "the error", error);
	else
		sees_print(name, result ? "a number without errno" : "success", error);
}

void
sees_fail(const char *name, const char *file, int line)
{
	printf("%s:%d: %s: %s\n", file, line, name, strerror(errno));
	exit(1);
}

void *
sees_find(const char *name)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW);
	void *function = library ? dlsym(library, name) : NULL;

	MUST(function);
	return function;
}

/* ---- queries ---- */

static void
sees_queries(void)
{
	int (*gid_type)(struct ibv_context *, uint8_t, unsigned int, unsigned int *);
	int (*sysfs)(const char *, const char *, char *, size_t);
	int (*speed)(struct ibv_context *, uint32_t, uint64_t *);
	int (*old_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *);
	struct ibv_device_attr_ex attr;
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_gid_entry entries[8];
	struct ibv_port_attr port;
	union ibv_gid gid;
	unsigned int type;
	uint64_t rate;
	char text[64];
	__be16 key;

	*(void **)&gid_type = sees_find("ibv_query_gid_type");
	*(void **)&sysfs = sees_find("ibv_read_sysfs_file");
	*(void **)&speed = sees_find("ibv_query_port_speed");
	*(void **)&old_port = sees_find("ibv_query_port");
	CALL(ibv_fork_init, ibv_fork_init());
	CALL(ibv_query_device, ibv_query_device(context, &attr.orig_attr));
	CALL(ibv_query_device_ex, ibv_query_device_ex(context, NULL, &attr));
	CALL(ibv_query_port, ibv_query_port(context, 1, &port));
	CALL(ibv_query_port, old_port(context, 1, &port));
	CALL(ibv_query_port_speed, speed(context, 1, &rate));
	CALL(ibv_query_gid, ibv_query_gid(context, 1, 0, &gid));
	CALL(ibv_query_gid_ex, ibv_query_gid_ex(context, 1, 0, entries, 0));
	CALL_UNTIL(ibv_query_gid_table, ibv_query_gid_table(context, entries, 8, 0), result_ > 0);
	CALL(ibv_query_gid_type, gid_type(context, 1, 0, &type));
	CALL(ibv_query_pkey, ibv_query_pkey(context, 1, 0, &key));
	CALL(ibv_get_pkey_index, ibv_get_pkey_index(context, 1, key));
	CALL(ibv_query_rt_values_ex, ibv_query_rt_values_ex(context, &values));
	CALL_UNTIL(
	    ibv_read_sysfs_file, sysfs("/proc/self", "comm", text, sizeof text), result_ > 0);
}

/* ---- memory ---- */

static void
sees_memory(void)
{
	void *(*alloc_buf)(struct ibv_pd *, size_t, void **);
	void (*free_buf)(void *);
	struct ibv_mr *(*reg_buf)(struct ibv_pd *, void *, void *, size_t, int);
	struct ibv_mr *(*reg_ex)(struct ibv_pd *, struct registration *);
	struct registration init = { .length = SIZE, .mask = WITH_ADDR, .addr = memory, .fd = -1 };
	struct ibv_mr *mr, *more[4];
	void *address, *buffer;
	const int access = IBV_ACCESS_LOCAL_WRITE;

	*(void **)&alloc_buf = sees_find("ibv_alloc_buf");
	*(void **)&free_buf = sees_find("ibv_free_buf");
	*(void **)&reg_buf = sees_find("ibv_reg_buf_mr");
	*(void **)&reg_ex = sees_find("ibv_reg_mr_ex");
	MAKE(ibv_reg_mr, mr, ibv_reg_mr(pd, memory, SIZE, access));
	MAKE(ibv_reg_mr_iova, more[0], ibv_reg_mr_iova(pd, memory, SIZE, 4096, access));
	MAKE(ibv_reg_mr_iova2, more[1],
	    ibv_reg_mr_iova2(pd, memory, SIZE, 4096, (unsigned int)access));
	MAKE(ibv_alloc_buf, address, alloc_buf(pd, SIZE, &buffer));
	MAKE(ibv_reg_buf_mr, more[2], reg_buf(pd, buffer, address, SIZE, access));
	MAKE(ibv_reg_mr_ex, more[3], reg_ex(pd, &init));
	CALL(ibv_rereg_mr, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, access));
	CALL(ibv_dereg_mr, ibv_dereg_mr(mr));
	for (int i = 0; i < 4; i++)
		MUST(!ibv_dereg_mr(more[i]));
	free_buf(buffer);
}

static void
sees_domains(void)
{
	struct ibv_td_init_attr init = { 0 };
	struct ibv_parent_domain_init_attr attr = { .pd = pd };
	struct ibv_pd *parent;
	struct ibv_td *td;

	MAKE(ibv_alloc_td, td, ibv_alloc_td(context, &init));
	attr.td = td;
	MAKE(ibv_alloc_parent_domain, parent, ibv_alloc_parent_domain(context, &attr));
	CALL(ibv_dealloc_pd, ibv_dealloc_pd(parent));
	CALL(ibv_dealloc_td, ibv_dealloc_td(td));
}

/* ---- queue pairs ---- */

/* To RTS, with a queue pair of this process. */
static void
sees_connect(struct ibv_qp *qp, struct ibv_qp *peer, bool first)
{
	const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE
	};

	if (first)
		CALL(ibv_modify_qp, ibv_modify_qp(qp, &attr, init));
	else
		MUST(!ibv_modify_qp(qp, &attr, init));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.ah_attr = { .dlid = 1, .port_num = 1 } };
	MUST(!ibv_modify_qp(qp, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1 };
	MUST(!ibv_modify_qp(qp, &attr,
	    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC));
}

static struct ibv_qp *
sees_make_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex init = { .send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.cap = { .max_send_wr = 4,
		    .max_recv_wr = 4,
		    .max_send_sge = 1,
		    .max_recv_sge = 1,
		    .max_inline_data = 8 } };
	struct ibv_qp *qp;

	MAKE(ibv_create_qp_ex, qp, ibv_create_qp_ex(context, &init));
	return qp;
}

static int
sees_send_built(struct ibv_qp_ex *qp)
{
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, memory, 8);
	return ibv_wr_complete(qp);
}

static void
sees_windows(struct ibv_qp *qp)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND;
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, SIZE, access);
	struct ibv_mw_bind bind = { .bind_info = { .mr = mr,
					.addr = (uintptr_t)memory,
					.length = SIZE,
					.mw_access_flags = IBV_ACCESS_REMOTE_WRITE } };
	struct ibv_mw *mw;

	MUST(mr);
	MAKE(ibv_alloc_mw, mw, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	CALL(ibv_bind_mw, ibv_bind_mw(qp, mw, &bind));
	CALL(ibv_dealloc_mw, ibv_dealloc_mw(mw));
	MUST(!ibv_dereg_mr(mr));
}

/* Two sends from qp to peer; the completions of both ends are polled. */
static void
sees_messages(struct ibv_qp *qp, struct ibv_qp *peer, struct ibv_comp_channel *channel,
    struct ibv_cq *cq, struct ibv_cq_ex *extended)
{
	struct ibv_recv_wr recv = { 0 }, *bad_recv = NULL;
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad = NULL;
	struct ibv_poll_cq_attr poll = { 0 };
	struct ibv_cq *found;
	struct ibv_wc wc;
	void *its_context;

	CALL(ibv_req_notify_cq, ibv_req_notify_cq(cq, 0));
	for (int i = 0; i < 2; i++) {
		if (i)
			MUST(!ibv_post_recv(peer, &recv, &bad_recv));
		else
			CALL(ibv_post_recv, ibv_post_recv(peer, &recv, &bad_recv));
	}
	MUST(bad_recv == &recv);
	CALL(ibv_post_send, ibv_post_send(qp, &send, &bad));
	MUST(bad == &send);
	/* The call fails before it waits, and the event stays. */
	CALL(ibv_get_cq_event, ibv_get_cq_event(channel, &found, &its_context));
	ibv_ack_cq_events(cq, 1);
	CALL_UNTIL(ibv_poll_cq, ibv_poll_cq(cq, 1, &wc), result_ == 1 && !wc.status);
	send.send_flags |= IBV_SEND_INLINE;
	CALL(ibv_start_poll, ibv_start_poll(extended, &poll));
	MUST(!ibv_post_send(qp, &send, &bad));
	CALL_UNTIL(ibv_next_poll, ibv_next_poll(extended), result_ == 0 || result_ == ENOENT);
	ibv_end_poll(extended);
}

static void
sees_addresses(void)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_wc wc = { .slid = 1 };
	struct ibv_ah *ah;

	MAKE(ibv_create_ah, ah, ibv_create_ah(pd, &attr));
	CALL(ibv_destroy_ah, ibv_destroy_ah(ah));
	MAKE(ibv_create_ah_from_wc, ah, ibv_create_ah_from_wc(pd, &wc, NULL, 1));
	MUST(!ibv_destroy_ah(ah));
	CALL(ibv_init_ah_from_wc, ibv_init_ah_from_wc(context, 1, &wc, NULL, &attr));
}

static void
sees_shared_queue(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	struct ibv_recv_wr recv = { 0 }, *bad = NULL;
	struct ibv_srq *srq;

	MAKE(ibv_create_srq, srq, ibv_create_srq(pd, &init));
	CALL(ibv_modify_srq, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	CALL(ibv_query_srq, ibv_query_srq(srq, &attr));
	CALL(ibv_post_srq_recv, ibv_post_srq_recv(srq, &recv, &bad));
	MUST(bad == &recv);
	CALL(ibv_destroy_srq, ibv_destroy_srq(srq));
}

static void
sees_queues(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_modify_cq_attr moderation = { .attr_mask = IBV_CQ_ATTR_MODERATE };
	struct ibv_qp_init_attr plain = { .qp_type = IBV_QPT_RC,
		.cap = {
		    .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp_attr attr;
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *extended;
	struct ibv_qp *qp, *peer;
	struct ibv_cq *cq;

	MAKE(ibv_create_comp_channel, channel, ibv_create_comp_channel(context));
	MAKE(ibv_create_cq, cq, ibv_create_cq(context, 16, NULL, channel, 0));
	CALL(ibv_resize_cq, ibv_resize_cq(cq, 20));
	MAKE(ibv_create_cq_ex, extended, ibv_create_cq_ex(context, &init));
	CALL(ibv_modify_cq, ibv_modify_cq(cq, &moderation));
	qp = sees_make_qp(ibv_cq_ex_to_cq(extended));
	plain.send_cq = plain.recv_cq = cq;
	MAKE(ibv_create_qp, peer, ibv_create_qp(pd, &plain));
	CALL(ibv_query_qp, ibv_query_qp(qp, &attr, IBV_QP_STATE, &plain));
	sees_connect(qp, peer, true);
	sees_connect(peer, qp, false);
	sees_messages(qp, peer, channel, cq, extended);
	sees_windows(qp);
	CALL(ibv_wr_complete, sees_send_built(ibv_qp_to_qp_ex(qp)));
	CALL(ibv_destroy_qp, ibv_destroy_qp(qp));
	MUST(!ibv_destroy_qp(peer));
	CALL(ibv_destroy_cq, ibv_destroy_cq(cq));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(extended)));
	CALL(ibv_destroy_comp_channel, ibv_destroy_comp_channel(channel));
}

int
main(void)
{
	struct ibv_async_event event;
	struct ibv_device **list;

	MAKE(ibv_get_device_list, list, ibv_get_device_list(NULL));
	MAKE(ibv_open_device, context, ibv_open_device(*list));
	ibv_free_device_list(list);
	sees_queries();
	/* None has come. */
	MUST(!fcntl(context->async_fd, F_SETFL, O_NONBLOCK));
	CALL_UNTIL(ibv_get_async_event, ibv_get_async_event(context, &event), errno == EAGAIN);
	MAKE(ibv_alloc_pd, pd, ibv_alloc_pd(context));
	sees_memory();
	sees_domains();
	sees_shared_queue();
	sees_addresses();
	sees_queues();
	/* Everything in it was destroyed, and nothing that failed has left anything there. */
	MUST(!ibv_dealloc_pd(pd));
	sees_cm();
	CALL(ibv_close_device, ibv_close_device(context));
	return 0;
}
