/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"
#include "announce.h"
#include "errors.h"
#include "rule.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/complaint.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/timer.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool soft_faults, soft_faults_have_incidents;

static struct soft_rules rules;
static bool rules_are_wrong, someone_reads;
static uint64_t seed = 1;

/* How often the call has met the other conditions of the rule. */
static atomic_uint met[SOFT_RULES_MAX][SOFT_CALL_COUNT];

/* The same for incidents, and how often each could have happened. */
static atomic_uint met_incidents[SOFT_RULES_MAX][SOFT_INCIDENT_COUNT];
static atomic_uint moments[SOFT_INCIDENT_COUNT];

static atomic_uint made[SOFT_OBJECTS];

static soft_fault_actor *actor;

/* When the incidents of a rule begin, and when they end; and whether they have begun. */
static struct occurrence {
	struct soft_timer begin, end;
	atomic_bool on;
} occurrences[SOFT_RULES_MAX];

/* This process of the run; `process` becomes NULL in a forked child. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static struct soft_recorded_process *_Atomic process, unrecorded;
static unsigned int number;
static uint64_t started;

/* ---- the process ---- */

/* One of an earlier number may be about to write its name; it may also have been killed before. */
static void
fault_await_name(const struct soft_recorded_process *other)
{
	for (unsigned int i = 0; i < 1000 && !other->named; i++)
		sched_yield();
}

/*
 * The name does not depend on which of two processes makes its first call earlier, unless both have
 * the same command.
 */
static void
fault_name(struct soft_recorded_process *own)
{
	const size_t room = sizeof own->name - sizeof "-000000.0000000000";
	uint32_t digest = 2166136261u; /* FNV-1a */
	unsigned int twin = 1;
	size_t length = 0;
	char line[4096];
	ssize_t size;
	int fd;

	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, line, sizeof line);
	if (fd >= 0)
		soft_close(fd);
	for (ssize_t i = 0; i < size; i++)
		digest = (digest ^ (unsigned char)line[i]) * 16777619u;
	for (const char *c = program_invocation_short_name; *c && length < room; c++, length++)
		own->name[length] = (char)(isalnum((unsigned char)*c) ? *c : '_');
	if (!length || isdigit((unsigned char)own->name[0]))
		own->name[length ? 0 : length++] = '_';
	length += (size_t)snprintf(own->name + length, sizeof own->name - length, "-%06x",
	    (digest ^ digest >> 24) & 0xffffff);
	for (struct soft_recorded_process *other = soft_record->process; other < own; other++) {
		fault_await_name(other);
		if (!strncmp(other->name, own->name, length) &&
		    (!other->name[length] || other->name[length] == '.'))
			twin++;
	}
	if (twin > 1)
		snprintf(own->name + length, sizeof own->name - length, ".%u", twin);
	own->named = true;
}

/* Whether the rule is one for this process. */
static bool
fault_is_here(const struct soft_rule *rule, const struct soft_recorded_process *own)
{
	return (!rule->process || rule->process == number) &&
	       (!*rule->name || !strcmp(rule->name, own->name));
}

/* Of what happens at a time.  Whether it is for this process is seen then. */
static void
fault_start_timers(void)
{
	for (unsigned int i = 0; i < rules.count; i++)
		if (rules.rules[i].timed)
			soft_timer_start(&occurrences[i].begin, started + rules.rules[i].at);
}

/* Its number is the order of the first calls. */
static struct soft_recorded_process *
fault_begin_process(void)
{
	SOFT_UNCANCELLED;
	struct soft_recorded_process *known;

	pthread_mutex_lock(&starting);
	known = process;
	if (!known) {
		number = ++soft_record->processes;
		started = soft_now();
		known = number <= SOFT_RECORD_PROCESSES ? &soft_record->process[number - 1] :
							  &unrecorded;
		if (known != &unrecorded)
			fault_name(known);
		fault_start_timers();
		soft_announce(number);
		process = known;
	}
	pthread_mutex_unlock(&starting);
	return known;
}

