/* SPDX-License-Identifier: BSD-3-Clause */
#include "occur.h"
#include "deliver.h"
#include "event.h"
#include "hold.h"
#include "id.h"
#include "message.h"
#include "timewait.h"

#include <stdlib.h>

static void
occur_find(struct soft_id *id, void *arg) REQUIRES(soft_locks.cm)
{
	struct soft_id **oldest = arg;

	if (id->state == SOFT_ID_CONNECTED && id->made && (!*oldest || id->made < (*oldest)->made))
		*oldest = id;
}

struct wanted {
	unsigned int of;
	struct soft_id *id;
};

static void
occur_find_one(struct soft_id *id, void *arg) REQUIRES(soft_locks.cm)
{
	struct wanted *wanted = arg;

	if (id->state == SOFT_ID_CONNECTED && id->made == wanted->of)
		wanted->id = id;
}

/* A connection: the one that is named, or the oldest; NULL if there is none. */
static struct soft_id *
occur_connection(unsigned int of) REQUIRES(soft_locks.cm)
{
	struct wanted wanted = { of, NULL };

	if (of)
		soft_id_each(occur_find_one, &wanted);
	else
		soft_id_each(occur_find, &wanted.id);
	return wanted.id && !soft_id_is_orphan(wanted.id) ? wanted.id : NULL;
}

bool
soft_cm_occur_unreachable(unsigned int of)
{
	struct soft_event *event = soft_event_create();
	struct soft_id *id;

	soft_cm_lock();
	id = event ? occur_connection(of) : NULL;
	if (id)
		soft_event_post(id, event, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	soft_cm_unlock();
	if (!id)
		free(event);
	return id;
}

bool
soft_cm_occur_disconnected(unsigned int of)
{
	struct soft_id *id;

	soft_cm_lock();
	id = occur_connection(of);
	if (id)
		soft_cm_drop(id);
	soft_cm_unlock();
	return id;
}

/* Before the first of them ends: a request of this process ends with the id that has made it. */
static void
occur_note(struct soft_id *id, void *unused) REQUIRES(soft_locks.cm)
{
	(void)unused;
	id->asked = id->state == SOFT_ID_REQUESTED;
}

/*
 * The program does not know the id of a request that it has not answered as one of the device: it
 * is refused.  A listener hears no more requests.
 */
static void
occur_remove(struct soft_id *id, void *arg) REQUIRES(soft_locks.cm)
{
	const soft_ports *ports = arg;
	const bool listens = id->state == SOFT_ID_LISTENING;
	struct soft_event *event;

	if (!id->public.verbs || soft_id_is_orphan(id) || !soft_ports_have(*ports, id->port) ||
	    !soft_context_ends(soft_context_of(id->public.verbs)))
		return;
	if (!listens)
		soft_cm_disconnect(id);
	soft_timewait_stop(id);
	event = id->asked ? NULL : soft_event_create();
	if (event)
		soft_event_post(id, event, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
}

void
soft_cm_occur_removal(soft_ports ports)
{
	soft_cm_lock();
	soft_id_each(occur_note, NULL);
	soft_id_each(occur_remove, &ports);
	soft_cm_unlock();
}

void
soft_cm_release(void)
{
	struct soft_held held;

	soft_cm_lock();
	/* Some may be held again. */
	for (unsigned int i = soft_hold_count(); i; i--) {
		soft_hold_take(&held);
		if (!held.input)
			(void)soft_cm_carry_again(held.slot, held.incoming, &held.message);
		else if (!soft_hold_input(&held.message))
			soft_cm_deliver(&held.message);
	}
	soft_cm_unlock();
}
