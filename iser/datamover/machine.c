/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/machine.h"

int
machine_next(const struct machine *m, unsigned int state, unsigned int event)
{
	if (state >= m->states || event >= m->events)
		return MACHINE_NEVER;
	return m->next[state * m->events + event];
}

const char *
machine_state(const struct machine *m, unsigned int state)
{
	return state < m->states ? m->state_names[state] : "no such state";
}

const char *
machine_event(const struct machine *m, unsigned int event)
{
	return event < m->events ? m->event_names[event] : "no such event";
}
