/* SPDX-License-Identifier: BSD-3-Clause */
/* close -- the part of closing an adapter that concerns its EVDs */
#include "evd/frame.h"
#include "evd/sink.h"

void
evd_set_closing(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	evd->closing = true;
	evd_set_bare(evd);
	park_wake(evd->waiter);
	evd_unlock(evd);
}

/*
 * An upcall in progress prevents the reuse of its slot.  No frame becomes exempt in between,
 * because only its own thread does that.
 */
static void
evd_mark_frames(bool closing)
{
	const int one = closing ? 1 : -1;

	for (struct upcall_frame *frame = os_self()->upcall; frame; frame = frame->outer) {
		struct evd *evd = frame->evd;

		evd_lock(evd);
		evd->closers += one;
		if (!frame->exempt)
			evd->exempt += one;
		park_list_wake_all(&evd->teardowns);
		evd_unlock(evd);
	}
}

void
evd_enter_close(void)
{
	evd_mark_frames(true);
}

void
evd_leave_close(void)
{
	evd_mark_frames(false);
}

bool
evd_is_left_to_closers(struct evd_ref ref)
{
	struct evd *evd = ref.evd;
	bool is_left;

	evd_lock(evd);
	is_left = evd->serial == ref.serial && !evd->alive && evd_only_closers(evd);
	evd_unlock(evd);
	return is_left;
}

/*
 * An EVD that is alive here is about to be freed by another thread; upcalls may start until then.
 */
static bool
evd_has_no_others(void *arg) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = arg;

	return !evd->alive && evd->in_progress <= evd_closers(evd);
}

bool
evd_await_others(struct evd_ref ref)
{
	struct evd *evd = ref.evd;

	evd_lock(evd);
	if (evd->serial != ref.serial || evd_has_no_others(evd)) {
		/*
		 * The upcalls that run are on threads that close an adapter now, but those closes
		 * may end.
		 */
		const bool running = evd->serial == ref.serial && evd->in_progress > 0;

		evd_unlock(evd);
		return running;
	}
	evd->tearing++; /* prevents the destruction: this may be the last thread that leaves */
	park_list_await(&evd->teardowns, &evd->lock, evd_has_no_others, evd);
	evd->tearing--;
	evd_leave(evd);
	return true;
}
