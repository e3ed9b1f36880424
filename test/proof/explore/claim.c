/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * claim -- the rules for claims under the trigger lock
 *
 * Upcalls that run at the same time are claimed in the order of the events.
 *
 * Between the claim and the call of the consumer's function a thread holds no lock, so the
 * functions may be entered in any order. The section that makes a claim is checked: a claim takes
 * one event, or as many as an array has, and no event left in the queue has a lower number.
 *
 * The function is called with the upcall object that was installed when the claim was made, even if
 * another one was installed since.
 */
#include <string.h>

#include "left.h"
#include "peek.h"
#include "stage.h"
#include "world.h"

#define NUMBERS 48

static struct before {
	uint64_t upcalls, next, taken;
	uint64_t numbers[NUMBERS];
	unsigned int n;
	bool backs_off;
	uint64_t due;
	uint64_t wakes; /* of a job that was not idle */
} before[EVDS];

static const void *claimed_for[FIBERS];

static struct owed {
	bool calls; /* the agent of a CNO has to be called */
	void *instance;
	unsigned int unseen; /* EVDs that it has not seen */
} owed[CNOS];

void
claim_reset(void)
{
	for (int i = 0; i < EVDS; i++)
		before[i] = (struct before){ 0 };
	memset(claimed_for, 0, sizeof claimed_for);
	memset(owed, 0, sizeof owed);
}

void
claim_called(const struct stage_evd *e, const struct stage_object *object)
{
	if (claimed_for[sched.self - sched.fibers] != object)
		violation("an upcall of EVD %c is claimed for one object and made for another",
		    'a' + e->index);
}

static bool
has(const uint64_t *numbers, unsigned int n, uint64_t number)
{
	while (n--)
		if (numbers[n] == number)
			return true;
	return false;
}

static void
check(const struct stage_evd *e, const struct before *b, const struct before *now)
{
	const uint64_t events = now->taken - b->taken, *numbers = now->numbers;
	const unsigned int n = now->n;
	unsigned int taken = 0;
	uint64_t last = 0;

	for (unsigned int i = 0; i < b->n; i++)
		if (!has(numbers, n, b->numbers[i])) {
			taken++;
			last = b->numbers[i] > last ? b->numbers[i] : last;
		}
	for (uint64_t number = b->next; number < now->next; number++)
		if (!has(numbers, n, number)) {
			taken++;
			last = number;
		}
	/* Events that a poll builds in place were never numbered. */
	if (events < 1 || (int)events > (e->spec->array ? e->spec->array : 1))
		violation("claim: a claim of EVD %c takes %u events", 'a' + e->index,
		    (unsigned int)events);
	if (taken > events)
		violation("claim: %u events of EVD %c leave the queue, and %u are claimed", taken,
		    'a' + e->index, (unsigned int)events);
	for (unsigned int i = 0; i < n; i++)
		if (numbers[i] < last)
			violation("claim: an event of EVD %c is claimed before an earlier one",
			    'a' + e->index);
}

/*
 * A job that backs off runs when its time has come, or when a wake moves it forward.  A thread may
 * do both in one section: wake the sink, because its poll has found completions or its upcall was
 * the last one, and take the job.
 */
static void
check_patience(const struct stage_evd *e, const struct before *b, const struct before *now)
{
	if (b->backs_off && !now->backs_off && !peek_ready(&e->evd) && sched.now < b->due &&
	    now->wakes == b->wakes)
		violation("EVD %c backs off, and is run too soon", 'a' + e->index);
}

static void
judge(const struct stage_evd *e, struct before *b)
{
	struct before now = { 0 };
	const bool claims = e->evd.counters.upcalls == b->upcalls + 1;

	now.upcalls = e->evd.counters.upcalls + e->evd.at_once.upcalls;
	if (claims)
		claimed_for[sched.self - sched.fibers] = e->evd.upcall.instance;
	if (!stage.scenario->pool && !(world_faults & (FAULT_ARM | FAULT_POLL))) {
		b->upcalls = now.upcalls;
		return;
	}
	now.backs_off = e->evd.alive && peek_backs_off(&e->evd);
	now.due = peek_due(&e->evd);
	now.wakes = e->evd.counters.busy_skips;
	if (e->evd.alive)
		check_patience(e, b, &now);
	now.n = e->evd.alive ? peek_numbers(&e->evd, now.numbers, NUMBERS) : 0;
	now.next = peek_next_number(&e->evd);
	now.taken = e->evd.taken + e->evd.taken_directly;
	if (e->evd.alive && stage.scenario->pool && claims && e->evd.policy == EVD_POLICY_MANY)
		check(e, b, &now);
	*b = now;
}

/*
 * If a thread takes a trigger that the installed agent has not seen, the agent is still called,
 * even if the EVD is freed in between, unless another agent replaces it.
 */
static void
judge_agent(const struct stage_cno *c, struct owed *o)
{
	const struct cno *cno = &c->cno;
	void *installed = cno->alive && cno->cfg.agent.function ? cno->cfg.agent.instance : NULL;
	unsigned int unseen = 0;

	for (const struct evd *evd = cno->first; cno->alive && evd; evd = evd->triggered_next)
		unseen += evd->agent_unseen;
	if (!installed || installed != o->instance)
		o->calls = false;
	else if (unseen < o->unseen && c->taking & fiber_bit(sched.self))
		o->calls = true;
	o->instance = installed;
	o->unseen = unseen;
	if (o->calls && !cno->job_queued && !cno->in_agent)
		violation("CNO %c was triggered, and its agent is not going to be called",
		    'n' + c->index);
}

static void
note_waiter(struct stage_cno *c)
{
	const uint32_t self = fiber_bit(sched.self);

	if (!(c->inside_wait & ~c->looked & self))
		return;
	c->looked |= self;
	c->last_detaches[sched.self - sched.fibers] = c->cno.last_detaches;
}

/* A section of the trigger lock, or of a CNO's, ends. */
void
claim_section(const struct os_mutex *lock)
{
	for (int i = 0; i < stage.scenario->n_cnos; i++)
		if (lock == &stage.cnos[i].cno.lock) {
			left_section_cno(&stage.cnos[i].cno);
			judge_agent(&stage.cnos[i], &owed[i]);
			note_waiter(&stage.cnos[i]);
		}
	for (int i = 0; i < stage.scenario->n_evds; i++)
		if (lock == &stage.evds[i].evd.lock) {
			left_section(&stage.evds[i].evd);
			judge(&stage.evds[i], &before[i]);
		}
}
