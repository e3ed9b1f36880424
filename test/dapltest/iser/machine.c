/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"

#include "iser/datamover/mover.h"
#include "iser/iscsi/itask.h"

static const struct machine *const machines[] = { &itask_states_machine, &mover_machine };

#define MACHINES ((int)(sizeof machines / sizeof machines[0]))

CASE("iser-machine:tables");

TEST_LOOP(machine__every_pair__leads_to_a_state_or_never, MACHINES)
{
	const struct machine *m = machines[_i];

	for (unsigned int s = 0; s < m->states; s++)
		for (unsigned int e = 0; e < m->events; e++) {
			int next = machine_next(m, s, e);

			ck_assert(next == MACHINE_NEVER || (next >= 0 && next < (int)m->states));
		}
	ck_assert_int_eq(machine_next(m, m->states, 0), MACHINE_NEVER);
	ck_assert_int_eq(machine_next(m, 0, m->events), MACHINE_NEVER);
}

TEST_LOOP(machine__every_state__is_reached_from_the_first_and_has_a_name, MACHINES)
{
	const struct machine *m = machines[_i];
	unsigned int reached = 1, before = 0;

	while (reached != before) {
		before = reached;
		for (unsigned int s = 0; s < m->states; s++)
			for (unsigned int e = 0; e < m->events && reached & 1u << s; e++)
				if (machine_next(m, s, e) != MACHINE_NEVER)
					reached |= 1u << machine_next(m, s, e);
	}
	ck_assert_uint_eq(reached, (1u << m->states) - 1);
	for (unsigned int s = 0; s < m->states; s++)
		ck_assert_ptr_nonnull(machine_state(m, s));
	for (unsigned int e = 0; e < m->events; e++)
		ck_assert_ptr_nonnull(machine_event(m, e));
	ck_assert_str_eq(machine_state(m, m->states), "no such state");
	ck_assert_str_eq(machine_event(m, m->events), "no such event");
}

/* From any state the connection can be ended, and a closed one stays closed. */
TEST(mover_machine__close_and_gone__end_every_state)
{
	for (unsigned int s = MOVER_CONNECTING; s < MOVER_CLOSED; s++) {
		ck_assert_int_eq(machine_next(&mover_machine, s, MOVER_CLOSE), MOVER_CLOSING);
		ck_assert_int_eq(machine_next(&mover_machine, s, MOVER_GONE), MOVER_CLOSED);
	}
	for (unsigned int e = 0; e < MOVER_EVENTS; e++)
		ck_assert(machine_next(&mover_machine, MOVER_CLOSED, e) == MACHINE_NEVER ||
			  machine_next(&mover_machine, MOVER_CLOSED, e) == MOVER_CLOSED);
}
