/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"
#include "announce.h"
#include "command.h"
#include "errors.h"
#include "fired.h"
#include "process.h"
#include "rule.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/complaint.h"
#include "softverbs/device/context.h"
#include "softverbs/device/number.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often it is seen whether a process is there. */
#define PEER_PERIOD SOFT_MILLISECOND

bool soft_faults, soft_faults_have_incidents;

static struct soft_rules rules;
static bool someone_reads;
static char wrong[300]; /* why the device cannot be opened */
static atomic_bool wrong_is_said;
static uint64_t seed = 1;

/* How often the call has met the other conditions of the rule. */
static atomic_uint met[SOFT_RULES_MAX][SOFT_CALL_COUNT];

/* Of calls that ask for something: with which of these it has fired last. */
static atomic_uint met_fired[SOFT_RULES_MAX][SOFT_CALL_COUNT];

/* The same for incidents, and how often each could have happened. */
static atomic_uint met_incidents[SOFT_RULES_MAX][SOFT_INCIDENT_COUNT];
static atomic_uint moments[SOFT_INCIDENT_COUNT];

static atomic_uint made[SOFT_OBJECTS];

/* A rule has fired at the call that this thread makes. */
static _Thread_local bool call_fired;

static soft_fault_actor *actor;

/* When the incidents of a rule begin, and when they end; and whether they have begun. */
static struct occurrence {
	struct soft_timer begin, end;
	atomic_bool on;
} occurrences[SOFT_RULES_MAX];

/* Of what happens at a time.  Whether it is for this process is seen then. */
static void
fault_start_timers(void)
{
	for (unsigned int i = 0; i < rules.count; i++)
		if (rules.rules[i].timed)
			soft_timer_start(
			    &occurrences[i].begin, soft_fault_started() + rules.rules[i].at);
}

static void fault_begin_timer(struct soft_timer *timer);
static void fault_end_timer(struct soft_timer *timer);

static void
fault_init_occurrences(void)
{
	for (unsigned int i = 0; i < SOFT_RULES_MAX; i++) {
		soft_timer_init(&occurrences[i].begin, fault_begin_timer);
		soft_timer_init(&occurrences[i].end, fault_end_timer);
		occurrences[i].on = false;
	}
}

void
soft_faults_reset(void)
{
	memset(met, 0, sizeof met);
	memset(met_fired, 0, sizeof met_fired);
	memset(met_incidents, 0, sizeof met_incidents);
	memset(moments, 0, sizeof moments);
	memset(made, 0, sizeof made);
	fault_init_occurrences();
	soft_commands_reset();
	soft_fault_process_reset();
}

/* ---- the decision ---- */

/* The finalizer of splitmix64: every bit of the input changes every bit of the result. */
static uint64_t
fault_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* The n-th answer is a function of the seed, the process, the rule and the call. */
static bool
fault_chooses(const struct soft_rule *rule, unsigned int what, unsigned int n)
{
	const uint64_t which =
	    (uint64_t)soft_fault_number() << 32 | (uint64_t)(rule - rules.rules) << 16 | what;
	const uint64_t random = fault_mix(fault_mix(fault_mix(seed) ^ which) ^ n);

	return (double)(random >> 11) < rule->chance * (double)(1ull << 53);
}

static bool
fault_meets(const struct soft_rule *rule, const struct ibv_context *context)
{
	if (!soft_fault_is_here(rule))
		return false;
	if (*rule->device && (!context || strcmp(rule->device, context->device->name) != 0))
		return false;
	return !rule->from || soft_now() - soft_fault_started() >= rule->from;
}

/* The rule has been met `n` times by the call or incident. */
static bool
fault_fires(const struct soft_rule *rule, unsigned int what, unsigned int n)
{
	switch (rule->when) {
	case SOFT_NTH:
		return n == rule->n;
	case SOFT_EACH:
		return n % rule->n == 0;
	case SOFT_BY_CHANCE:
		return fault_chooses(rule, what, n);
	}
	return false;
}

/* ---- incidents ---- */

bool
soft_fault_happens(enum soft_incident incident, const struct ibv_context *context, int unfit,
    struct soft_rule *out)
{
	const struct soft_rule *first = NULL, *rule;
	const unsigned int n = ++moments[incident];
	char parts[SOFT_RECORD_TAIL];
	int value;

	(void)soft_fault_process();
	for (unsigned int i = 0; i < rules.count; i++) {
		rule = &rules.rules[i];
		if (!rule->incidents[incident] || !fault_meets(rule, context))
			continue;
		if (fault_fires(rule, SOFT_CALL_COUNT + incident, ++met_incidents[i][incident]) &&
		    !first)
			first = rule;
	}
	if (first)
		*out = *first;
	else if (!soft_commands || !soft_command_take_incident(incident, unfit, out))
		return false;
	value = soft_rule_value(out, incident);
	if (value && value == unfit)
		return false;
	soft_record->happened++;
	(void)soft_fired(soft_fired_parts(incident, out, value, parts), "%s:nth=%u",
	    soft_incidents[incident].name, n);
	return true;
}