static struct soft_recorded_process *
fault_process(void)
{
	struct soft_recorded_process *known = process;

	return known ? known : fault_begin_process();
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
	pthread_mutex_init(&starting, NULL);
	process = NULL;
	memset(&unrecorded, 0, sizeof unrecorded);
	memset(met, 0, sizeof met);
	memset(met_incidents, 0, sizeof met_incidents);
	memset(moments, 0, sizeof moments);
	memset(made, 0, sizeof made);
	fault_init_occurrences();
	soft_announce(0);
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
	const uint64_t which = (uint64_t)number << 32 | (uint64_t)(rule - rules.rules) << 16 | what;
	const uint64_t random = fault_mix(fault_mix(fault_mix(seed) ^ which) ^ n);

	return (double)(random >> 11) < rule->chance * (double)(1ull << 53);
}

static bool
fault_meets(const struct soft_rule *rule, const struct ibv_context *context)
{
	if (!fault_is_here(rule, fault_process()))
		return false;
	if (*rule->device && (!context || strcmp(rule->device, context->device->name) != 0))
		return false;
	return !rule->from || soft_now() - started >= rule->from;
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

/* ---- what has fired ---- */

static void __attribute__((format(printf, 2, 3)))
fault_record(const char *tail, const char *format, ...)
{
	const unsigned int i = soft_record->fired++;
	struct soft_recorded_fault *fault = &soft_record->faults[i];
	va_list arguments;

	if (i >= SOFT_RECORD_FIRED)
		return;
	fault->process = number;
	va_start(arguments, format);
	vsnprintf(fault->head, sizeof fault->head, format, arguments);
	va_end(arguments);
	snprintf(fault->tail, sizeof fault->tail, "%s", tail);
	fault->written = true;
}

/* What the rule of an incident says besides: ":for=1.000000:of=2". */
static const char *
fault_parts(enum soft_incident incident, const struct soft_rule *rule, int value,
    char text[SOFT_RECORD_TAIL])
{
	const double second = SOFT_SECOND;
	size_t length = 0;
	char name[32];

#define PART(...) length += (size_t)snprintf(text + length, SOFT_RECORD_TAIL - length, __VA_ARGS__)
	*text = '\0';
	if (soft_incident_key(incident))
		PART(":%s=%s", soft_incident_key(incident),
		    soft_incident_value_name(incident, value, name, sizeof name));
	if (rule->lasts)
		PART(":for=%.9f", (double)rule->lasts / second);
	if (rule->time)
		PART(":time=%.9f", (double)rule->time / second);
	if (rule->of)
		PART(":of=%u", rule->of);
	if (rule->out)
		PART(":way=out");
	if (rule->data_length)
		PART(":data=");
	for (unsigned int i = 0; i < rule->data_length; i++)
		PART("%02x", rule->data[i]);
#undef PART
	return text;
}

/* ---- incidents ---- */

static int
fault_incident_value(enum soft_incident incident, const struct soft_rule *rule)
{
	return rule->error ? rule->error : soft_incidents[incident].values[0];
}

const struct soft_rule *
soft_fault_happens(enum soft_incident incident, const struct ibv_context *context, int unfit)
{
	const struct soft_rule *first = NULL, *rule;
	const unsigned int n = ++moments[incident];
	char parts[SOFT_RECORD_TAIL];
	int value;

	(void)fault_process();
	for (unsigned int i = 0; i < rules.count; i++) {
		rule = &rules.rules[i];
		if (!rule->incidents[incident] || !fault_meets(rule, context))
			continue;
		if (fault_fires(rule, SOFT_CALL_COUNT + incident, ++met_incidents[i][incident]) &&
		    !first)
			first = rule;
	}
	if (!first)
		return NULL;
	value = fault_incident_value(incident, first);
	if (value && value == unfit)
		return NULL;
	soft_record->happened++;
	fault_record(fault_parts(incident, first, value, parts), "%s:nth=%u",
	    soft_incidents[incident].name, n);
	return first;
}

int
soft_fault_value(enum soft_incident incident, const struct ibv_context *context, int unfit)
{
	const struct soft_rule *rule = soft_fault_happens(incident, context, unfit);

	return rule ? fault_incident_value(incident, rule) : 0;
}

/* The incidents of the rule begin, or go on for longer. */
static void
fault_occur(const struct soft_rule *rule, enum soft_call call, unsigned int n)
{
	struct occurrence *occurrence = &occurrences[rule - rules.rules];
	char parts[SOFT_RECORD_TAIL], when[SOFT_RECORD_HEAD];

	if (rule->timed)
		snprintf(when, sizeof when, "at=%.9f", (double)rule->at / SOFT_SECOND);
	else
		snprintf(when, sizeof when, "call=%s:nth=%u", soft_call_name(call), n);
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		if (!rule->incidents[i])
			continue;
		if (!(rule->lasts && occurrence->on) && !(actor && actor(i, rule, true)))
			continue;
		soft_record->happened++;
		fault_record(fault_parts(i, rule, 0, parts), "%s:%s", soft_incidents[i].name, when);
	}
	if (!rule->lasts)
		return;
	occurrence->on = true;
	soft_timer_start(&occurrence->end, soft_now() + rule->lasts);
}

