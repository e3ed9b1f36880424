/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device reports about itself: lower limits, another device. */
#include "call.h"
#include "fault.h"
#include "poll.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_limits lower; /* guarded by lock, as is what follows */
static unsigned int lacking;
static bool device_given;
static struct ibv_device_attr device;
static struct ibv_port_attr port_given;
static enum ibv_port_state port_state;
static int (*real_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);

/* Only its address matters. */
static struct verbs_context another;
static _Thread_local bool finds_another;
static atomic_int address_error;

void
fault_limit(const struct fault_limits *limits)
{
	pthread_mutex_lock(&lock);
	lower = *limits;
	pthread_mutex_unlock(&lock);
}

void
fault_device(const struct ibv_device_attr *attr, const struct ibv_port_attr *with_port)
{
	pthread_mutex_lock(&lock);
	device_given = attr != NULL;
	if (device_given) {
		device = *attr;
		port_given = *with_port;
	}
	pthread_mutex_unlock(&lock);
}

void
fault_lack(unsigned int abilities)
{
	pthread_mutex_lock(&lock);
	lacking = abilities;
	pthread_mutex_unlock(&lock);
}

static void
take_abilities(struct ibv_context *context, struct ibv_device_attr *attr)
{
	static const struct {
		enum fault_ability ability;
		unsigned int flags;
	} by_flag[] = {
		{ FAULT_WINDOWS_1, IBV_DEVICE_MEM_WINDOW },
		{ FAULT_WINDOWS_2, IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B },
		{ FAULT_INVALIDATE, IBV_DEVICE_MEM_MGT_EXTENSIONS },
		{ FAULT_SRQ_RESIZE, IBV_DEVICE_SRQ_RESIZE },
	};

	for (unsigned int i = 0; i < sizeof by_flag / sizeof by_flag[0]; i++)
		if (lacking & by_flag[i].ability)
			attr->device_cap_flags &= ~by_flag[i].flags;
	if (lacking & FAULT_SRQ)
		attr->max_srq = attr->max_srq_wr = attr->max_srq_sge = 0;
	if (lacking & FAULT_ATOMICS)
		attr->atomic_cap = IBV_ATOMIC_NONE;
	context->device->transport_type =
	    lacking & FAULT_INFINIBAND ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
}

void
fault_port_state(enum ibv_port_state state)
{
	pthread_mutex_lock(&lock);
	port_state = state;
	pthread_mutex_unlock(&lock);
}

void
fault_other_device(bool on)
{
	finds_another = on;
}

static int
query_lower_port(
    struct ibv_context *context, uint8_t number, struct ibv_port_attr *port, size_t size)
{
	int r = fault_error_of("ibv_query_port");

	if (r)
		return r;
	r = real_port(context, number, port, size);

	pthread_mutex_lock(&lock);
	if (!r && device_given)
		*port = port_given;
	if (!r && lower.message)
		port->max_msg_sz = lower.message;
	if (!r && port_state)
		port->state = port_state;
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
	r = fault_error_of("ibv_query_device");
	if (r)
		return r;
	verbs = verbs_get_ctx(context);
	call_wrap_operations(context);
	r = __real_ibv_query_device(context, attr);
	pthread_mutex_lock(&lock);
	cq_wrap_poll(context);
	cq_wrap_modify(verbs, lacking & FAULT_MODERATION);
	if (verbs->query_port != query_lower_port) {
		real_port = verbs->query_port;
		verbs->query_port = query_lower_port;
	}
	if (device_given)
		*attr = device;
	if (lower.segments)
		attr->max_sge = lower.segments;
	if (lower.read_segments)
		attr->max_sge_rd = lower.read_segments;
	take_abilities(context, attr);
	pthread_mutex_unlock(&lock);
	return r;
}

static bool
can_be_zero_based(const void *address)
{
	const bool inside = (uintptr_t)address % (uintptr_t)sysconf(_SC_PAGESIZE) != 0;
	bool able;

	pthread_mutex_lock(&lock);
	able = !(lacking & FAULT_ZERO_BASED) && (!inside || !(lacking & FAULT_ZERO_BASED_INSIDE));
	pthread_mutex_unlock(&lock);
	if (!able)
		errno = EINVAL;
	return able;
}

struct ibv_mr *__real_ibv_reg_mr_iova(
    struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access);
struct ibv_mr *__wrap_ibv_reg_mr_iova(
    struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access);
struct ibv_mr *
__wrap_ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access)
{
	if (fault_error_of("ibv_reg_mr") || !can_be_zero_based(address))
		return NULL;
	return __real_ibv_reg_mr_iova(pd, address, length, iova, access);
}

/*
 * The header calls the one or the other for a region that is not zero-based, by what the compiler
 * knows of the access.
 */
#undef ibv_reg_mr
struct ibv_mr *__real_ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access);
struct ibv_mr *__wrap_ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access);
struct ibv_mr *
__wrap_ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return fault_error_of("ibv_reg_mr") ? NULL : __real_ibv_reg_mr(pd, address, length, access);
}

struct ibv_mr *__real_ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned int access);
struct ibv_mr *__wrap_ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned int access);
struct ibv_mr *
__wrap_ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned int access)
{
	if (fault_error_of("ibv_reg_mr") || (iova == 0 && !can_be_zero_based(address)))
		return NULL;
	return __real_ibv_reg_mr_iova2(pd, address, length, iova, access);
}

void
fault_cm_refuse_addresses(int error)
{
	address_error = error;
}

static atomic_bool is_soft;

void
fault_is_soft(bool on)
{
	is_soft = on;
}

bool __wrap_dapl_cq_arm_is_soft(void);
bool
__wrap_dapl_cq_arm_is_soft(void)
{
	return is_soft;
}

int __real_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int __wrap_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int
__wrap_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	const int error = address_error ? address_error : fault_error_of("rdma_bind_addr");
	const int r = error ? -1 : __real_rdma_bind_addr(id, addr);

	if (error > 0)
		errno = error;
	if (!r && finds_another)
		id->verbs = &another.context;
	return r;
}
