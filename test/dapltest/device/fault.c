/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#define RAISED_MAX 64

struct ibv_cq *device_last_cq;
struct ibv_qp *device_last_qp;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context *device; /* guarded by lock, as is what follows */
static struct ibv_async_event raised[RAISED_MAX];
static unsigned int first_raised, next_raised, acknowledged;
static int (*real_poll)(struct ibv_cq *, int, struct ibv_wc *);
static void (*_Atomic change_completion)(struct ibv_wc *wc);
static int (*real_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);
static struct device_limits lower;
static _Atomic(bool) arm_fails, poll_fails;
static void (*_Atomic on_queue_pair_error)(void);
static void (*_Atomic on_destroy)(struct ibv_qp *qp);
static _Atomic(bool) hold_next, holds;
static _Atomic(int) answer_length = -1;
/* An event of ours is not the device's to have acknowledged. */
static _Thread_local bool ours;

void
device_raise(enum ibv_event_type type, void *element)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&lock);
	ck_assert_uint_lt(next_raised - first_raised, RAISED_MAX);
	raised[next_raised % RAISED_MAX] = (struct ibv_async_event){ .event_type = type };
	raised[next_raised++ % RAISED_MAX].element.qp = element;
	/* The device's descriptor counts what is due. */
	ck_assert_int_eq(write(device->async_fd, &one, sizeof one), (int)sizeof one);
	pthread_mutex_unlock(&lock);
}

void
device_change_completions(void (*change)(struct ibv_wc *wc))
{
	change_completion = change;
}

void
device_limit(const struct device_limits *limits)
{
	pthread_mutex_lock(&lock);
	lower = *limits;
	pthread_mutex_unlock(&lock);
}

void
device_hold_rejection(void)
{
	holds = true;
	hold_next = true;
}

void
device_let_go(void)
{
	holds = false;
}

void
device_answers_with(int length)
{
	answer_length = length;
}

void
device_arms(bool works)
{
	arm_fails = !works;
}

void
device_polls(bool works)
{
	poll_fails = !works;
}

/* Only its address matters. */
static struct verbs_context another;
static _Thread_local bool finds_another;

void
device_is_another(bool finds)
{
	finds_another = finds;
}

void
device_on_queue_pair_error(void (*call)(void))
{
	on_queue_pair_error = call;
}

void
device_on_destroy(void (*call)(struct ibv_qp *qp))
{
	on_destroy = call;
}

bool
device_is_acknowledged(void)
{
	bool all;

	pthread_mutex_lock(&lock);
	all = acknowledged == next_raised;
	pthread_mutex_unlock(&lock);
	return all;
}

/* ---- between the provider and the device ---- */

int __real_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int
__wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	uint64_t count;
	bool last;

	pthread_mutex_lock(&lock);
	ours = first_raised != next_raised;
	if (ours)
		*event = raised[first_raised++ % RAISED_MAX];
	last = ours && first_raised == next_raised;
	pthread_mutex_unlock(&lock);
	if (last && read(context->async_fd, &count, sizeof count) < 0)
		ck_assert_int_eq(errno, EAGAIN);
	return ours ? 0 : __real_ibv_get_async_event(context, event);
}

void __real_ibv_ack_async_event(struct ibv_async_event *event);
void __wrap_ibv_ack_async_event(struct ibv_async_event *event);
void
__wrap_ibv_ack_async_event(struct ibv_async_event *event)
{
	if (!ours) {
		__real_ibv_ack_async_event(event);
		return;
	}
	pthread_mutex_lock(&lock);
	acknowledged++;
	pthread_mutex_unlock(&lock);
}

static int
poll_changed(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	void (*change)(struct ibv_wc *) = change_completion;
	int n = poll_fails ? -1 : real_poll(cq, max, wc);

	for (int i = 0; change && i < n; i++)
		change(&wc[i]);
	return n;
}

static int
query_lower_port(
    struct ibv_context *context, uint8_t number, struct ibv_port_attr *port, size_t size)
{
	int r = real_port(context, number, port, size);

	pthread_mutex_lock(&lock);
	if (!r && lower.message)
		port->max_msg_sz = lower.message;
	pthread_mutex_unlock(&lock);
	return r;
}

int __real_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
int __wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
/* The first call with a context, before any other thread knows it. */
int
__wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct verbs_context *verbs;
	int r;

	if (context == &another.context)
		return ENODEV;
	verbs = verbs_get_ctx(context);
	r = __real_ibv_query_device(context, attr);
	pthread_mutex_lock(&lock);
	device = context;
	if (context->ops.poll_cq != poll_changed) {
		real_poll = context->ops.poll_cq;
		context->ops.poll_cq = poll_changed;
		real_port = verbs->query_port;
		verbs->query_port = query_lower_port;
	}
	if (lower.segments)
		attr->max_sge = lower.segments;
	if (lower.read_segments)
		attr->max_sge_rd = lower.read_segments;
	pthread_mutex_unlock(&lock);
	return r;
}

int __real_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int __wrap_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int
__wrap_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	const int r = __real_rdma_bind_addr(id, addr);

	if (!r && finds_another)
		id->verbs = &another.context;
	return r;
}

struct ibv_cq *__real_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *
__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	device_last_cq = __real_ibv_create_cq(context, cqe, cq_context, channel, vector);
	return device_last_cq;
}

struct ibv_qp *__real_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *
__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	device_last_qp = __real_ibv_create_qp(pd, attr);
	return device_last_qp;
}

int __real_ibv_destroy_qp(struct ibv_qp *qp);
int __wrap_ibv_destroy_qp(struct ibv_qp *qp);
int
__wrap_ibv_destroy_qp(struct ibv_qp *qp)
{
	void (*call)(struct ibv_qp *) = on_destroy;

	if (call)
		call(qp);
	return __real_ibv_destroy_qp(qp);
}

int __real_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int
__wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int r = __real_ibv_modify_qp(qp, attr, mask);
	void (*call)(void) = on_queue_pair_error;

	if (call && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR)
		call();
	return r;
}

int __real_soft_cq_arm(struct ibv_cq *cq, int solicited_only);
int __wrap_soft_cq_arm(struct ibv_cq *cq, int solicited_only);
int
__wrap_soft_cq_arm(struct ibv_cq *cq, int solicited_only)
{
	return arm_fails ? -EIO : __real_soft_cq_arm(cq, solicited_only);
}

int __real_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int
__wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	const int r = __real_rdma_get_cm_event(channel, event), length = answer_length;

	if (!r && length >= 0 && (*event)->event != RDMA_CM_EVENT_CONNECT_REQUEST &&
	    (*event)->param.conn.private_data)
		(*event)->param.conn.private_data_len = (uint8_t)length;
	return r;
}

int __real_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size);
int __wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size);
int
__wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size)
{
	const bool held = atomic_exchange(&hold_next, false);
	int r = __real_rdma_reject(id, data, size);

	for (int ms = 0; held && holds && ms < DT_FOREVER_MS; ms++)
		dt_nap_ms(1);
	return r;
}

/* ---- the provider in this program ---- */

void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params);

static void
setup(void)
{
	DAT_PROVIDER_INFO info = { .dapl_version_major = 2 };

	strcpy(info.ia_name, "device");
	dat_provider_init(&info, "lo 0");
}

TCase *
device_tcase(Suite *suite, const char *name)
{
	TCase *tcase = dt_tcase(suite, name);

	tcase_add_checked_fixture(tcase, setup, NULL);
	return tcase;
}
