/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"
#include "rule.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/complaint.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool soft_faults;

static struct soft_rules rules;
static bool rules_are_wrong, someone_reads;
static uint64_t seed = 1;

/* How often the call has met the other conditions of the rule. */
static atomic_uint met[SOFT_RULES_MAX][SOFT_CALL_COUNT];

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

void
soft_faults_reset(void)
{
	pthread_mutex_init(&starting, NULL);
	process = NULL;
	memset(&unrecorded, 0, sizeof unrecorded);
	memset(met, 0, sizeof met);
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
fault_chooses(const struct soft_rule *rule, enum soft_call call, unsigned int n)
{
	const uint64_t which = (uint64_t)number << 32 | (uint64_t)(rule - rules.rules) << 16 | call;
	const uint64_t random = fault_mix(fault_mix(fault_mix(seed) ^ which) ^ n);

	return (double)(random >> 11) < rule->chance * (double)(1ull << 53);
}

static bool
fault_meets(const struct soft_rule *rule, enum soft_call call, const struct ibv_context *context)
{
	if (!rule->calls[call] || (rule->process && rule->process != number))
		return false;
	if (*rule->name && strcmp(rule->name, fault_process()->name) != 0)
		return false;
	if (*rule->device && (!context || strcmp(rule->device, context->device->name) != 0))
		return false;
	return !rule->from || soft_now() - started >= rule->from;
}

static bool
fault_fires(const struct soft_rule *rule, enum soft_call call)
{
	const unsigned int n = ++met[rule - rules.rules][call];

	switch (rule->when) {
	case SOFT_NTH:
		return n == rule->n;
	case SOFT_EACH:
		return n % rule->n == 0;
	case SOFT_BY_CHANCE:
		return fault_chooses(rule, call, n);
	}
	return false;
}

/* Every rule counts the call; the first one that fires decides. */
static int
fault_decide(enum soft_call call, const struct ibv_context *context)
{
	const struct soft_rule *first = NULL;

	for (unsigned int i = 0; i < rules.count; i++)
		if (fault_meets(&rules.rules[i], call, context) &&
		    fault_fires(&rules.rules[i], call) && !first)
			first = &rules.rules[i];
	if (!first)
		return 0;
	return first->error ? first->error : soft_calls[call].errors[0];
}

static void
fault_record(enum soft_call call, unsigned int n, int error)
{
	const unsigned int i = soft_record->fired++;

	if (i >= SOFT_RECORD_FIRED)
		return;
	soft_record->faults[i] = (struct soft_recorded_fault){
		.call = call, .process = number, .error = (uint32_t)error
	};
	atomic_signal_fence(memory_order_seq_cst);
	soft_record->faults[i].n = n;
}

int
soft_fault_enter(enum soft_call call, const struct ibv_context *context)
{
	unsigned int n;
	int error;

	n = ++fault_process()->calls[call];
	error = fault_decide(call, context);
	if (!error)
		return 0;
	fault_record(call, n, error);
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

int
soft_faults_status(void)
{
	return rules_are_wrong ? -EINVAL : 0;
}

static __attribute__((constructor)) void
fault_load(void)
{
	const char *text = secure_getenv("SOFTVERBS_FAULTS");
	const char *number_of_seed = secure_getenv("SOFTVERBS_FAULTS_SEED");
	char error[256];

	someone_reads = soft_record_open(secure_getenv("SOFTVERBS_FAULTS_RECORD"));
	if (number_of_seed && *number_of_seed)
		seed = strtoull(number_of_seed, NULL, 10);
	if (text && !soft_rules_read(text, &rules, error, sizeof error)) {
		soft_complain("SOFTVERBS_FAULTS: %s", error);
		rules_are_wrong = true;
		rules.count = 0;
	}
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
