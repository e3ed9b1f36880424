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
