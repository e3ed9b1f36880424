/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_dat.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fuzzer has this, too, and no tests. */
#define require(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "fake_dat.c:%d: not so: %s\n", __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

struct fake_dat fake;

static int fake_object; /* every handle points here */

#define FAKE_HANDLE ((DAT_HANDLE)&fake_object)

void
fake_reset(void)
{
	memset(&fake, 0, sizeof fake);
}

void
fake_queue(const DAT_EVENT *event)
{
	require(fake.queued < FAKE_MAX);
	fake.queue[fake.queued] = *event;
	fake.queue[fake.queued++].evd_handle = FAKE_HANDLE;
}

void
fake_queue_software(void *pointer)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	event.event_data.software_event_data.pointer = pointer;
	fake_queue(&event);
}

void
fake_queue_connection(DAT_EVENT_NUMBER number)
{
	DAT_EVENT event = { .event_number = number };

	event.event_data.connect_event_data.ep_handle = FAKE_HANDLE;
	fake_queue(&event);
}

static DAT_EVENT
fake_pop(void)
{
	DAT_EVENT event = fake.queue[0];

	fake.queued--;
	memmove(fake.queue, fake.queue + 1, (size_t)fake.queued * sizeof fake.queue[0]);
	return event;
}

void
fake_run(void)
{
	while (fake.queued > 0 && fake.policy == DAT_UPCALL_SINGLE_INSTANCE) {
		DAT_EVENT event = fake_pop();

		fake.upcalls++;
		fake.object.upcall_func(
		    fake.object.instance_data, &event, fake.queued ? DAT_TRUE : DAT_FALSE);
	}
}

int
fake_posted(DAT_DTOS kind)
{
	int n = 0;

	for (int i = 0; i < fake.works; i++)
		n += fake.work[i].kind == kind;
	return n;
}

static int
fake_find(DAT_DTOS kind)
{
	for (int i = 0; i < fake.works; i++)
		if (fake.work[i].kind == kind)
			return i;
	fprintf(stderr, "nothing of kind %d is posted\n", (int)kind);
	abort();
}

const struct fake_work *
fake_oldest(DAT_DTOS kind)
{
	return &fake.work[fake_find(kind)];
}

static void
fake_finish(DAT_DTOS kind, DAT_DTO_COMPLETION_STATUS status, DAT_SEG_LENGTH length)
{
	int i = fake_find(kind);
	DAT_EVENT event = { .event_number = DAT_DTO_COMPLETION_EVENT };

	event.event_data.dto_completion_event_data = (DAT_DTO_COMPLETION_EVENT_DATA){
		.ep_handle = FAKE_HANDLE,
		.user_cookie.as_64 = fake.work[i].cookie,
		.status = status,
		.transfered_length = length,
		.operation = kind,
	};
	const bool quiet =
	    fake.work[i].flags == DAT_COMPLETION_SUPPRESS_FLAG && status == DAT_DTO_SUCCESS;

	fake.works--;
	memmove(&fake.work[i], &fake.work[i + 1], (size_t)(fake.works - i) * sizeof fake.work[0]);
	if (!quiet)
		fake_queue(&event);
	fake_run();
}

void
fake_complete(DAT_DTOS kind, DAT_DTO_COMPLETION_STATUS status)
{
	fake_finish(kind, status, fake_oldest(kind)->local.segment_length);
}

void
fake_receive(const void *bytes, DAT_SEG_LENGTH length)
{
	const DAT_LMR_TRIPLET *into = &fake_oldest(DAT_DTO_RECEIVE)->local;

	require(length <= into->segment_length);
	memcpy((void *)(uintptr_t)into->virtual_address, bytes, length);
	fake_finish(DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, length);
}

const void *
fake_sent(void)
{
	return (const void *)(uintptr_t)fake_oldest(DAT_DTO_SEND)->local.virtual_address;
}

/* ---- the calls ---- */

