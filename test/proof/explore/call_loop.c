/* SPDX-License-Identifier: BSD-3-Clause */
/* call_loop -- what an actor does to a loop */
#include "call.h"
#include "world.h"

static const struct os_site here = { "actor", 0 };

void
call_loop(void)
{
	struct loop *loop;
	int r = loop_create(LOOP_POOL, 2, &loop);

	if (r == 0)
		loop_free(loop);
	call_result("loop_create", r, false);
}

struct watched {
	int fd;
	bool gone;
};

static void
watched_readable(void *arg, uint64_t serial)
{
	struct watched *w = arg;

	(void)serial;
	if (w->gone)
		violation("a source is read after it was removed");
	(void)world_event_clear(w->fd, &here);
	sched_point(OP_EVENT, OBJECT_WORLD, &here);
	if (w->gone)
		violation("a source is removed while its handler runs");
}

/* A source that is added and removed. */
void
call_source(void)
{
	struct watched w = { world_event_open(false, &here), false };
	struct loop_ticket ticket;
	int r;

	if (w.fd < 0)
		return;
	r = loop_add(stage.loops[0].loop, w.fd, watched_readable, &w, 0, &ticket);
	if (r == 0) {
		world_event_set(w.fd, &here);
		loop_remove(stage.loops[0].loop, &ticket);
	}
	w.gone = true;
	world_close(w.fd, &here);
	sched_point(OP_EVENT, OBJECT_WORLD, &here);
	call_result("loop_add", r, false);
}

/* An IA that is closed from inside an upcall: the loop outlives the call, and then ends. */
void
call_close_loop(void)
{
	struct stage_loop *l = &stage.loops[0];
	struct loop *loop = l->loop;

	loop_remove(loop, &l->ticket);
	l->loop = NULL;
	loop_free(loop);
}
