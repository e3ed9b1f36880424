/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"
#include "announce.h"
#include "softverbs/device/cancel.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `process` becomes NULL in a forked child. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static struct soft_recorded_process *_Atomic process, unrecorded;
static unsigned int number;
static uint64_t started;
static void (*beginning)(void);

/* One of an earlier number may be about to write its name; it may also have been killed before. */
static void
process_await_name(const struct soft_recorded_process *other)
{
	for (unsigned int i = 0; i < 1000 && !other->named; i++)
		sched_yield();
}

/*
 * The name does not depend on which of two processes makes its first call earlier, unless both have
 * the same command.
 */
static void
process_name(struct soft_recorded_process *own)
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
		process_await_name(other);
		if (!strncmp(other->name, own->name, length) &&
		    (!other->name[length] || other->name[length] == '.'))
			twin++;
	}
	if (twin > 1)
		snprintf(own->name + length, sizeof own->name - length, ".%u", twin);
	own->named = true;
}

bool
soft_fault_is_here(const struct soft_rule *rule)
{
	const struct soft_recorded_process *own = soft_fault_process();

	return (!rule->process || rule->process == number) &&
	       (!*rule->name || !strcmp(rule->name, own->name));
}

unsigned int
soft_fault_peer(const struct soft_rule *rule)
{
	const struct soft_recorded_process *other = soft_record->process;

	if (rule->peer_slot)
		return rule->peer_slot;
	for (unsigned int i = 1; i <= SOFT_RECORD_PROCESSES; i++, other++)
		if (other->named &&
		    (*rule->peer_name ? !strcmp(rule->peer_name, other->name) : i == rule->peer))
			return other->slot;
	return 0;
}

/* Its number is the order of the first calls. */
static struct soft_recorded_process *
process_begin(void)
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
			process_name(known);
		beginning();
		soft_announce(number);
		process = known;
	}
	pthread_mutex_unlock(&starting);
	return known;
}

struct soft_recorded_process *
soft_fault_process(void)
{
	struct soft_recorded_process *known = process;

	return known ? known : process_begin();
}

struct soft_recorded_process *
soft_fault_begun(void)
{
	return process;
}

void
soft_fault_set_beginning(void (*fn)(void))
{
	beginning = fn;
}

unsigned int
soft_fault_number(void)
{
	return number;
}

uint64_t
soft_fault_started(void)
{
	return started;
}

void
soft_fault_process_reset(void)
{
	pthread_mutex_init(&starting, NULL);
	process = NULL;
	memset(&unrecorded, 0, sizeof unrecorded);
	soft_announce(0);
}
