/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/frame.h"

struct upcall_frame *
evd_frame(const struct evd *evd)
{
	struct upcall_frame *frame = os_self()->upcall;

	while (frame && frame->evd != evd)
		frame = frame->outer;
	return frame;
}

void
evd_frame_exempt(struct evd *evd, struct upcall_frame *frame)
{
	/* The outer upcalls too, because they return only after this one. */
	for (; frame; frame = frame->outer) {
		if (frame->evd != evd || frame->exempt)
			continue;
		frame->exempt = true;
		evd->exempt++;
	}
	park_list_wake_all(&evd->teardowns);
}

/* True if no upcall runs, except those that the caller does not wait for. */
static bool
evd_only_excused(void *arg) REQUIRES(core_locks.trigger)
{
	struct evd *evd = arg;

	return evd->in_progress <= (evd_frame(evd) ? evd->exempt : evd_closers(evd));
}

void
evd_await_upcalls(struct evd *evd)
{
	struct upcall_frame *frame = evd_frame(evd);

	if (frame)
		evd_frame_exempt(evd, frame);
	evd->tearing++;
	park_list_await(&evd->teardowns, &evd->lock, evd_only_excused, evd);
	evd->tearing--;
}

void *
evd_upcall_handle(void)
{
	return os_self()->upcall->evd->cfg.handle;
}
