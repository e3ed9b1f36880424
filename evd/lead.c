/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/lead.h"

void
lead_open(struct lead *lead)
{
	(void)os_flag_swap(&lead->state, LEAD_FREE);
	loop_watch(lead->loop, lead->ticket, false);
}

void
lead_give_up_now(struct lead *lead)
{
	if (os_flag_swap(&lead->state, LEAD_OVER) != LEAD_OVER)
		loop_watch(lead->loop, lead->ticket, true);
}

bool
lead_begin(struct lead *lead)
{
	if (!lead)
		return false;
	if (os_flag_change(&lead->state, LEAD_FREE, LEAD_TAKEN))
		return true;
	lead_give_up(lead);
	return false;
}

void
lead_end(struct lead *lead)
{
	(void)os_flag_change(&lead->state, LEAD_TAKEN, LEAD_FREE);
}

bool
lead_must_read(struct lead *lead)
{
	return lead && os_flag_get(&lead->state) != LEAD_OVER;
}

static int
lead_read_one(void *arg)
{
	struct lead *lead = arg;
	struct evd_ref ref;
	int r = lead->read(lead->arg, &ref);

	if (r == 1)
		evd_notified_to_report(ref);
	return r;
}

/* A channel that cannot be read may stay readable.  The loop handles that. */
bool
lead_read(struct lead *lead)
{
	if (loop_read_some(&lead->pace, lead_read_one, lead) >= 0)
		return true;
	lead_give_up(lead);
	return false;
}

void
lead_read_all(struct lead *lead)
{
	int n = 0, r;

	do
		r = lead_read_one(lead);
	while (r == 1 && ++n < LOOP_READS);
	if (r < 0)
		lead_give_up(lead);
}