int
soft_fault_value(enum soft_incident incident, const struct ibv_context *context, int unfit)
{
	struct soft_rule rule;

	return soft_fault_happens(incident, context, unfit, &rule) ?
		   soft_rule_value(&rule, incident) :
		   0;
}

static bool
fault_begin_one(enum soft_incident incident, const struct soft_rule *rule, const char *when)
{
	char parts[SOFT_RECORD_TAIL];
	unsigned int which;

	which = soft_fired(soft_fired_parts(incident, rule, 0, parts), "%s:%s",
	    soft_incidents[incident].name, when);
	soft_record->happened++;
	if (actor(incident, rule, true))
		return true;
	soft_record->happened--;
	soft_fired_undo(which);
	return false;
}

bool
soft_fault_begin(const struct soft_rule *rule, const char *when)
{
	bool some = false;

	for (enum soft_incident i = 0; actor && i < SOFT_INCIDENT_COUNT; i++)
		if (rule->incidents[i])
			some |= fault_begin_one(i, rule, when);
	return some;
}

void
soft_fault_end(const struct soft_rule *rule)
{
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++)
		if (rule->incidents[i])
			(void)actor(i, rule, false);
}

/* The incidents of the rule begin, or go on for longer. */
static void
fault_occur(const struct soft_rule *rule, enum soft_call call, unsigned int n)
{
	struct occurrence *occurrence = &occurrences[rule - rules.rules];
	char when[SOFT_RECORD_HEAD];

	if (rule->timed)
		snprintf(when, sizeof when, "at=%.9f", (double)rule->at / SOFT_SECOND);
	else
		snprintf(when, sizeof when, "call=%s:nth=%u", soft_call_name(call), n);
	/* One that lasts goes on for longer. */
	if (!occurrence->on)
		(void)soft_fault_begin(rule, when);
	if (!rule->lasts)
		return;
	occurrence->on = true;
	soft_timer_start(&occurrence->end, soft_now() + rule->lasts);
}

static void
fault_begin_timer(struct soft_timer *timer)
{
	struct occurrence *at = soft_container_of(timer, struct occurrence, begin);
	const struct soft_rule *rule = &rules.rules[at - occurrences];

	if (!soft_fault_is_here(rule))
		return;
	/* A cut from a process that is not there begins when it is. */
	if (soft_rule_has_peer(rule) && !soft_fault_peer(rule))
		soft_timer_start(&at->begin, soft_now() + PEER_PERIOD);
	else
		fault_occur(rule, SOFT_CALL_COUNT, 0);
}

static void
fault_end_timer(struct soft_timer *timer)
{
	struct occurrence *at = soft_container_of(timer, struct occurrence, end);
	const struct soft_rule *rule = &rules.rules[at - occurrences];

	at->on = false;
	soft_fault_end(rule);
}

/* ---- calls ---- */

/*
 * A call that gets nothing is taken back from the count, also while another thread is in one that
 * was counted after it: a number may be given twice, and fires once.
 */
static bool
fault_fires_first(unsigned int rule, enum soft_call call, unsigned int n)
{
	unsigned int last = met_fired[rule][call];

	do {
		if (soft_call_gets(call) && n <= last)
			return false;
	} while (!atomic_compare_exchange_weak(&met_fired[rule][call], &last, n));
	return true;
}

/* Every rule counts the call; the first one that fires decides.  Incidents that it brings about
 * happen before it. */
static int
fault_decide(enum soft_call call, const struct ibv_context *context, unsigned int count)
{
	const struct soft_rule *first = NULL, *rule;
	unsigned int n;

	for (unsigned int i = 0; i < rules.count; i++) {
		rule = &rules.rules[i];
		if (!rule->calls[call] || !fault_meets(rule, context))
			continue;
		n = ++met[i][call];
		if (!fault_fires(rule, call, n) || !fault_fires_first(i, call, n))
			continue;
		call_fired = true;
		if (rule->of_incidents)
			fault_occur(rule, call, count);
		else if (!first)
			first = rule;
	}
	if (!first)
		return soft_commands ? soft_command_take_call(call) : 0;
	return first->error ? first->error : soft_calls[call].errors[0];
}

/* The device of the call; of one that has none yet, all devices. */
static bool
fault_is_removed(const struct ibv_context *context)
{
	if (context)
		return soft_context_is_removed(
		    soft_container_of(context, const struct soft_context, verbs.context));
	for (unsigned int i = 0; i < soft_topology()->count; i++)
		if (!soft_device_is_away(i))
			return false;
	return true;
}