static DAT_RETURN
fake_modify(DAT_UPCALL_POLICY policy, const DAT_UPCALL_OBJECT *object, DAT_UPCALL_FLAG flag)
{
	if (policy == DAT_UPCALL_SINGLE_INSTANCE) {
		if (fake.on_enable)
			fake.on_enable();
		fake.any_enables += flag == DAT_UPCALL_INVOC_ANY;
		if (fake.queued && flag == DAT_UPCALL_INVOC_NEW) {
			fake.refusals++;
			return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
		}
		if (fake.fail_enable != DAT_SUCCESS)
			return fake.fail_enable;
	}
	if (object)
		fake.object = *object;
	fake.policy = policy;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
	DAT_RETURN ret = DAT_SUCCESS;
	va_list args;

	(void)handle;
	va_start(args, op);
	if ((int)op == DAT_REARM_EVD_KCREATE_OP) {
		require(va_arg(args, int) > 0);
		fake.policy = (DAT_UPCALL_POLICY)va_arg(args, int);
		fake.object = *va_arg(args, const DAT_UPCALL_OBJECT *);
		(void)va_arg(args, int);
		*va_arg(args, DAT_EVD_HANDLE *) = FAKE_HANDLE;
		fake.evds++;
	} else if ((int)op == DAT_REARM_EVD_MODIFY_UPCALL_OP) {
		DAT_UPCALL_POLICY policy = (DAT_UPCALL_POLICY)va_arg(args, int);
		const DAT_UPCALL_OBJECT *object = va_arg(args, const DAT_UPCALL_OBJECT *);

		ret = fake_modify(policy, object, (DAT_UPCALL_FLAG)va_arg(args, int));
	} else if ((int)op == DAT_REARM_EVD_COUNTERS_OP) {
		struct dat_rearm_evd_counters *counters =
		    va_arg(args, struct dat_rearm_evd_counters *);

		memset(counters, 0, sizeof *counters);
		counters->upcalls = (DAT_UINT64)fake.upcalls;
	} else {
		ret = DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	}
	va_end(args);
	return ret;
}

DAT_RETURN
dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	(void)evd;
	if (fake.fail_dequeue != DAT_SUCCESS)
		return fake.fail_dequeue;
	if (fake.queued == 0)
		return (DAT_RETURN)DAT_QUEUE_EMPTY; /* without the class bit, as a CQ's is */
	*event = fake_pop();
	return DAT_SUCCESS;
}

DAT_RETURN
dat_evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
	(void)evd;
	fake_queue(event);
	return DAT_SUCCESS;
}

DAT_RETURN
dat_evd_free(DAT_EVD_HANDLE evd)
{
	(void)evd;
	fake.evds--;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
    DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_LMR_HANDLE *lmr,
    DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
    DAT_VADDR *registered_address)
{
	(void)ia, (void)type, (void)region, (void)pz, (void)privileges, (void)va_type;
	*lmr = FAKE_HANDLE;
	*lmr_context = 17;
	*rmr_context = 18;
	*registered_length = length;
	*registered_address = (DAT_VADDR)(uintptr_t)region.for_va;
	fake.lmrs++;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_lmr_free(DAT_LMR_HANDLE lmr)
{
	(void)lmr;
	fake.lmrs--;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
    DAT_EP_HANDLE *ep)
{
	(void)ia, (void)pz, (void)recv_evd, (void)request_evd, (void)connect_evd, (void)attr;
	*ep = FAKE_HANDLE;
	fake.eps++;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
	(void)ep, (void)mask, (void)param;
	return DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

DAT_RETURN
dat_ep_free(DAT_EP_HANDLE ep)
{
	(void)ep;
	fake.eps--;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual,
    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
	(void)ep, (void)address, (void)qual, (void)timeout, (void)size, (void)data, (void)qos;
	(void)flags;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size, const DAT_PVOID data)
{
	(void)cr, (void)ep, (void)size, (void)data;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS how)
{
	(void)ep;
	fake.disconnects++;
	fake.disconnect_how = how;
	return DAT_SUCCESS;
}

static DAT_RETURN
fake_post(DAT_DTOS kind, const DAT_LMR_TRIPLET *local, DAT_DTO_COOKIE cookie,
    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	struct fake_work *work = &fake.work[fake.works];

	if (fake.fail_post != DAT_SUCCESS)
		return fake.fail_post;
	require(fake.works < FAKE_MAX);
	*work = (struct fake_work){
		.kind = kind,
		.cookie = cookie.as_64,
		.flags = flags,
		.local = *local,
	};
	if (remote)
		work->remote = *remote;
	fake.works++;
	return DAT_SUCCESS;
}

DAT_RETURN
dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	(void)ep, (void)segments;
	return fake_post(DAT_DTO_RECEIVE, local, cookie, NULL, flags);
}

DAT_RETURN
dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	(void)ep, (void)segments;
	return fake_post(DAT_DTO_SEND, local, cookie, NULL, flags);
}

DAT_RETURN
dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	(void)ep, (void)segments;
	return fake_post(DAT_DTO_RDMA_READ, local, cookie, remote, flags);
}

DAT_RETURN
dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	(void)ep, (void)segments;
	return fake_post(DAT_DTO_RDMA_WRITE, local, cookie, remote, flags);
}
