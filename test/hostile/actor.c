/* SPDX-License-Identifier: BSD-3-Clause */
#include "actor.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "dat.h"
#include "life.h"
#include "report.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct actor *) first;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(uint64_t) base_seed;
static __thread struct actor *self;
static int library_threads;

static void
release(void *actor)
{
	atomic_store(&((struct actor *)actor)->in_use, false);
	self = NULL;
}

static void
make_key(void)
{
	if (pthread_key_create(&key, release))
		report_broken("cannot create a thread key");
}

static void
handle(int signal)
{
	(void)signal;
	if (self)
		atomic_fetch_add(&self->signals, 1);
}

void
actors_handle_signals(void)
{
	struct sigaction action = { .sa_handler = handle };

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
}

void
actor_signal(const struct actor *actor)
{
	(void)syscall(SYS_tgkill, getpid(), atomic_load(&actor->tid), SIGUSR1);
}

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

void
actor_seed(uint64_t seed)
{
	atomic_store(&base_seed, seed);
}

void
actor_enter(const char *role, int number)
{
	struct actor *actor;

	pthread_once(&once, make_key);
	pthread_mutex_lock(&lock);
	for (actor = atomic_load(&first); actor && atomic_load(&actor->in_use); actor = actor->next)
		;
	if (!actor) {
		actor = calloc(1, sizeof *actor);
		if (!actor)
			report_broken("no memory for the record of a thread");
		actor->next = atomic_load(&first);
		atomic_store(&first, actor);
	}
	atomic_store(&actor->role, role);
	atomic_store(&actor->number, number >= 0 ? number : library_threads++);
	atomic_store(&actor->tid, (pid_t)syscall(SYS_gettid));
	/* Each role and number has a sequence of its own. */
	actor->random =
	    mix(atomic_load(&base_seed) + 0x9e3779b97f4a7c15u * (uint64_t)(actor->number + 1) +
		(uint64_t)role[0]) |
	    1;
	actor->frame = NULL;
	atomic_store(&actor->manner, ACTOR_WORKS);
	atomic_store(&actor->doing, NULL);
	atomic_store(&actor->in_use, true);
	pthread_mutex_unlock(&lock);
	self = actor;
	pthread_setspecific(key, actor);
}

void
actor_leave(void)
{
	pthread_setspecific(key, NULL);
	release(self);
}

struct actor *
actor_self(void)
{
	if (!self)
		actor_enter("library", -1);
	return self;
}

struct actor *
actor_first(void)
{
	return atomic_load(&first);
}

uint64_t
actor_random(void)
{
	struct actor *me = actor_self();
	uint64_t x = me->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	me->random = x;
	return x * 0x2545f4914f6cdd1du;
}

unsigned int
pick(unsigned int n)
{
	return (unsigned int)((actor_random() >> 32) * n >> 32);
}

bool
chance(unsigned int percent)
{
	return pick(100) < percent;
}

struct trace_line *
trace(const char *what, uint64_t on, uint64_t also, uint64_t detail)
{
	struct actor *me = actor_self();
	unsigned int at = atomic_fetch_add(&me->at, 1) % TRACE_LENGTH;
	struct trace_line *line = &me->trace[at];

	atomic_store(&line->what, what);
	atomic_store(&line->on, on);
	atomic_store(&line->also, also);
	atomic_store(&line->detail, detail);
	atomic_store(&line->end, 0);
	atomic_store(&line->ret, 0);
	atomic_store(&line->stamp, clock_stamp());
	return line;
}

void
trace_done(struct trace_line *line, DAT_RETURN ret)
{
	atomic_store(&line->ret, ret);
	atomic_store(&line->end, clock_stamp());
}

/* ---- printing ---- */

struct found {
	const struct actor *actor;
	const struct trace_line *line;
	uint64_t stamp;
};

static int
by_stamp(const void *a, const void *b)
{
	uint64_t x = ((const struct found *)a)->stamp, y = ((const struct found *)b)->stamp;

	return x < y ? -1 : x > y;
}

static bool
names_it(uint64_t name, const uint64_t *names, int n)
{
	for (int i = 0; i < n; i++)
		if (names[i] && names[i] == name)
			return true;
	return n == 0;
}

static void
print_line(const struct found *found)
{
	const struct trace_line *line = found->line;
	uint64_t on = atomic_load(&line->on), also = atomic_load(&line->also);
	char ret[96] = "";

	if (atomic_load(&line->end) && (int)atomic_load(&line->ret) > -4096 &&
	    (int)atomic_load(&line->ret) < 4096) /* of librearm; or DAT_SUCCESS */
		snprintf(ret, sizeof ret, " = %d @%llu", (int)atomic_load(&line->ret),
		    (unsigned long long)atomic_load(&line->end));
	else if (atomic_load(&line->end))
		snprintf(ret, sizeof ret, " = %s @%llu", dat_name(atomic_load(&line->ret)),
		    (unsigned long long)atomic_load(&line->end));
	fprintf(stderr, "  @%-9llu %s %d: %s", (unsigned long long)found->stamp, found->actor->role,
	    found->actor->number, atomic_load(&line->what));
	if (on)
		fprintf(stderr, " %s", life_name_text(on));
	if (also)
		fprintf(stderr, " %s", life_name_text(also));
	fprintf(stderr, " (%#llx)%s\n", (unsigned long long)atomic_load(&line->detail), ret);
}

void
trace_print(const uint64_t *names, int n, unsigned int most)
{
	unsigned int count = 0, size = 0, from;
	struct found *found;

	for (struct actor *a = actor_first(); a; a = a->next)
		size += TRACE_LENGTH;
	found = calloc(size ? size : 1, sizeof *found);
	if (!found)
		return;
	for (struct actor *a = actor_first(); a; a = a->next)
		for (int i = 0; i < TRACE_LENGTH; i++) {
			const struct trace_line *line = &a->trace[i];

			if (count == size || !atomic_load(&line->what) ||
			    (!names_it(atomic_load(&line->on), names, n) &&
				!names_it(atomic_load(&line->also), names, n)))
				continue;
			found[count++] = (struct found){ a, line, atomic_load(&line->stamp) };
		}
	qsort(found, count, sizeof *found, by_stamp);
	from = count > most ? count - most : 0;
	for (unsigned int i = from; i < count; i++)
		print_line(&found[i]);
	free(found);
}

/* The state of a thread and where in the kernel it sleeps. */
static void
print_state(pid_t tid)
{
	char path[64], text[128];
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof text, f) && strrchr(text, ')'))
		fprintf(stderr, ", state %c", strrchr(text, ')')[2]);
	if (f)
		fclose(f);
	snprintf(path, sizeof path, "/proc/self/task/%d/wchan", (int)tid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof text, f) && text[0] != '0')
		fprintf(stderr, " in %s", text);
	if (f)
		fclose(f);
}

void
actors_print(void)
{
	static const char *const manners[] = { "running", "sleeping", "stopped" };
	const uint64_t now = clock_tick();

	for (struct actor *a = actor_first(); a; a = a->next) {
		const char *doing = atomic_load(&a->doing);

		if (!atomic_load(&a->in_use))
			continue;
		fprintf(
		    stderr, "  %s %d (thread %d): ", a->role, a->number, (int)atomic_load(&a->tid));
		if (doing)
			fprintf(stderr, "%s %s for %llu ticks, ", doing,
			    life_name_text(atomic_load(&a->doing_on)),
			    (unsigned long long)(now - atomic_load(&a->since)));
		fprintf(stderr, "%s", manners[atomic_load(&a->manner)]);
		print_state(atomic_load(&a->tid));
		fprintf(stderr, "\n");
	}
}
