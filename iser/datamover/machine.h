/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine -- a state machine as data
 *
 * A machine is a table: for every state and every event the next state, or MACHINE_NEVER
 * for what cannot happen.  The code asks the table and acts; nowhere is a state changed
 * otherwise.  A forgotten entry of a table is state 0, so state 0 of each machine is the
 * one in which nothing is going on, and the unit tests walk every pair.
 */
#ifndef ISER_MACHINE_H
#define ISER_MACHINE_H

#define MACHINE_NEVER (-1)

struct machine {
	const char *name;
	unsigned int states;
	unsigned int events;
	const char *const *state_names;
	const char *const *event_names;
	const signed char *next; /* [state * events + event] */
};

/* The next state, or MACHINE_NEVER, also for a state or event the machine does not have. */
int machine_next(const struct machine *m, unsigned int state, unsigned int event);

/* Names for messages, never NULL. */
const char *machine_state(const struct machine *m, unsigned int state);
const char *machine_event(const struct machine *m, unsigned int event);

#endif
