/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "strategy.h"
#include "world.h"

#define STACK_SIZE (128 * 1024)
#define TICK_US 250000 /* of processor time */

struct sched sched;
void (*sched_oracle)(void);
struct trace_entry trace[TRACE_CAP];
unsigned int n_trace;

static struct context base;
static void (*stage_body)(void);
static sigjmp_buf crash;
static uint64_t n_runs;
static unsigned char signal_stack[64 * 1024];

/* ---- the end of a run ---- */

static __attribute__((noreturn)) void
leave(enum outcome outcome)
{
	struct fiber *self = sched.self;

	sched.outcome = outcome;
	self->context.abandoned = true;
	context_switch(&self->context, &base, false, true);
	abort();
}

void
violation(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(sched.failure, sizeof sched.failure, format, args);
	va_end(args);
	leave(OUTCOME_FAILED);
}

static void
on_crash(int signal)
{
	snprintf(sched.failure, sizeof sched.failure, "crashed: %s in %s", strsignal(signal),
	    sched.self && sched.self->site ? sched.self->site->function : "?");
	sched.outcome = OUTCOME_FAILED;
	siglongjmp(crash, 1);
}

/* A run that got nowhere between two ticks loops without ever coming to a point. */
static void
on_tick(int signal)
{
	static uint64_t run_before;
	static uint32_t steps_before;

	if (sched.self && n_runs == run_before && sched.steps == steps_before) {
		snprintf(sched.failure, sizeof sched.failure, "%s loops without an end in %s",
		    sched.self->name, sched.self->site ? sched.self->site->function : "?");
		sched.outcome = OUTCOME_FAILED;
		run_before = 0;
		siglongjmp(crash, 1);
	}
	run_before = n_runs;
	steps_before = sched.steps;
	(void)signal;
}

static void
prepare_once(void)
{
	static bool prepared;
	stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof signal_stack };
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER };
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_NODEFER };
	struct itimerval every = { { 0, TICK_US }, { 0, TICK_US } };
	const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

	if (prepared)
		return;
	prepared = true;
	context_adopt(&base);
	/* A sanitizer reports more about a crash than this program. */
	if (context_is_asan() || context_is_tsan())
		return;
	sigaltstack(&stack, NULL);
	for (unsigned int i = 0; i < sizeof fatal / sizeof *fatal; i++)
		sigaction(fatal[i], &action, NULL);
	sigaction(SIGVTALRM, &tick, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

/* ---- choosing ---- */

static uint32_t
timed(void)
{
	if (sched.last_deadline <= sched.now)
		return 0;
	for (unsigned int i = STAGE; i < sched.n_fibers; i++)
		if (sched.fibers[i].deadline != UINT64_MAX && sched.fibers[i].deadline > sched.now)
			return 1u << CLOCK;
	return 0;
}

static void
check_pollers(void)
{
	for (uint32_t m = sched.pollers; m; m &= m - 1) {
		struct fiber *f = &sched.fibers[__builtin_ctz(m)];

		if (world_is_ready(f))
			sched.enabled |= fiber_bit(f);
		else
			sched.enabled &= ~fiber_bit(f);
	}
}

void
sched_changed(void)
{
	if (sched.pollers)
		check_pollers();
}

/* The clock's turn: the next deadline comes. */
static void
advance(void)
{
	uint64_t next = UINT64_MAX, h;

	for (unsigned int i = STAGE; i < sched.n_fibers; i++) {
		uint64_t deadline = sched.fibers[i].deadline;

		if (deadline > sched.now && deadline < next)
			next = deadline;
	}
	sched.now = next;
	h = sched.objects[OBJECT_CLOCK] * 0x9e3779b97f4a7c15ull + next;
	sched.objects[OBJECT_CLOCK] = sched.fibers[CLOCK].hash = h ^ h >> 30;
	if (sched.tracing && !sched.no_choices) {
		struct fiber *self = sched.self;

		sched.self = &sched.fibers[CLOCK];
		trace_note("time is %llu us", (unsigned long long)next / 1000);
		sched.self = self;
	}
	check_pollers();
}

static void
stuck(void)
{
	char text[400] = "";
	size_t n = 0;

	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++) {
		const struct fiber *f = &sched.fibers[i];

		if (f->state == FIBER_BLOCKED && n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, " %s in %s,", f->name,
			    f->site ? f->site->function : "?");
	}
	if (n)
		text[n < sizeof text ? n - 1 : sizeof text - 1] = '\0';
	violation("deadlock: no thread can run; blocked:%s", text);
}

