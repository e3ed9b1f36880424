/* SPDX-License-Identifier: BSD-3-Clause */
#include "rnic_mw.h"

#include <errno.h>
#include <string.h>

#include "context.h"
#include "world.h"

#define WINDOWS 12
#define OBJECT_MW OBJECT_DEVICE(29)

/* A key is the number of the window, from 1, and 8 bits that the provider counts. */
static struct window {
	struct ibv_mw ibv;
	bool open;
	const struct ibv_qp *qp; /* that it is bound on */
	uint32_t key;		 /* of that bind */
} windows[WINDOWS];
static unsigned int n_windows;

static const struct os_site here = { "a memory window", 0 };

struct ibv_mw *
rnic_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct window *w;

	sched_point(OP_DEVICE, OBJECT_MW, &here);
	if (world_fails(FAULT_VERBS, &here)) {
		errno = ENOMEM;
		return NULL;
	}
	if (n_windows == WINDOWS)
		violation("the scenario makes too many windows");
	w = &windows[n_windows++];
	*w = (struct window){ .open = true };
	w->ibv = (struct ibv_mw){
		.context = pd->context, .pd = pd, .rkey = n_windows << 8, .type = type
	};
	sched_touch(OP_DEVICE, OBJECT_MW);
	return &w->ibv;
}

int
rnic_mw_dealloc(struct ibv_mw *mw)
{
	struct window *w = (struct window *)mw;

	sched_point(OP_DEVICE, OBJECT_MW, &here);
	if (!w->open)
		violation("a window is deallocated twice");
	if (rnic_has_request((uint32_t)(w - windows) + 1))
		violation("a window is deallocated, and a request on it is outstanding");
	w->open = false;
	sched_touch(OP_DEVICE, OBJECT_MW);
	return 0;
}

void
rnic_mw_execute(const struct ibv_qp *qp, bool bind, uint32_t key)
{
	struct window *w = &windows[(key >> 8) - 1];

	if (key >> 8 == 0 || key >> 8 > n_windows || !w->open)
		violation("a request names no window");
	if (bind && w->qp)
		violation("a window that is bound is bound again");
	if (!bind && (w->qp != qp || w->key != key))
		violation("a window is invalidated that is not bound there with this key");
	w->qp = bind ? qp : NULL;
	w->key = key;
	sched_touch(OP_DEVICE, OBJECT_MW);
}

void
rnic_mw_check_left(const struct ibv_qp *qp)
{
	for (unsigned int i = 0; i < n_windows; i++)
		if (windows[i].open && windows[i].qp == qp)
			violation("a queue pair is destroyed, and a window is bound on it");
}

void
rnic_mw_check_end(void)
{
	for (unsigned int i = 0; i < n_windows; i++)
		if (windows[i].open)
			violation("a window is not deallocated");
}

void
rnic_mw_reset(void)
{
	n_windows = 0;
}
