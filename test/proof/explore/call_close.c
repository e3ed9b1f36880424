/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_close -- an adapter of one EVD, or of one CNO, is closed: what dapl/provider/ia_close.c does
 * with each
 */
#include "call.h"

/* What the close is numbered, 0 for one that begins beside another. */
static unsigned int
begin(void)
{
	const unsigned int number = ++stage.closes_begun;
	const bool alone = ++stage.closes == 1;

	evd_enter_close();
	cno_enter_close();
	return alone ? number : 0;
}

/*
 * Whether it waits for all: from inside a callback not for those whose threads are in another
 * close.
 */
static bool
end(unsigned int number)
{
	const bool alone = stage.closes == 1 && stage.closes_begun == number;
	const bool waits = alone || !os_in_callback();

	cno_leave_close();
	evd_leave_close();
	stage.closes--;
	return waits;
}

/* As the close of an adapter does: until the EVD was destroyed, or only exempt upcalls are left. */
static void
await_evd(const struct stage_evd *e, const struct call *c)
{
	bool left = false;

	while (!left && evd_await_others(call_ref(c)))
		left = evd_is_left_to_closers(call_ref(c));
	if (left && !os_in_callback())
		violation("EVD %c is left to its upcalls by a close from none", 'a' + e->index);
	if (!left && call_current(c) && *stage_frames(e))
		violation("EVD %c is not left to the upcall that closes it", 'a' + e->index);
}

static void
await_cno(const struct stage_cno *n, const struct call *c)
{
	bool left = false;

	while (!left && cno_await_others(call_cno_ref(c)))
		left = cno_is_left_to_closer(call_cno_ref(c));
	if (left && !os_in_callback())
		violation(
		    "CNO %c is left to its agent by a close from no callback", 'n' + n->index);
	if (!left && cno_is_inside(&n->cno))
		violation("CNO %c is not left to the agent that closes it", 'n' + n->index);
}

void
call_shut(struct stage_evd *e)
{
	const unsigned int number = begin();
	const struct call c = call_begins(e);
	bool waits;

	evd_set_closing(call_ref(&c));
	(void)evd_free_nowait(call_ref(&c)); /* or another thread frees it */
	await_evd(e, &c);
	call_ends();
	waits = end(number);
	if (!call_current(&c))
		return;
	e->closing = true;
	if (waits && e->running > *stage_frames(e))
		violation("close of EVD %c returned while an upcall runs", 'a' + e->index);
	e->disabled_at = stage_locked_at(e);
}

void
call_cno_shut(struct stage_cno *n)
{
	const bool inside = cno_is_inside(&n->cno);
	const unsigned int number = begin();
	const struct call c = call_begins_cno(n);

	cno_set_closing(call_cno_ref(&c));
	(void)cno_free_nowait(call_cno_ref(&c));
	await_cno(n, &c);
	call_ends();
	if (end(number) && !inside && c.serial == n->serial && n->in_agent)
		violation("close of CNO %c returned while its agent runs", 'n' + n->index);
}

bool
call_gives_way(void)
{
	return stage.closes_begun > 0 && os_in_callback();
}
