/* SPDX-License-Identifier: BSD-3-Clause */
/* close -- the end of an adapter, as its EVDs see it */
#include "evd/trigger.h"

void
evd_set_closing(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	evd->closing = true;
	park_list_wake_all(&evd->waiters);
	os_unlock(&evd->lock);
}

/* Each upcall keeps its EVD: it cannot be another one's by now.  No frame becomes exempt in between. */
static void
evd_mark_frames(bool closing)
{
	const int one = closing ? 1 : -1;

	for (struct upcall_frame *frame = os_self()->upcall; frame; frame = frame->outer) {
		struct evd *evd = frame->evd;

		os_lock(&evd->lock);
		evd->closers += one;
		if (!frame->exempt)
			evd->exempt += one;
		park_list_wake_all(&evd->teardowns);
		os_unlock(&evd->lock);
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
	bool detach;

	os_lock(&evd->lock);
	detach = evd->serial == ref.serial && !evd->alive && evd_only_closers(evd);
	os_unlock(&evd->lock);
	return detach;
}

/* Alive: its free has begun elsewhere, and upcalls may start until that comes here. */
static bool
evd_has_no_others(void *arg)
{
	const struct evd *evd = arg;

	return !evd->alive && evd->in_progress <= evd_closers(evd);
}

bool
evd_await_others(struct evd_ref ref)
{
	struct evd *evd = ref.evd;

	os_lock(&evd->lock);
	if (evd->serial != ref.serial || evd_has_no_others(evd)) {
		/* Those that run close an adapter at this moment, but maybe not at the next. */
		const bool running = evd->serial == ref.serial && evd->in_progress > 0;

		os_unlock(&evd->lock);
		return running;
	}
	evd->tearing++; /* keeps the EVD: the last to leave may be this thread */
	park_list_await(&evd->teardowns, &evd->lock, evd_has_no_others, evd);
	evd->tearing--;
	evd_leave(evd);
	return true;
}
