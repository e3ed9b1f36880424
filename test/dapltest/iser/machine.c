/* SPDX-License-Identifier: BSD-3-Clause */
#include "suites.h"
#include "lib/runner.h"

#include "examples/iser/conn.h"
#include "examples/iser/task.h"

#include <string.h>

static const struct machine *const machines[] = { &itask_machine, &ttask_machine, &conn_machine };

#define MACHINES ((int)(sizeof machines / sizeof machines[0]))

START_TEST(machine__every_pair__leads_to_a_state_or_never)
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
END_TEST

START_TEST(machine__every_state__is_reached_from_the_first_and_has_a_name)
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
END_TEST

/* From any state the connection can be ended, and a closed one stays closed. */
START_TEST(conn_machine__close_and_gone__end_every_state)
{
	for (unsigned int s = CONN_CONNECTING; s < CONN_CLOSED; s++) {
		ck_assert_int_eq(machine_next(&conn_machine, s, CONN_CLOSE), CONN_CLOSING);
		ck_assert_int_eq(machine_next(&conn_machine, s, CONN_GONE), CONN_CLOSED);
	}
	for (unsigned int e = 0; e < CONN_EVENTS; e++)
		ck_assert(machine_next(&conn_machine, CONN_CLOSED, e) == MACHINE_NEVER ||
			  machine_next(&conn_machine, CONN_CLOSED, e) == CONN_CLOSED);
}
END_TEST

START_TEST(itask_machine__response_before_send_completion__frees_only_after_both)
{
	int s = ITASK_FREE;

	s = machine_next(&itask_machine, (unsigned int)s, ITASK_ISSUE);
	s = machine_next(&itask_machine, (unsigned int)s, ITASK_RESPONSE);
	ck_assert_int_eq(s, ITASK_ANSWERED);
	ck_assert_int_eq(
	    machine_next(&itask_machine, (unsigned int)s, ITASK_RESPONSE), MACHINE_NEVER);
	s = machine_next(&itask_machine, (unsigned int)s, ITASK_SEND_DONE);
	ck_assert_int_eq(s, ITASK_FREE);
}
END_TEST

START_TEST(task_stack__taken_to_the_last__gives_each_number_once)
{
	struct task_stack stack;
	unsigned int number, seen = 0;

	ck_assert_int_eq(task_stack_init(&stack, 5), 0);
	for (unsigned int i = 0; i < 5; i++) {
		ck_assert(task_stack_take(&stack, &number));
		ck_assert(!(seen & 1u << number));
		seen |= 1u << number;
	}
	ck_assert_uint_eq(seen, 0x1f);
	number = 77;
	ck_assert(!task_stack_take(&stack, &number));
	ck_assert_uint_eq(number, 77);
	task_stack_put(&stack, 3);
	ck_assert(task_stack_take(&stack, &number));
	ck_assert_uint_eq(number, 3);
	task_stack_fini(&stack);
}
END_TEST

Suite *
iser_machine_suite(void)
{
	Suite *suite = suite_create("iser-machine");
	TCase *tc = runner_tcase(suite, "tables");

	tcase_add_loop_test(tc, machine__every_pair__leads_to_a_state_or_never, 0, MACHINES);
	tcase_add_loop_test(
	    tc, machine__every_state__is_reached_from_the_first_and_has_a_name, 0, MACHINES);
	tcase_add_test(tc, conn_machine__close_and_gone__end_every_state);
	tcase_add_test(tc, itask_machine__response_before_send_completion__frees_only_after_both);
	tcase_add_test(tc, task_stack__taken_to_the_last__gives_each_number_once);
	return suite;
}