/* Commands reach a process from its first call on, also one that waits for a device to arrive. */
static void
fault_listen(void) SOFT_NO_RUNTIME_LOCK
{
	soft_runtime_keep();
	(void)soft_runtime_start(); /* opening the device fails again, with the reason */
}

int
soft_fault_enter(enum soft_call call, const struct ibv_context *context)
{
	char tail[SOFT_RECORD_TAIL];
	unsigned int n;
	int error;

	if (__builtin_expect(soft_commands && !soft_fault_begun(), false))
		fault_listen();
	call_fired = false;
	n = ++soft_fault_process()->calls[call];
	error = fault_decide(call, context, n);
	if (error) {
		snprintf(tail, sizeof tail, ":errno=%s", soft_error_name(error));
		(void)soft_fired(tail, "%s:nth=%u", soft_call_name(call), n);
	} else if (fault_is_removed(context)) {
		error = soft_fault_of_removal(call);
	}
	if (error)
		errno = error;
	return error;
}

/* The call was to get something, and there is nothing; EAGAIN if it is none of polling. */
static bool
fault_got_nothing(enum soft_call call, long result)
{
	switch (call) {
	case SOFT_CALL_ibv_poll_cq:
		return result == 0;
	case SOFT_CALL_ibv_start_poll:
		return result == ENOENT;
	default:
		return result && errno == EAGAIN;
	}
}

void
soft_fault_returned(enum soft_call call, const struct ibv_context *context, long result)
{
	const struct soft_rule *rule;

	if (!soft_call_gets(call))
		return;
	if (soft_fault_succeeded(call, result) && !fault_got_nothing(call, result))
		soft_fault_process()->got[call]++;
	if (call_fired || !fault_got_nothing(call, result))
		return;
	soft_fault_process()->calls[call]--;
	for (unsigned int i = 0; i < rules.count; i++) {
		rule = &rules.rules[i];
		if (rule->calls[call] && fault_meets(rule, context))
			met[i][call]--;
	}
}

void
soft_fault_count(enum soft_object object, int change)
{
	soft_fault_process()->objects[object] += change;
}

/* ---- loading ---- */

void
soft_faults_set_actor(soft_fault_actor *of_device)
{
	actor = of_device;
}

unsigned int
soft_fault_made(enum soft_object object)
{
	return soft_faults_have_incidents ? ++made[object] : 0;
}

int
soft_faults_start(void)
{
	if (soft_faults)
		soft_fault_process()->slot = soft_slot_number();
	return 0;
}

int
soft_faults_open(void)
{
	bool timed = false;

	if (*wrong) {
		if (atomic_exchange(&wrong_is_said, true))
			soft_complain_again(wrong);
		else
			soft_complain("%s", wrong);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < rules.count; i++)
		timed |= rules.rules[i].timed || rules.rules[i].lasts;
	if (!timed && !soft_commands)
		return 0;
	(void)soft_fault_process();
	return soft_runtime_start();
}

static __attribute__((constructor)) void
fault_load(void)
{
	const char *text = secure_getenv("SOFTVERBS_FAULTS");
	char error[256];

	someone_reads = soft_record_open(secure_getenv("SOFTVERBS_FAULTS_RECORD"));
	soft_announce_open(secure_getenv("SOFTVERBS_FAULTS_PROCESSES"));
	soft_announce(0);
	if (!soft_number_read_whole("SOFTVERBS_FAULTS_SEED", &seed)) {
		snprintf(wrong, sizeof wrong, "SOFTVERBS_FAULTS_SEED is not a whole number");
		wrong_is_said = true;
	}
	if (text && !soft_rules_read(text, &rules, error, sizeof error)) {
		snprintf(wrong, sizeof wrong, "SOFTVERBS_FAULTS: %s", error);
		wrong_is_said = false;
		rules.count = 0;
	}
	for (unsigned int i = 0; i < rules.count; i++)
		soft_faults_have_incidents |= rules.rules[i].of_incidents;
	fault_init_occurrences();
	soft_fault_set_beginning(fault_start_timers);
	soft_commands = soft_settings_read_control();
	soft_faults_have_incidents |= soft_commands;
	soft_faults = rules.count || someone_reads || soft_commands;
	if (soft_faults)
		pthread_atfork(soft_fault_process_fork, NULL, soft_faults_reset);
}

/* What has fired, for a process that softverbs-run does not keep. */
static __attribute__((destructor)) void
fault_unload(void)
{
	struct soft_recorded_process *known = soft_fault_begun();
	char *fired = soft_faults && !someone_reads && soft_record_fired(soft_record) ?
			  soft_record_rules(soft_record) :
			  NULL;

	if (known)
		known->ended = true;
	/* Not by soft_complain(): the place that a provider has for it may be gone. */
	if (fired && soft_stderr_is_read())
		fprintf(stderr, "softverbs: faults fired, as with SOFTVERBS_FAULTS=%s\n", fired);
	free(fired);
}
