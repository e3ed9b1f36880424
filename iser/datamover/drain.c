/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/drain.h"

static void
drain_take(struct drain *drain, const DAT_EVENT *event)
{
	drain->events++;
	drain->handle(drain->context, event);
}

static void
drain_failed(struct drain *drain, const char *call, DAT_RETURN ret)
{
	if (drain->error == DAT_SUCCESS) {
		drain->error = ret;
		drain->error_call = call;
	}
}

/* The last thing that the upcall does: another thread may go on at once. */
static void
drain_stop(struct drain *drain, const char *call, DAT_RETURN ret)
{
	drain_failed(drain, call, ret);
	if (DAT_GET_TYPE(ret) == DAT_INTERNAL_ERROR)
		atomic_store(&drain->stuck, true);
}

void
drain_by_hand(struct drain *drain, DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	while (atomic_load(&drain->stuck) && dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		drain_take(drain, &event);
}

DAT_UPCALL_OBJECT
drain_object(struct drain *drain)
{
	return (DAT_UPCALL_OBJECT){ .instance_data = drain, .upcall_func = drain_upcall };
}

/*
 * One upcall may stand for a thousand events: take them all, then sleep again.
 *
 *	DISABLE       no further upcall starts; what arrives from here on stays queued
 *	take          the event handed over was dequeued before the call: it is ours, and
 *	              its memory is the dispatcher's, valid until we return
 *	dequeue       until the queue is empty
 *	ENABLE        with INVOC_NEW: only if the queue is still empty
 *
 * Between the last dequeue and ENABLE an event may arrive.  No upcall would be made for it
 * (it is not "new" to an enabled EVD), so the provider arms, polls, and refuses with
 * DAT_INVALID_STATE: the policy is still DISABLE and the upcall may dequeue.  A program that
 * treats this refusal as an error, or enables with INVOC_ANY, loses the event -- and with it,
 * now and then, the whole connection.
 *
 * A queue that fills as fast as it is drained would keep this thread from all other EVDs.
 * After DRAIN_BUDGET events the upcall enables with INVOC_ANY instead: what is queued makes a
 * new upcall at once, but the others have their turn first.
 */
void
drain_upcall(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct drain *drain = instance_data;
	DAT_EVD_HANDLE evd = event->evd_handle;
	uint64_t before = drain->events;
	DAT_UPCALL_FLAG flag;
	DAT_EVENT next;
	DAT_RETURN ret;

	(void)more_events; /* a hint; a dequeue is certain */
	drain->upcalls++;

	ret = dat_evd_modify_upcall(evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	if (ret != DAT_SUCCESS)
		drain_failed(drain, "dat_evd_modify_upcall", ret);

	drain_take(drain, event);
	for (;;) {
		flag = DAT_UPCALL_INVOC_NEW;
		while ((ret = dat_evd_dequeue(evd, &next)) == DAT_SUCCESS) {
			drain_take(drain, &next);
			if (drain->events - before >= DRAIN_BUDGET) {
				flag = DAT_UPCALL_INVOC_ANY;
				break;
			}
		}
		if (drain->events - before > drain->largest)
			drain->largest = drain->events - before;
		if (ret != DAT_SUCCESS && DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY) {
			drain_stop(drain, "dat_evd_dequeue", ret);
			return; /* overflowed, or the device is gone */
		}

		ret = dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, flag);
		if (DAT_GET_TYPE(ret) != DAT_INVALID_STATE || flag == DAT_UPCALL_INVOC_ANY)
			break;
		drain->refusals++;
	}
	/*
	 * Enabled again.  SINGLE_INSTANCE keeps the next upcall away until this one returned;
	 * under MANY it could be running already, and *drain would need a lock.
	 */
	if (ret != DAT_SUCCESS)
		drain_stop(drain, "dat_evd_modify_upcall", ret);
}
