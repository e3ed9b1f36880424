/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that open the device, or create an id, set the tables of compose.h first. */
#include "compose.h"
#include "softverbs/device/cancel.h"
#include "softverbs/cm/event.h"
#include "softverbs/cm/id.h"
#include "softverbs/cm/shared.h"
#include "softverbs/device/device.h"

#include <stdlib.h>

struct ibv_context *
soft_ibv_open_device(struct ibv_device *device)
{
	SOFT_UNCANCELLED;
	const struct soft_device *own = soft_device_find(device);
	struct soft_context *ctx;
	unsigned int index;
	int r;

	if (!own) {
		errno = ENODEV;
		return NULL;
	}
	index = (unsigned int)(own - soft_topology()->devices);
	if (soft_device_is_away(index)) {
		errno = ENODEV;
		return NULL;
	}
	soft_compose();
	ctx = soft_context_create(index, false);
	if (!ctx)
		return NULL;
	r = soft_context_get(ctx);
	if (r) {
		soft_context_free(ctx);
		errno = -r;
		return NULL;
	}
	return &ctx->verbs.context;
}

int
soft_ibv_close_device(struct ibv_context *context)
{
	SOFT_UNCANCELLED;
	struct soft_context *ctx = soft_context_of(context);

	if (!soft_context_is_stale(ctx))
		soft_context_put(ctx);
	return 0;
}

struct ibv_context **
soft_rdma_get_devices(int *num_devices)
{
	SOFT_UNCANCELLED;
	const unsigned int count = soft_topology()->count;
	struct ibv_context **list;
	unsigned int there = 0;

	soft_compose();
	if (num_devices)
		*num_devices = 0;
	if (!soft_cm_device_get())
		return NULL;
	list = calloc(count + 1, sizeof *list);
	if (!list) {
		soft_cm_device_put();
		return NULL;
	}
	for (unsigned int i = 0; i < count; i++)
		if (!soft_device_is_away(i))
			list[there++] = &soft_cm_context_get(i)->verbs.context;
	if (num_devices)
		*num_devices = (int)there;
	return list;
}

void
rdma_free_devices(struct ibv_context **list)
{
	SOFT_UNCANCELLED;

	if (!list)
		return;
	if (!list[0] || !soft_context_is_stale(soft_context_of(list[0]))) {
		for (unsigned int i = 0; list[i]; i++)
			soft_cm_context_put(soft_context_of(list[i]));
		soft_cm_device_put();
	}
	free(list);
}

int
soft_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
    enum rdma_port_space ps) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct rdma_event_channel *own = NULL;
	struct soft_id *id;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB && ps != RDMA_PS_UDP)
		return soft_cm_result(ps == RDMA_PS_IPOIB ? EPROTONOSUPPORT : EINVAL);
	if (soft_topology_is_wrong())
		return soft_cm_result(EINVAL);
	soft_compose();
	if (channel && soft_event_channel_refuses(channel))
		return -1;
	if (!channel) {
		own = soft_rdma_create_event_channel();
		if (!own)
			return -1;
	}
	soft_cm_lock();
	id = soft_id_create(channel ? channel : own, context, ps);
	soft_cm_unlock();
	if (!id) {
		if (own)
			soft_rdma_destroy_event_channel(own);
		return soft_cm_result(ENOMEM);
	}
	id->sync = own != NULL;
	*out = &id->public;
	return 0;
}
