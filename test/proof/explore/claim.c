/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * claim -- what a section of the trigger lock may do
 *
 * Upcalls that run side by side are claimed in the order of the events.
 *
 * Between the claim and the consumer's function a thread holds no lock, so in which order the functions
 * are entered says nothing.  What a claim takes is judged in the section that makes it: it is one
 * event, and none that is left has a lower number.
 */
#include "peek.h"
#include "stage.h"

#define NUMBERS 48

static struct before {
	uint64_t upcalls, next;
	uint64_t numbers[NUMBERS];
	unsigned int n;
	bool backs_off;
	uint64_t due;
} before[EVDS];

void
claim_reset(void)
{
	for (int i = 0; i < EVDS; i++)
		before[i] = (struct before){ 0 };
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
check(const struct stage_evd *e, const struct before *b, const uint64_t *now, unsigned int n)
{
	unsigned int taken = 0;
	uint64_t last = 0;

	for (unsigned int i = 0; i < b->n; i++)
		if (!has(now, n, b->numbers[i])) {
			taken++;
			last = b->numbers[i] > last ? b->numbers[i] : last;
		}
	for (uint64_t number = b->next; number < peek_next_number(&e->evd); number++)
		if (!has(now, n, number)) {
			taken++;
			last = number;
		}
	if (taken != 1)
		violation("claim: a claim of EVD %c takes %u events", 'a' + e->index, taken);
	for (unsigned int i = 0; i < n; i++)
		if (now[i] < last)
			violation("claim: an event of EVD %c is claimed before an earlier one",
			    'a' + e->index);
}

/* Who backs off is run when the time has come, or made ready by who wants it sooner. */
static void
check_patience(const struct stage_evd *e, const struct before *b, const struct before *now)
{
	if (b->backs_off && !now->backs_off && !peek_ready(&e->evd) && sched.now < b->due)
		violation("EVD %c backs off, and is run too soon", 'a' + e->index);
}

/* A section of the trigger lock ends. */
void
claim_section(const struct os_mutex *lock)
{
	for (int i = 0; i < stage.scenario->n_evds; i++) {
		const struct stage_evd *e = &stage.evds[i];
		struct before *b = &before[i];
		struct before now = { 0 };

		if (lock != &e->evd.lock)
			continue;
		now.backs_off = e->evd.alive && peek_backs_off(&e->evd);
		now.due = peek_due(&e->evd);
		if (e->evd.alive)
			check_patience(e, b, &now);
		now.n = e->evd.alive ? peek_numbers(&e->evd, now.numbers, NUMBERS) : 0;
		now.upcalls = e->evd.counters.upcalls;
		now.next = peek_next_number(&e->evd);
		if (e->evd.alive && stage.scenario->crew && now.upcalls == b->upcalls + 1 &&
		    e->evd.policy == DAT_UPCALL_MANY)
			check(e, b, now.numbers, now.n);
		*b = now;
	}
}