/* Lets a fiber run; `at` is the one that comes to this point and `runs` on if chosen. */
static void
choose(struct fiber *at, bool runs)
{
	struct fiber *next;
	unsigned int choice;
	uint32_t mask;

	for (;;) {
		mask = sched.enabled;
		if (!mask || !sched.no_choices)
			mask |= timed();
		if (!mask) {
			if (!sched.resting)
				stuck();
			sched.resting = false;
			sched.enabled = mask = 1u << STAGE;
		}
		if (mask & (mask - 1) && !sched.no_choices)
			choice = strategy_pick(mask, runs ? at : NULL, at);
		else
			choice = strategy_default(mask, runs ? at : NULL);
		at->picks++;
		if (choice == 255)
			leave(OUTCOME_PRUNED);
		/* Time that passes while a thread could run counts as a preemption. */
		if ((runs && choice != (unsigned int)(at - sched.fibers)) ||
		    (choice == CLOCK && mask != 1u << CLOCK))
			sched.preemptions++;
		if (choice != CLOCK)
			break;
		if (++sched.steps > STEP_CAP)
			violation("the schedule does not end: %u steps", sched.steps);
		advance();
	}
	next = &sched.fibers[choice];
	if (next == at)
		return;
	sched.self = next;
	context_switch(&at->context, &next->context, at->state == FIBER_DONE, false);
}

static void
note_point(struct fiber *f, enum op op, unsigned int object, const struct os_site *site)
{
	struct trace_entry *e;

	if (n_trace == TRACE_CAP)
		return;
	e = &trace[n_trace++];
	*e = (struct trace_entry){
		.step = sched.steps,
		.fiber = (uint8_t)(f - sched.fibers),
		.op = (uint8_t)op,
		.object = (uint8_t)object,
		.site = site,
	};
}

void
trace_add(const char *format, ...)
{
	struct trace_entry *e;
	va_list args;

	if (sched.no_choices || n_trace == TRACE_CAP)
		return;
	e = &trace[n_trace++];
	*e = (struct trace_entry){
		.step = sched.steps,
		.fiber = (uint8_t)(sched.self - sched.fibers),
		.op = OP_NONE,
	};
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
}

void
sched_mix(enum op op, uint64_t *seen, bool changed)
{
	uint64_t h = sched.self->hash ^ (*seen + (uint64_t)op * 0xd6e8feb86659fd93ull);

	h = (h ^ h >> 32) * 0x9fb21c651e98df25ull;
	h ^= h >> 29;
	sched.self->hash = h;
	if (changed)
		*seen = h * 0xa0761d6478bd642full;
}

static inline void
point(enum op op, unsigned int object, const struct os_site *site, bool minor)
{
	struct fiber *f = sched.self;

	f->site = site;
	f->op = op;
	f->object = object;
	if (sched.no_choices)
		return;
	f->ops++;
	f->picks = 0;
	if (++sched.steps > STEP_CAP)
		violation("the schedule does not end: %u steps", sched.steps);
	if (!minor || !sched.coarse) {
		sched_oracle();
		choose(f, true);
	}
	if (sched.tracing)
		note_point(f, op, object, site);
}

void
sched_point(enum op op, unsigned int object, const struct os_site *site)
{
	point(op, object, site, false);
}

void
sched_point_minor(enum op op, unsigned int object, const struct os_site *site)
{
	point(op, object, site, true);
}

void
sched_block(enum op waits, unsigned int object)
{
	struct fiber *f = sched.self;
	bool polls = waits != OP_LOCK;

	f->state = FIBER_BLOCKED;
	f->waits = waits;
	sched.enabled &= ~fiber_bit(f);
	if (polls)
		sched.pollers |= fiber_bit(f);
	if (sched.tracing && !sched.no_choices)
		trace_note("(blocks)");
	if (!sched.no_choices)
		sched_oracle();
	choose(f, false);
	if (polls)
		sched.pollers &= ~fiber_bit(f);
	f->state = FIBER_READY;
	(void)object;
}

void
sched_until(bool (*until)(void *arg), void *arg, enum op op, unsigned int object)
{
	struct fiber *f = sched.self;

	f->until = until;
	f->until_arg = arg;
	f->deadline = UINT64_MAX;
	while (!until(arg))
		sched_block(op, object);
	sched_see(op, object);
}

void
sched_rest(bool no_choices)
{
	struct fiber *f = sched.self;

	f->state = FIBER_BLOCKED;
	f->waits = OP_UNTIL;
	sched.resting = true;
	sched.no_choices = no_choices;
	sched.enabled &= ~fiber_bit(f);
	f->ops = f->picks = 0;
	choose(f, false);
	f->state = FIBER_READY;
	sched.no_choices = true;
	/* All runs come by here in the same state, in which threads of a kind are alike. */
	for (unsigned int i = 0; no_choices && i < sched.n_fibers; i++)
		sched.fibers[i].hash = sched.fibers[i].kin * 0x9e3779b97f4a7c15ull;
	for (unsigned int i = 0; no_choices && i < OBJECTS; i++)
		sched.objects[i] = i;
}

