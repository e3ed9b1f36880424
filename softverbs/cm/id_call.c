/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that end and change an id, and the one that takes away its channel. */
#include "cm.h"
#include "address.h"
#include "deliver.h"
#include "event.h"
#include "id.h"
#include "service.h"
#include "shared.h"
#include "timewait.h"
#include "wait.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/runtime.h"

/* Ends all that the id does.  No event of it is queued any more. */
static void
id_end(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK
{
	soft_service_detach(id);
	soft_event_purge(id);
	soft_cm_disconnect(id);
	soft_event_purge(id);
	soft_wait_stop(id);
	soft_timewait_stop(id);
}

/*
 * As the kernel does when the descriptor is closed, it ends the ids of the channel.  They stay in
 * memory, because their program still has them.
 */
void
soft_rdma_destroy_event_channel(struct rdma_event_channel *channel) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id;

	soft_cm_lock();
	while ((id = soft_id_find_user(channel))) {
		id_end(id);
		soft_id_forget(id);
		id->public.channel = NULL;
	}
	soft_cm_unlock();
	soft_event_channel_free(soft_event_channel_of(channel));
}

int
soft_rdma_destroy_id(struct rdma_cm_id *public) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	struct rdma_event_channel *own = id->sync ? public->channel : NULL;
	const bool attached = id->attached;

	if (id->generation != soft_runtime_generation())
		return 0; /* the parent's */
	if (soft_id_refuses(id))
		return -1;
	if (public->event) {
		rdma_ack_cm_event(public->event);
		public->event = NULL;
	}
	soft_cm_lock();
	soft_service_detach(id);
	soft_event_purge(id);
	soft_cm_disconnect(id);
	soft_event_wait_acknowledged(id, "rdma_destroy_id()");
	soft_event_purge(id);
	soft_wait_stop(id);
	soft_timewait_stop(id);
	soft_id_free(id);
	soft_cm_unlock();
	if (own)
		soft_rdma_destroy_event_channel(own);
	if (attached)
		soft_cm_device_put();
	return 0;
}

int
soft_rdma_migrate_id(struct rdma_cm_id *public, struct rdma_event_channel *channel) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct rdma_event_channel *from = public->channel, *own = NULL;
	struct soft_id *id = soft_id_of(public);

	if (soft_id_refuses(id) || (channel && soft_event_channel_refuses(channel)))
		return -1;
	if (!channel) {
		if (id->sync)
			return soft_cm_result(EINVAL);
		own = channel = soft_rdma_create_event_channel();
		if (!own)
			return -1;
	}
	if (public->event) {
		rdma_ack_cm_event(public->event);
		public->event = NULL;
	}
	soft_cm_lock();
	soft_event_move(id, channel);
	/* Events that were read from the old channel may still be in use. */
	soft_event_wait_acknowledged(id, "rdma_migrate_id()");
	soft_cm_unlock();
	if (id->sync)
		soft_rdma_destroy_event_channel(from);
	id->sync = own != NULL;
	return 0;
}

__be16
rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(soft_address_port(rdma_get_local_addr(id)));
}

__be16
rdma_get_dst_port(struct rdma_cm_id *id)
{
	return htons(soft_address_port(rdma_get_peer_addr(id)));
}
