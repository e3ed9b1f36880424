/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"
#include "remote_requester.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/runtime.h"
#include "softverbs/wire/input.h"

#include <stdlib.h>

struct held {
	STAILQ_ENTRY(held) next;
	struct soft_link *link; /* a reference */
	struct soft_frame frame;
	char payload[];
};

static STAILQ_HEAD(helds, held) list GUARDED_BY(soft_locks.input) = STAILQ_HEAD_INITIALIZER(list);

bool
soft_held_response(struct soft_link *link, const struct soft_frame *frame, const char *payload)
{
	struct held *held;

	if (!soft_is_cut(SOFT_TROUBLE_IN, link->slot))
		return soft_remote_requester_response(link, frame, payload);
	held = malloc(sizeof *held + frame->length);
	if (!held) {
		soft_link_stop(link);
		return true;
	}
	soft_link_get(link);
	held->link = link;
	held->frame = *frame;
	soft_wire_copy(held->payload, payload, frame->length);
	STAILQ_INSERT_TAIL(&list, held, next);
	return true;
}

void
soft_held_release(void)
{
	struct helds all = STAILQ_HEAD_INITIALIZER(all);
	struct held *held;

	soft_input_lock();
	STAILQ_CONCAT(&all, &list);
	while ((held = STAILQ_FIRST(&all))) {
		STAILQ_REMOVE_HEAD(&all, next);
		/* Some may be held again. */
		if (!soft_held_response(held->link, &held->frame, held->payload))
			soft_link_stop(held->link);
		soft_link_put(held->link);
		free(held);
	}
	soft_input_unlock();
}

void
soft_held_reset(void) UNCHECKED
{
	soft_runtime_leak(STAILQ_FIRST(&list));
	STAILQ_INIT(&list);
}