int
sched_fault(int n, const struct os_site *site)
{
	struct fiber *f = sched.self;
	int choice;

	if (sched.no_choices)
		return 0;
	choice = strategy_fault(n, f);
	sched.fault_points++;
	f->faults++;
	if (choice) {
		sched.faults++;
		f->hash += (uint64_t)choice * 0xe7037ed1a0b428dbull;
		trace_note("fault %d in %s", choice, site ? site->function : "the device");
	}
	return choice;
}

/* ---- fibers ---- */

static void
fiber_entry(void)
{
	struct fiber *f = sched.self;

	context_entered();
	context_acquire(f);
	if (f - sched.fibers == STAGE) {
		stage_body();
		sched.outcome = OUTCOME_PASSED;
		f->state = FIBER_DONE;
		context_switch(&f->context, &base, true, true);
		abort();
	}
	(void)f->body(f->arg);
	if (f->self.at_exit)
		f->self.at_exit(&f->self);
	if (f->n_held)
		violation("%s ended with a lock held", f->name);
	f->deadline = UINT64_MAX;
	sched_point_minor(OP_END, OBJECT_WORLD, NULL);
	sched_step(OP_END);
	context_release(f);
	f->state = FIBER_DONE;
	sched.enabled &= ~fiber_bit(f);
	sched_changed();
	choose(f, false);
	abort();
}

static struct fiber *
fiber_new(const char *name)
{
	struct fiber *f = &sched.fibers[sched.n_fibers];
	struct context context = f->context;

	if (sched.n_fibers == FIBERS) {
		fprintf(stderr, "explore: more than %d fibers\n", FIBERS);
		exit(2);
	}
	memset(f, 0, sizeof *f);
	f->context = context;
	f->state = FIBER_READY;
	f->deadline = UINT64_MAX;
	f->kin = sched.n_fibers;
	f->hash = f->kin * 0x9e3779b97f4a7c15ull;
	for (size_t i = 0; i < sizeof f->name - 1 && name[i]; i++)
		f->name[i] = name[i];
	sched.n_fibers++;
	if (f - sched.fibers != CLOCK) {
		if (!f->context.stack)
			context_stack(&f->context, STACK_SIZE);
		context_make(&f->context, fiber_entry);
		sched.enabled |= fiber_bit(f);
	}
	return f;
}

struct fiber *
sched_spawn(const char *name, void *(*body)(void *), void *arg)
{
	struct fiber *f = fiber_new(name);

	f->body = body;
	f->arg = arg;
	for (unsigned int i = STAGE + 1; i < f->kin; i++)
		if (sched.fibers[i].body == body && sched.fibers[i].arg == arg)
			f->kin = i;
	f->hash = f->kin * 0x9e3779b97f4a7c15ull + sched.self->hash;
	context_release(f);
	strategy_spawned(f);
	return f;
}

/* ---- a run ---- */

static void
abandon_all(void)
{
	for (unsigned int i = STAGE; i < sched.n_fibers; i++) {
		struct fiber *f = &sched.fibers[i];

		if (f->state != FIBER_DONE)
			context_abandon(&f->context, &base);
	}
}

enum outcome
sched_run(struct strategy *strategy, uint64_t seed, void (*body)(void))
{
	prepare_once();
	n_runs++;
	sched.n_fibers = 0;
	sched.enabled = sched.pollers = 0;
	sched.no_choices = true;
	sched.resting = false;
	sched.steps = sched.fault_points = sched.preemptions = 0;
	sched.faults = 0;
	sched.now = 1000000000u;
	sched.last_deadline = 0;
	for (unsigned int i = 0; i < OBJECTS; i++)
		sched.objects[i] = i;
	sched.failure[0] = '\0';
	sched.hashing = strategy->kind == STRATEGY_DFS;
	sched.settled = strategy->settled;
	n_trace = 0;
	world_reset();
	strategy_begin(strategy, seed);
	sched.coarse = strategy_passes_minor();
	strategy_spawned(fiber_new("clock"));
	fiber_new("stage");
	sched.enabled = 1u << STAGE;
	stage_body = body;
	sched.self = &sched.fibers[STAGE];
	if (sigsetjmp(crash, 0) == 0)
		context_switch(&base, &sched.self->context, false, true);
	sched.self = NULL;
	if (sched.outcome != OUTCOME_PASSED)
		abandon_all();
	/*
	 * The next run comes after everything in this one, also after threads that were not joined.
	 */
	for (unsigned int i = STAGE; i < sched.n_fibers; i++)
		context_acquire(&sched.fibers[i]);
	return sched.outcome;
}
