/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "fault.h"
#include "process.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool soft_commands;

/* Of the next call; a later command takes the place of one that was not used. */
static atomic_int calls[SOFT_CALL_COUNT];
static struct soft_rule *_Atomic incidents[SOFT_INCIDENT_COUNT];

/* What lasts for a time. */
struct lasting {
	struct soft_timer end;
	struct soft_rule rule;
};

int
soft_command_take_call(enum soft_call call)
{
	return atomic_load(&calls[call]) ? atomic_exchange(&calls[call], 0) : 0;
}

bool
soft_command_take_incident(enum soft_incident incident, int unfit, struct soft_rule *out)
{
	struct soft_rule *none = NULL, *rule = NULL;
	bool fits;

	if (atomic_load(&incidents[incident]))
		rule = atomic_exchange(&incidents[incident], NULL);
	if (!rule)
		return false;
	*out = *rule;
	fits = !unfit || soft_rule_value(rule, incident) != unfit;
	if (fits || !atomic_compare_exchange_strong(&incidents[incident], &none, rule))
		free(rule);
	return fits;
}

static void
command_end(struct soft_timer *timer)
{
	struct lasting *lasting = soft_container_of(timer, struct lasting, end);

	soft_fault_end(&lasting->rule);
	free(lasting);
}

static bool
command_last(const struct soft_rule *rule)
{
	struct lasting *lasting = malloc(sizeof *lasting);

	if (!lasting)
		return false;
	lasting->rule = *rule;
	soft_timer_init(&lasting->end, command_end);
	soft_timer_start(&lasting->end, soft_now() + rule->lasts);
	return true;
}

/* Those that happen by themselves; the others wait for their next moment. */
static bool
command_occur(const struct soft_rule *rule)
{
	char when[SOFT_RECORD_HEAD];

	snprintf(when, sizeof when, "at=%.9f",
	    (double)(soft_now() - soft_fault_started()) / SOFT_SECOND);
	if (!soft_fault_begin(rule, when))
		return false;
	if (!rule->lasts || command_last(rule))
		return true;
	soft_fault_end(rule);
	return false;
}

static bool
command_wait(const struct soft_rule *rule)
{
	struct soft_rule *copy;

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		if (rule->calls[call])
			calls[call] = rule->error ? rule->error : soft_calls[call].errors[0];
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		if (!rule->incidents[i])
			continue;
		copy = malloc(sizeof *copy);
		if (!copy)
			return false;
		*copy = *rule;
		free(atomic_exchange(&incidents[i], copy));
	}
	return true;
}

/* What has happened cannot be taken back. */
static void
command_refuse(unsigned int i, unsigned int count, char *error, size_t size)
{
	if (count == 1)
		snprintf(error, size, "there is nothing that it could happen to");
	else
		snprintf(error, size,
		    "there is nothing that rule %u of %u could happen to; those before it hold, "
		    "those after it do not",
		    i + 1, count);
}

bool
soft_command(const char *text, char *error, size_t size)
{
	struct soft_rules *rules = malloc(sizeof *rules);
	bool done = rules && soft_rules_read_now(text, rules, error, size);

	if (!rules)
		snprintf(error, size, "no memory");
	for (unsigned int i = 0; done && i < rules->count; i++) {
		done = rules->rules[i].timed ? command_occur(&rules->rules[i]) :
					       command_wait(&rules->rules[i]);
		if (!done)
			command_refuse(i, rules->count, error, size);
	}
	free(rules);
	soft_record->commanded = true;
	return done;
}

void
soft_commands_reset(void)
{
	memset(calls, 0, sizeof calls);
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		soft_runtime_leak(incidents[i]);
		incidents[i] = NULL;
	}
}