static void
fault_begin_timer(struct soft_timer *timer)
{
	const struct occurrence *at = soft_container_of(timer, struct occurrence, begin);
	const struct soft_rule *rule = &rules.rules[at - occurrences];

	if (fault_is_here(rule, fault_process()))
		fault_occur(rule, SOFT_CALL_COUNT, 0);
}

static void
fault_end_timer(struct soft_timer *timer)
{
	struct occurrence *at = soft_container_of(timer, struct occurrence, end);
	const struct soft_rule *rule = &rules.rules[at - occurrences];

	at->on = false;
	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++)
		if (rule->incidents[i])
			(void)actor(i, rule, false);
}

/* ---- calls ---- */

/* Every rule counts the call; the first one that fires decides.  Incidents that it brings about
 * happen before it. */
static int
fault_decide(enum soft_call call, const struct ibv_context *context, unsigned int count)
{
	const struct soft_rule *first = NULL, *rule;

	for (unsigned int i = 0; i < rules.count; i++) {
		rule = &rules.rules[i];
		if (!rule->calls[call] || !fault_meets(rule, context) ||
		    !fault_fires(rule, call, ++met[i][call]))
			continue;
		if (rule->of_incidents)
			fault_occur(rule, call, count);
		else if (!first)
			first = rule;
	}
	if (!first)
		return 0;
	return first->error ? first->error : soft_calls[call].errors[0];
}

/* The error of a call that needs the device, after its removal.  What destroys succeeds. */
static int
fault_of_removal(enum soft_call call)
{
	const char *name = soft_call_name(call);

	switch (call) {
	case SOFT_CALL_ibv_get_cq_event: /* they give the events that there are, first */
	case SOFT_CALL_ibv_get_async_event:
	case SOFT_CALL_rdma_get_cm_event:
	case SOFT_CALL_rdma_get_request:
	case SOFT_CALL_ibv_poll_cq: /* no call of the kernel */
	case SOFT_CALL_ibv_start_poll:
	case SOFT_CALL_ibv_next_poll:
	case SOFT_CALL_ibv_post_send:
	case SOFT_CALL_ibv_post_recv:
	case SOFT_CALL_ibv_post_srq_recv:
	case SOFT_CALL_ibv_req_notify_cq:
	case SOFT_CALL_ibv_read_sysfs_file:
	case SOFT_CALL_rdma_create_id: /* of no device yet */
	case SOFT_CALL_rdma_create_event_channel:
	case SOFT_CALL_rdma_bind_addr:
		return 0;
	default:
		if (strstr(name, "_destroy_") || strstr(name, "_dealloc_") ||
		    strstr(name, "_dereg_") || strstr(name, "_close_"))
			return 0;
		return soft_error_is_allowed(call, EIO)	   ? EIO :
		       soft_error_is_allowed(call, ENODEV) ? ENODEV :
							     0;
	}
}

