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

/* The forks of this process; and the one that the thread is about to make. */
static atomic_uint forks;
static __thread unsigned int forking;

/*
 * Of a forked child: its name, if its parent had one; else what follows the name of the command, in
 * front of which `whole` is false.
 */
static char place[SOFT_PROCESS_NAME];
static bool whole;

/* What process_name() adds. */
#define TWIN ".0000000000"

static uint32_t
process_digest(uint32_t digest, const char *bytes, size_t size) /* FNV-1a */
{
	for (size_t i = 0; i < size; i++)
		digest = (digest ^ (unsigned char)bytes[i]) * 16777619u;
	return digest;
}

#define DIGEST 2166136261u

/* "NAME+1+3"; of a deep tree "NAME~1f7c22b0". */
static void
process_join(char name[SOFT_PROCESS_NAME], const char *of, const char *suffix)
{
	const uint32_t digest =
	    process_digest(process_digest(DIGEST, of, strlen(of)), suffix, strlen(suffix));
	const int begins = (int)strcspn(of, "+~");

	if (strlen(of) + strlen(suffix) + sizeof TWIN <= SOFT_PROCESS_NAME)
		snprintf(name, SOFT_PROCESS_NAME, "%s%s", of, suffix);
	else
		snprintf(
		    name, SOFT_PROCESS_NAME, "%.*s~%08x", begins < 27 ? begins : 27, of, digest);
}

/* One of an earlier number may be about to write its name; it may also have been killed before. */
static void
process_await_name(const struct soft_recorded_process *other)
{
	for (unsigned int i = 0; i < 1000 && !other->named; i++)
		sched_yield();
}

/* That of the command. */
static void
process_name_by_command(char name[SOFT_PROCESS_NAME])
{
	const size_t room = SOFT_PROCESS_NAME - sizeof "-000000" TWIN;
	uint32_t digest;
	size_t length = 0;
	char line[4096];
	ssize_t size;
	int fd;

	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, line, sizeof line);
	if (fd >= 0)
		soft_close(fd);
	digest = process_digest(DIGEST, line, size < 0 ? 0 : (size_t)size);
	for (const char *c = program_invocation_short_name; *c && length < room; c++, length++)
		name[length] = (char)(isalnum((unsigned char)*c) ? *c : '_');
	if (!length || isdigit((unsigned char)name[0]))
		name[length ? 0 : length++] = '_';
	snprintf(
	    name + length, SOFT_PROCESS_NAME - length, "-%06x", (digest ^ digest >> 24) & 0xffffff);
}

/* Whether the other name is the same, but for a number. */
static bool
process_is_twin(const char *other, const char *name)
{
	const size_t length = strlen(name);

	if (strncmp(other, name, length) != 0)
		return false;
	return !other[length] || (other[length] == '.' && !strpbrk(other + length, "+~"));
}

/*
 * The name does not depend on which of two processes makes its first call earlier, unless both have
 * the same command and neither is forked.
 */
static void
process_name(struct soft_recorded_process *own)
{
	char command[SOFT_PROCESS_NAME] = "";
	unsigned int twin = 1;
	size_t length;

	if (!whole)
		process_name_by_command(command);
	process_join(own->name, command, place);
	length = strlen(own->name);
	for (struct soft_recorded_process *other = soft_record->process; other < own; other++) {
		process_await_name(other);
		twin += process_is_twin(other->name, own->name);
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
soft_fault_process_fork(void)
{
	forking = ++forks;
}

void
soft_fault_process_reset(void)
{
	const struct soft_recorded_process *parent = process;
	const bool named = parent && parent != &unrecorded;
	char parents[SOFT_PROCESS_NAME], child[16];

	snprintf(parents, sizeof parents, "%s", named ? parent->name : place);
	snprintf(child, sizeof child, "+%u", forking);
	process_join(place, parents, child);
	whole |= named;
	forks = 0;
	pthread_mutex_init(&starting, NULL);
	process = NULL;
	memset(&unrecorded, 0, sizeof unrecorded);
	soft_announce(0);
}
