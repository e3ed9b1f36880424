/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrap_verbs -- the verbs and the CM calls of the provider, as the linker's --wrap takes them
 *
 * A call that destroys does its work and then says that it failed, as it does when the device was
 * removed.  Posting and polling go through a table in the device's context; the table is changed
 * when the first object of a context is made.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include "inject.h"
#include "wrap.h"

/* The headers make macros of these. */
#undef ibv_reg_mr
#undef ibv_query_port

#define WRAP_DESTROY(type, name, params, args, error) \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params \
	{ \
		bool fails = inject(#name, CALLER, INJECT_FAILS); \
		type r = __real_##name args; \
		return fails ? (error) : r; \
	}

/* ---- the table of a context ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context_ops real; /* of the software device, the same for all its contexts */

static int
poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	return inject("ibv_poll_cq", CALLER, INJECT_FAILS) ? -1 : real.poll_cq(cq, max, wc);
}

static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	if (inject("ibv_post_send", CALLER, INJECT_FAILS)) {
		*bad = wr;
		return ENOMEM;
	}
	return real.post_send(qp, wr, bad);
}

static int
post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (inject("ibv_post_recv", CALLER, INJECT_FAILS)) {
		*bad = wr;
		return ENOMEM;
	}
	return real.post_recv(qp, wr, bad);
}

/* librearm arms a queue by this, the provider does not. */
static int
req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return inject("ibv_req_notify_cq", CALLER, INJECT_FAILS) ?
		   EIO :
		   real.req_notify_cq(cq, solicited_only);
}

static void
change_table(struct ibv_context *context)
{
	pthread_mutex_lock(&lock);
	if (context->ops.poll_cq != poll_cq) {
		/* Other contexts' threads may be reading it. */
		if (!real.poll_cq)
			real = context->ops;
		context->ops.poll_cq = poll_cq;
		context->ops.req_notify_cq = req_notify_cq;
		context->ops.post_send = post_send;
		context->ops.post_recv = post_recv;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- verbs ---- */

struct ibv_cq *__real_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);

struct ibv_cq *
__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	change_table(context);
	if (inject("ibv_create_cq", CALLER, INJECT_FAILS))
		FAIL_ERRNO(ENOMEM, NULL);
	return __real_ibv_create_cq(context, cqe, cq_context, channel, vector);
}

WRAP(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context * context), (context),
    FAIL_ERRNO(ENOMEM, NULL))
WRAP(struct ibv_comp_channel *, ibv_create_comp_channel, (struct ibv_context * context), (context),
    FAIL_ERRNO(EMFILE, NULL))
WRAP(struct ibv_qp *, ibv_create_qp, (struct ibv_pd * pd, struct ibv_qp_init_attr *init),
    (pd, init), FAIL_ERRNO(ENOMEM, NULL))
WRAP(struct ibv_mr *, ibv_reg_mr, (struct ibv_pd * pd, void *at, size_t size, int access),
    (pd, at, size, access), FAIL_ERRNO(ENOMEM, NULL))
WRAP(struct ibv_mr *, ibv_reg_mr_iova,
    (struct ibv_pd * pd, void *at, size_t size, uint64_t iova, int access),
    (pd, at, size, iova, access), FAIL_ERRNO(ENOMEM, NULL))
WRAP(struct ibv_mr *, ibv_reg_mr_iova2,
    (struct ibv_pd * pd, void *at, size_t size, uint64_t iova, unsigned int access),
    (pd, at, size, iova, access), FAIL_ERRNO(ENOMEM, NULL))
WRAP(int, ibv_modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask), (qp, attr, mask),
    FAIL_VALUE(ENOMEM))
WRAP(int, ibv_resize_cq, (struct ibv_cq * cq, int cqe), (cq, cqe), FAIL_VALUE(ENOMEM))
WRAP(int, ibv_query_device, (struct ibv_context * context, struct ibv_device_attr *attr),
    (context, attr), FAIL_VALUE(ENOMEM))
WRAP(int, ibv_query_gid,
    (struct ibv_context * context, uint8_t port, int index, union ibv_gid *gid),
    (context, port, index, gid), FAIL_ERRNO(EIO, -1))
WRAP(int, ibv_query_port,
    (struct ibv_context * context, uint8_t port, struct _compat_ibv_port_attr *attr),
    (context, port, attr), FAIL_VALUE(ENOMEM))
WRAP_INTERRUPTED(int, ibv_get_cq_event,
    (struct ibv_comp_channel * channel, struct ibv_cq **cq, void **cq_context),
    (channel, cq, cq_context))
WRAP_INTERRUPTED(int, ibv_get_async_event,
    (struct ibv_context * context, struct ibv_async_event *event), (context, event))

/* The arm of the software device, in place of ibv_req_notify_cq(). */
WRAP(int, soft_cq_arm, (struct ibv_cq * cq, int solicited_only), (cq, solicited_only),
    FAIL_VALUE(-EIO))

WRAP_DESTROY(int, ibv_dealloc_pd, (struct ibv_pd * pd), (pd), EIO)
WRAP_DESTROY(int, ibv_dereg_mr, (struct ibv_mr * mr), (mr), EIO)
WRAP_DESTROY(int, ibv_destroy_cq, (struct ibv_cq * cq), (cq), EIO)
WRAP_DESTROY(int, ibv_destroy_qp, (struct ibv_qp * qp), (qp), EIO)
WRAP_DESTROY(int, ibv_destroy_comp_channel, (struct ibv_comp_channel * channel), (channel), EIO)
WRAP_DESTROY(int, rdma_destroy_id, (struct rdma_cm_id * id), (id), -1)

/* ---- connection manager ---- */

WRAP(struct rdma_event_channel *, rdma_create_event_channel, (void), (), FAIL_ERRNO(EMFILE, NULL))
WRAP(int, rdma_create_id,
    (struct rdma_event_channel * channel, struct rdma_cm_id **id, void *context,
	enum rdma_port_space ps),
    (channel, id, context, ps), FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_bind_addr, (struct rdma_cm_id * id, struct sockaddr *at), (id, at),
    FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_listen, (struct rdma_cm_id * id, int backlog), (id, backlog), FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_resolve_addr,
    (struct rdma_cm_id * id, struct sockaddr *from, struct sockaddr *to, int timeout),
    (id, from, to, timeout), FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_resolve_route, (struct rdma_cm_id * id, int timeout), (id, timeout),
    FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param),
    FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_accept, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param),
    FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_reject, (struct rdma_cm_id * id, const void *data, uint8_t size), (id, data, size),
    FAIL_ERRNO(ENOMEM, -1))
WRAP(int, rdma_disconnect, (struct rdma_cm_id * id), (id), FAIL_ERRNO(EINVAL, -1))
WRAP(int, rdma_notify, (struct rdma_cm_id * id, enum ibv_event_type event), (id, event),
    FAIL_ERRNO(EINVAL, -1))
WRAP_INTERRUPTED(int, rdma_get_cm_event,
    (struct rdma_event_channel * channel, struct rdma_cm_event **event), (channel, event))