int
soft_fault_enter(enum soft_call call, const struct ibv_context *context)
{
	char tail[SOFT_RECORD_TAIL];
	unsigned int n;
	int error;

	n = ++fault_process()->calls[call];
	error = fault_decide(call, context, n);
	if (error) {
		snprintf(tail, sizeof tail, ":errno=%s", soft_error_name(error));
		fault_record(tail, "%s:nth=%u", soft_call_name(call), n);
	} else if (soft_device_is_gone()) {
		error = fault_of_removal(call);
	}
	if (error)
		errno = error;
	return error;
}

long
soft_fault_result(enum soft_call call, int error)
{
	switch (soft_calls[call].convention) {
	case SOFT_FAILS_ERROR:
		return error;
	case SOFT_FAILS_NEGATIVE:
		return -error;
	case SOFT_FAILS_REREG:
		return IBV_REREG_MR_ERR_CMD;
	case SOFT_FAILS_MINUS:
	case SOFT_FAILS_NULL:
		break;
	}
	return -1;
}

bool
soft_fault_succeeded(enum soft_call call, long result)
{
	switch (soft_calls[call].convention) {
	case SOFT_FAILS_NULL:
		return result != 0;
	case SOFT_FAILS_ERROR:
	case SOFT_FAILS_REREG:
		return result == 0;
	case SOFT_FAILS_MINUS:
	case SOFT_FAILS_NEGATIVE:
		break;
	}
	return result >= 0;
}

void
soft_fault_count(enum soft_object object, int change)
{
	fault_process()->objects[object] += change;
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
soft_faults_open(void)
{
	bool timed = false;

	if (rules_are_wrong)
		return -EINVAL;
	for (unsigned int i = 0; i < rules.count; i++)
		timed |= rules.rules[i].timed || rules.rules[i].lasts;
	if (!timed)
		return 0;
	(void)fault_process();
	return soft_runtime_start();
}

static __attribute__((constructor)) void
fault_load(void)
{
	const char *text = secure_getenv("SOFTVERBS_FAULTS");
	const char *number_of_seed = secure_getenv("SOFTVERBS_FAULTS_SEED");
	char error[256];

	someone_reads = soft_record_open(secure_getenv("SOFTVERBS_FAULTS_RECORD"));
	soft_announce_open(secure_getenv("SOFTVERBS_FAULTS_PROCESSES"));
	soft_announce(0);
	if (number_of_seed && *number_of_seed)
		seed = strtoull(number_of_seed, NULL, 10);
	if (text && !soft_rules_read(text, &rules, error, sizeof error)) {
		soft_complain("SOFTVERBS_FAULTS: %s", error);
		rules_are_wrong = true;
		rules.count = 0;
	}
	for (unsigned int i = 0; i < rules.count; i++)
		soft_faults_have_incidents |= rules.rules[i].of_incidents;
	fault_init_occurrences();
	soft_faults = rules.count || someone_reads;
	if (soft_faults)
		pthread_atfork(NULL, NULL, soft_faults_reset);
}

/* What has fired, for a process that softverbs-run does not keep. */
static __attribute__((destructor)) void
fault_unload(void)
{
	struct soft_recorded_process *known = process;
	char *fired = soft_faults && !someone_reads && soft_record->fired ?
			  soft_record_rules(soft_record) :
			  NULL;

	if (known)
		known->ended = true;
	/* Not by soft_complain(): the place that a provider has for it may be gone. */
	if (fired)
		fprintf(stderr, "softverbs: faults fired, as with SOFTVERBS_FAULTS=%s\n", fired);
	free(fired);
}
