/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* Longer traces are of no use; the short form follows. */
#define SPEC_MAX 400

bool report_whole;

static const char *const op_names[OPS] = {
	[OP_LOCK] = "lock",
	[OP_UNLOCK] = "unlock",
	[OP_ALLOC] = "alloc",
	[OP_FREE] = "free",
	[OP_CLOCK] = "read the clock",
	[OP_OPEN] = "open",
	[OP_SET] = "set",
	[OP_CLEAR] = "clear",
	[OP_CLOSE] = "close",
	[OP_POLL] = "poll",
	[OP_EPOLL_CTL] = "epoll_ctl",
	[OP_EPOLL_WAIT] = "epoll_wait",
	[OP_SLEEP] = "sleep",
	[OP_SPAWN] = "start a thread",
	[OP_JOIN] = "join",
	[OP_ATOMIC] = "access",
	[OP_END] = "ends",
};

/* The option that the schedule needs. */
static const char *
mode(void)
{
	return scenario_shipped ? " --shipped-locks" : "";
}

void
report_failure(const struct scenario *scenario, const char *spec, const char *failure)
{
	printf("FAIL  %s: %s\n", scenario->name, failure);
	if (strlen(spec) < SPEC_MAX)
		printf("      replay: explore%s --replay '%s:%s'\n", mode(), scenario->name, spec);
}

void
report_list(const struct scenario *scenario, const struct strategy *list, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, list->settled ? "rest:" : "list:");
	const char *comma = "";

	for (unsigned int i = 0; i < list->n_list && n + 32 < size; i++) {
		const struct deviation *d = &list->list[i];

		if (d->fault)
			n += (size_t)snprintf(
			    text + n, size - n, "%s%u.%u!%u", comma, d->fiber, d->op, d->choice);
		else
			n += (size_t)snprintf(text + n, size - n, "%s%u.%u.%u>%u", comma, d->fiber,
			    d->op, d->pick, d->choice);
		comma = ",";
	}
	for (int i = 0; i < scenario->n_actors; i++)
		for (unsigned int j = 0; j < scenario->actors[i].n_actions && n + 32 < size; j++)
			if (scenario->actors[i].actions[j].dropped) {
				n += (size_t)snprintf(text + n, size - n, "%s-%d.%u", comma, i, j);
				comma = ",";
			}
}

void
report_parse_list(const char *text, struct scenario *scenario, struct strategy *list)
{
	unsigned int fiber, op, pick, choice, actor, action;

	for (; text && *text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
		struct deviation *d = &list->list[list->n_list];

		if (list->n_list == DEVIATIONS)
			return;
		if (sscanf(text, "-%u.%u", &actor, &action) == 2 && actor < ACTORS &&
		    action < ACTIONS)
			scenario->actors[actor].actions[action].dropped = true;
		else if (sscanf(text, "%u.%u.%u>%u", &fiber, &op, &pick, &choice) == 4 &&
			 fiber < FIBERS && choice < FIBERS) {
			*d = (struct deviation){ .fiber = (uint8_t)fiber,
				.op = op,
				.pick = (uint8_t)pick,
				.choice = (uint8_t)choice };
			list->n_list++;
		} else if (sscanf(text, "%u.%u!%u", &fiber, &op, &choice) == 3 && fiber < FIBERS) {
			*d = (struct deviation){ .fiber = (uint8_t)fiber,
				.op = op,
				.fault = true,
				.choice = (uint8_t)choice };
			list->n_list++;
		} else {
			fprintf(stderr, "explore: cannot read '%s' in a list\n", text);
			exit(2);
		}
	}
}

static bool
is_significant(const struct trace_entry *e)
{
	if (report_whole || e->op == OP_NONE)
		return true;
	switch ((enum op)e->op) {
	case OP_ATOMIC: /* the word of a lock */
		return e->object < OBJECT_FD(0);
	case OP_LOCK:
	case OP_SET:
	case OP_CLOSE:
	case OP_POLL:
	case OP_EPOLL_CTL:
	case OP_EPOLL_WAIT:
	case OP_SLEEP:
	case OP_JOIN:
	case OP_END:
		return true;
	default:
		return false;
	}
}

void
report_trace(const struct scenario *scenario, const struct strategy *list)
{
	static char text[16 * DEVIATIONS];
	uint8_t before = 0;
	char name[32];

	printf("      scenario: \"%s\", \"%s\"\n", scenario->setup, scenario->text);
	printf("      threads:");
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++)
		printf(" %u=%s", i, sched.fibers[i].name);
	printf("\n");
	for (unsigned int i = 0; i < n_trace; i++) {
		const struct trace_entry *e = &trace[i];
		const char *fiber = sched.fibers[e->fiber].name;

		if (!is_significant(e))
			continue;
		printf("%c %5u %-9s", e->fiber != before ? '>' : ' ', e->step, fiber);
		before = e->fiber;
		if (e->op == OP_NONE)
			printf("%s\n", e->text);
		else
			printf("  %s %s   [%s:%d]\n", op_names[e->op] ? op_names[e->op] : "point",
			    world_object_name(e->object, name, sizeof name),
			    e->site ? e->site->function : "", e->site ? e->site->line : 0);
	}
	if (sched.outcome == OUTCOME_FAILED)
		printf("      => %s\n", sched.failure);
	if (list) {
		report_list(scenario, list, text, sizeof text);
		printf(
		    "      shortest: explore%s --replay '%s:%s'\n", mode(), scenario->name, text);
	}
}
