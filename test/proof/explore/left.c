/* SPDX-License-Identifier: BSD-3-Clause */
#include "left.h"

#include <string.h>

#include "peek.h"

static struct left_evd evds[FIBERS];
static struct left_cno cnos[FIBERS];

static size_t
self(void)
{
	return (size_t)(sched.self - sched.fibers);
}

void
left_reset(void)
{
	memset(evds, 0, sizeof evds);
	memset(cnos, 0, sizeof cnos);
}

void
left_section(const struct evd *evd)
{
	struct left_evd *left = &evds[self()];

	*left = (struct left_evd){ .alive = evd->alive };
	if (!evd->alive)
		return;
	left->queued = peek_queued(evd);
	left->signalled = peek_signalled(evd);
	left->posted = peek_posts(evd);
	left->room = peek_room(evd);
	left->stored = left->queued + peek_closed(evd);
	left->qlen = (unsigned int)evd->cfg.qlen;
	left->listened = evd->listener != NULL;
	left->busy = peek_busy(evd);
	left->waiting = evd->waiting;
	left->waitable = evd->waitable;
	left->made_unwaitable = evd->made_unwaitable;
	left->closing = evd->closing;
	left->overflowed = evd->overflowed;
	left->enabled = evd->enabled;
	left->solicited_only = evd->solicited_only;
	left->policy = evd->policy;
}

void
left_section_cno(const struct cno *cno)
{
	cnos[self()] = (struct left_cno){
		.alive = cno->alive,
		.closing = cno->closing,
		.triggered = cno->first != NULL,
		.last_detached = cno->last_detached,
		.last_detaches = cno->last_detaches > 0,
		.evds = (int)cno->evds,
		.waiters = (int)cno->n_waiters,
	};
}

const struct left_evd *
left_evd(void)
{
	return &evds[self()];
}

const struct left_cno *
left_cno(void)
{
	return &cnos[self()];
}
