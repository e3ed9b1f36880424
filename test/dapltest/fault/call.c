/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of libibverbs or librdmacm fails, whichever it is: fault_call_fail() names it. */
#include "call.h"
#include "fault.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#undef ibv_reg_mr

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock: */
static char failing[40];
static int failing_error;
static int spared;		   /* calls that work before it fails */
static struct ibv_send_wr request; /* the last */
static struct ibv_sge segment;	   /* of it */
static struct rdma_conn_param connection;
static struct ibv_context_ops real; /* of the software device, the same for all contexts */

void
fault_call_fail(const char *call, int error)
{
	pthread_mutex_lock(&lock);
	snprintf(failing, sizeof failing, "%s", call ? call : "");
	failing_error = error;
	spared = 0;
	pthread_mutex_unlock(&lock);
}

void
fault_call_spare(int n)
{
	pthread_mutex_lock(&lock);
	spared = n;
	pthread_mutex_unlock(&lock);
}

struct ibv_send_wr
fault_call_last_request(void)
{
	struct ibv_send_wr last;

	pthread_mutex_lock(&lock);
	last = request;
	pthread_mutex_unlock(&lock);
	return last;
}

struct rdma_conn_param
fault_call_last_connection(void)
{
	struct rdma_conn_param last;

	pthread_mutex_lock(&lock);
	last = connection;
	pthread_mutex_unlock(&lock);
	return last;
}

static void
note_request(const struct ibv_send_wr *wr)
{
	pthread_mutex_lock(&lock);
	request = *wr;
	if (wr->num_sge > 0)
		segment = *wr->sg_list;
	request.sg_list = &segment;
	pthread_mutex_unlock(&lock);
}

static void
note_connection(const struct rdma_conn_param *param)
{
	pthread_mutex_lock(&lock);
	connection = *param;
	connection.private_data = NULL;
	pthread_mutex_unlock(&lock);
}

int
fault_error_of(const char *call)
{
	int error;

	pthread_mutex_lock(&lock);
	error = strcmp(call, failing) == 0 ? failing_error : 0;
	if (error && spared > 0) {
		spared--;
		error = 0;
	}
	pthread_mutex_unlock(&lock);
	if (error > 0)
		errno = error;
	return error;
}

/* ---- functions ---- */

struct ibv_comp_channel *__real_ibv_create_comp_channel(struct ibv_context *context);
struct ibv_comp_channel *__wrap_ibv_create_comp_channel(struct ibv_context *context);
struct ibv_comp_channel *
__wrap_ibv_create_comp_channel(struct ibv_context *context)
{
	return fault_error_of("ibv_create_comp_channel") ? NULL :
							   __real_ibv_create_comp_channel(context);
}

struct ibv_pd *__real_ibv_alloc_pd(struct ibv_context *context);
struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *context);
struct ibv_pd *
__wrap_ibv_alloc_pd(struct ibv_context *context)
{
	return fault_error_of("ibv_alloc_pd") ? NULL : __real_ibv_alloc_pd(context);
}

struct ibv_ah *__real_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
struct ibv_ah *__wrap_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
struct ibv_ah *
__wrap_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	return fault_error_of("ibv_create_ah") ? NULL : __real_ibv_create_ah(pd, attr);
}

int __real_ibv_dereg_mr(struct ibv_mr *mr);
int __wrap_ibv_dereg_mr(struct ibv_mr *mr);
int
__wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	const int error = fault_error_of("ibv_dereg_mr");

	if (error == EBUSY || error == EINVAL)
		return error;
	/* Another error comes from a device that is gone, and the region with it. */
	(void)__real_ibv_dereg_mr(mr);
	return error;
}

int __real_rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);
int __wrap_rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms);
int
__wrap_rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	return fault_error_of("rdma_resolve_route") ? -1 :
						      __real_rdma_resolve_route(id, timeout_ms);
}

int __real_rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int __wrap_rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int
__wrap_rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	note_connection(param);
	return fault_error_of("rdma_connect") ? -1 : __real_rdma_connect(id, param);
}

int __real_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int __wrap_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int
__wrap_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	note_connection(param);
	return fault_error_of("rdma_accept") ? -1 : __real_rdma_accept(id, param);
}

int __real_rdma_disconnect(struct rdma_cm_id *id);
int __wrap_rdma_disconnect(struct rdma_cm_id *id);
int
__wrap_rdma_disconnect(struct rdma_cm_id *id)
{
	return fault_error_of("rdma_disconnect") ? -1 : __real_rdma_disconnect(id);
}

/* ---- operations of a context ---- */

static struct ibv_mw *
alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	return fault_error_of("ibv_alloc_mw") ? NULL : real.alloc_mw(pd, type);
}

static int
dealloc_mw(struct ibv_mw *mw)
{
	const int error = fault_error_of("ibv_dealloc_mw");

	if (error == EBUSY || error == EINVAL)
		return error;
	/* Another error comes from a device that is gone, and the window with it. */
	(void)real.dealloc_mw(mw);
	return error;
}

static int
post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const int error = fault_error_of("ibv_post_send");

	note_request(wr);
	return error ? error : real.post_send(qp, wr, bad);
}

static int
post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const int error = fault_error_of("ibv_post_recv");

	return error ? error : real.post_srq_recv(srq, wr, bad);
}

void
call_wrap_operations(struct ibv_context *context)
{
	pthread_mutex_lock(&lock);
	if (context->ops.post_send != post_send) {
		if (!real.post_send)
			real = context->ops;
		context->ops.alloc_mw = alloc_mw;
		context->ops.dealloc_mw = dealloc_mw;
		context->ops.post_send = post_send;
		context->ops.post_srq_recv = post_srq_recv;
	}
	pthread_mutex_unlock(&lock);
}
