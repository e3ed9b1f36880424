/* SPDX-License-Identifier: BSD-3-Clause */
/* device_verbs -- the functions of libibverbs and librdmacm that the device stands in front of */
#include "device_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic uint64_t device_calls, device_reads, device_acks;
static atomic_uint descriptors;

/* The function of this name in the next library, softverbs. */
static void *
next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "bench: %s\n", dlerror());
		abort();
	}
	return function;
}

#define NEXT(name) ((__typeof__(&name))next(#name))

void *
device_map(size_t size)
{
	void *memory = mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

/* What is called for each event is looked up once. */
static bool pass_through;
static struct {
	__typeof__(&ibv_get_cq_event) get_event;
	__typeof__(&ibv_ack_cq_events) ack;
} passed;

void
device_pass_through(void)
{
	passed.get_event = NEXT(ibv_get_cq_event);
	passed.ack = NEXT(ibv_ack_cq_events);
	pass_through = true;
}

unsigned int
device_descriptors(void)
{
	return descriptors;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct device_channel *channel;
	int ends[2];

	if (pass_through)
		return NEXT(ibv_create_comp_channel)(context);
	channel = device_map(sizeof *channel);
	if (pipe2(ends, O_CLOEXEC)) {
		munmap(channel, sizeof *channel);
		return NULL;
	}
	channel->ibv.context = context;
	channel->ibv.fd = ends[0];
	channel->bell = ends[1];
	descriptors++;
	return &channel->ibv;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct device_channel *channel = (struct device_channel *)ibv;

	if (pass_through)
		return NEXT(ibv_destroy_comp_channel)(ibv);
	if (ibv->refcnt)
		return EBUSY;
	close(ibv->fd);
	close(channel->bell);
	descriptors--;
	return munmap(channel, sizeof *channel);
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	struct device_cq *cq;
	struct ibv_cq *ibv;

	if (pass_through)
		return NEXT(ibv_create_cq)(context, cqe, cq_context, channel, vector);
	ibv = NEXT(ibv_create_cq)(context, cqe, cq_context, NULL, vector);
	if (!ibv)
		return NULL;
	cq = device_map(sizeof *cq);
	cq->cq = ibv;
	cq->bell = channel ? ((struct device_channel *)channel)->bell : -1;
	ibv->channel = channel;
	if (channel)
		channel->refcnt++;
	ibv->handle = device_cq_count;
	if (ibv->handle == DEVICE_CQS_MAX)
		abort();
	device_cq_table[ibv->handle] = cq;
	device_cq_count++;
	context->ops.poll_cq = device_poll;
	context->ops.req_notify_cq = device_arm;
	context->ops.post_send = device_post_send;
	context->ops.post_recv = device_post_recv;
	return ibv;
}

/* The device keeps its counts. */
int
ibv_destroy_cq(struct ibv_cq *ibv)
{
	if (!pass_through) {
		if (ibv->channel)
			ibv->channel->refcnt--;
		ibv->channel = NULL;
	}
	return NEXT(ibv_destroy_cq)(ibv);
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	long r;

	if (pass_through)
		return passed.get_event(channel, cq, cq_context);
	device_reads++;
	/* A call of the engine: it would be one on any device. */
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(SYS_read), "D"((long)channel->fd), "S"(cq), "d"(sizeof *cq)
			 : "rcx", "r11", "memory");
	if (r != sizeof *cq) {
		errno = r < 0 ? (int)-r : EIO;
		return -1;
	}
	*cq_context = (*cq)->cq_context;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	if (pass_through) {
		passed.ack(cq, n);
		return;
	}
	device_acks++;
	__atomic_fetch_add(&cq->comp_events_completed, n, __ATOMIC_RELAXED);
}

static void
qp_adopt(struct ibv_qp *ibv, const struct ibv_qp_init_attr *attr)
{
	struct device_cq *receives = device_cq_of(ibv->recv_cq),
			 *sends = device_cq_of(ibv->send_cq);
	struct device_qp *qp = device_map(sizeof *qp);

	if (ibv->handle >= DEVICE_QPS_MAX)
		abort();
	qp->qp = ibv;
	qp->all_signalled = attr->sq_sig_all;
	qp->next_receiver = receives->receivers;
	receives->receivers = qp;
	qp->next_sender = sends->senders;
	sends->senders = qp;
	device_qp_table[ibv->handle] = qp;
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *ibv = NEXT(ibv_create_qp)(pd, attr);

	if (ibv && !pass_through)
		qp_adopt(ibv, attr);
	return ibv;
}

int
rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	int r = NEXT(rdma_create_qp)(id, pd, attr);

	if (!r && !pass_through)
		qp_adopt(id->qp, attr);
	return r;
}
