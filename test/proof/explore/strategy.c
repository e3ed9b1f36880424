/* SPDX-License-Identifier: BSD-3-Clause */
#include "strategy.h"

#include <stdlib.h>
#include <string.h>

#define PCT_DEPTH_MAX 8
#define FAULTS_MAX 4
#define NODES (2 * STEP_CAP)
#define UNFAIR_FACTOR 6
#define UNFAIR_SLACK 400u
#define STATES_FIRST (1u << 16)
#define STATES_LAST (1u << 24)

struct deviation recorded[DEVIATIONS];
unsigned int n_recorded;
bool recorded_overflow;

static struct strategy *strategy;
static uint64_t rng;

/* ---- random and PCT ---- */

static struct change {
	uint32_t at, priority;
} changes[PCT_DEPTH_MAX];
static unsigned int n_changes, next_change;
static uint32_t fault_at[FAULTS_MAX];
static unsigned int n_fault_at;
static bool coarse;	 /* this schedule passes over the minor points */
static uint32_t best_of; /* the fibers that the last choice by priority was made from */
static unsigned int best;

static uint64_t
random_next(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return rng * 0x2545f4914f6cdd1dull;
}

static uint32_t
random_below(uint32_t n)
{
	return (uint32_t)((random_next() >> 32) * n >> 32);
}

static void
random_begin(uint64_t seed)
{
	/* Neighbouring seeds must not give neighbouring schedules. */
	seed += 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	rng = (seed ^ seed >> 31) | 1;
	coarse = random_below(2);
	n_fault_at = 0;
	if (strategy->max_faults && strategy->fault_points) {
		n_fault_at = random_below((uint32_t)strategy->max_faults + 1);
		for (unsigned int i = 0; i < n_fault_at; i++)
			fault_at[i] = random_below(strategy->fault_points);
	}
	n_changes = next_change = 0;
	if (strategy->kind != STRATEGY_PCT)
		return;
	for (int i = 1; i < strategy->depth; i++) {
		struct change change = { 1 + random_below(strategy->length), (uint32_t)i };
		unsigned int j = n_changes++;

		/* By time; which of them falls deepest is another matter. */
		for (; j > 0 && changes[j - 1].at > change.at; j--)
			changes[j] = changes[j - 1];
		changes[j] = change;
	}
}

static unsigned int
pick_random(uint32_t mask)
{
	uint32_t n = random_below((uint32_t)__builtin_popcount(mask));

	while (n--)
		mask &= mask - 1;
	return (unsigned int)__builtin_ctz(mask);
}

static unsigned int
pick_pct(uint32_t mask, const struct fiber *running)
{
	uint32_t priority = 0;

	/* Priorities are unfair: one may spin for another.  Past any sensible length, be fair. */
	if (sched.steps > strategy->length * UNFAIR_FACTOR + UNFAIR_SLACK)
		return pick_random(mask);
	if (running && next_change < n_changes && sched.steps >= changes[next_change].at) {
		sched.fibers[running - sched.fibers].priority = changes[next_change++].priority;
		best_of = 0;
	}
	if (mask == best_of)
		return best;
	best_of = mask;
	for (; mask; mask &= mask - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(mask);

		if (sched.fibers[i].priority >= priority) {
			priority = sched.fibers[i].priority;
			best = i;
		}
	}
	return best;
}

void
strategy_spawned(struct fiber *fiber)
{
	best_of = 0;
	if (strategy->kind == STRATEGY_PCT)
		fiber->priority = (uint32_t)(random_next() >> 32) | 1u << 31;
}

/* ---- depth-first search ---- */

struct node {
	uint32_t left; /* choices not taken yet */
	uint8_t chosen;
	bool fault;
};

static struct node nodes[NODES];
static unsigned int n_nodes, at_node;

/* States entered: a hash with the preemptions that were left, in the low byte, when it was. */
static uint64_t *states;
static uint32_t n_slots, n_states;

static void
states_reset(uint32_t slots)
{
	if (slots != n_slots) {
		free(states);
		states = malloc(slots * sizeof *states);
		if (!states)
			abort();
		n_slots = slots;
	}
	for (uint32_t i = 0; i < n_slots; i++)
		states[i] = 0;
	n_states = 0;
}

static bool states_enter(uint64_t key, unsigned int left);

static void
states_grow(void)
{
	uint64_t *old = states;
	uint32_t n = n_slots;

	states = NULL;
	states_reset(2 * n);
	for (uint32_t i = 0; i < n; i++)
		if (old[i])
			(void)states_enter(old[i] & ~0xffull, old[i] & 0xff);
	free(old);
}

/* False: was entered with as many preemptions left, so nothing new is behind it. */
static bool
states_enter(uint64_t key, unsigned int left)
{
	uint64_t entry = (key & ~0xffull) | left;
	uint32_t i = (uint32_t)(key >> 32) & (n_slots - 1);

	for (; states[i]; i = (i + 1) & (n_slots - 1)) {
		if ((states[i] ^ entry) & ~0xffull)
			continue;
		if ((states[i] & 0xff) >= left)
			return false;
		states[i] = entry;
		return true;
	}
	if (n_states >= n_slots / 4 * 3) {
		if (n_slots >= STATES_LAST)
			return true; /* forgotten, which costs time alone */
		states_grow();
		return states_enter(key, left);
	}
	states[i] = entry;
	n_states++;
	return true;
}

uint64_t
strategy_states(void)
{
	return n_states;
}

static uint64_t
state_key(const struct fiber *running)
{
	uint64_t key = 0x9ddfea08eb382d69ull, h;

	for (unsigned int i = 0; i < sched.n_fibers; i++) {
		h = sched.fibers[i].hash + 0x9e3779b97f4a7c15ull * (sched.fibers[i].kin + 1);
		h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ull;
		key += h ^ h >> 29;
	}
	key += running ? (running->hash + running->kin + 1) * 0xd6e8feb86659fd93ull : 0;
	key += (uint64_t)sched.faults * 0xa0761d6478bd642full;
	key = (key ^ key >> 32) * 0x94d049bb133111ebull;
	return key ^ key >> 31 ? key ^ key >> 31 : 1;
}

#define PRUNE 255u

static unsigned int
node_next(uint32_t choices, unsigned int first, bool fault)
{
	struct node *node;

	if (at_node == n_nodes) {
		if (n_nodes == NODES)
			return first;
		node = &nodes[n_nodes++];
		*node = (struct node){ choices & ~(1u << first), (uint8_t)first, fault };
	}
	return nodes[at_node++].chosen;
}

static unsigned int
pick_dfs(uint32_t mask, const struct fiber *running)
{
	int left = strategy->bound - (int)sched.preemptions;

	if (left <= 0) {
		if (running)
			return (unsigned int)(running - sched.fibers);
		mask &= ~(1u << CLOCK);
	}
	if (at_node == n_nodes && !states_enter(state_key(running), (unsigned int)left + 1))
		return PRUNE;
	return node_next(mask, strategy_default(mask, running), false);
}

void
sched_dfs_reset(void)
{
	n_nodes = at_node = 0;
	states_reset(STATES_FIRST);
}

bool
sched_dfs_next(void)
{
	struct node *node;

	while (n_nodes) {
		node = &nodes[n_nodes - 1];
		if (node->left) {
			node->chosen = (uint8_t)__builtin_ctz(node->left);
			node->left &= node->left - 1;
			return true;
		}
		n_nodes--;
	}
	return false;
}

/* ---- a list ---- */

static const struct deviation *
listed(const struct fiber *at, bool fault)
{
	for (unsigned int i = 0; i < strategy->n_list; i++) {
		const struct deviation *d = &strategy->list[i];

		if (&sched.fibers[d->fiber] == at && d->fault == fault &&
		    (fault ? d->op == at->faults : d->op == at->ops && d->pick == at->picks))
			return d;
	}
	return NULL;
}

static unsigned int
pick_list(uint32_t mask, const struct fiber *running, const struct fiber *at)
{
	const struct deviation *d = listed(at, false);

	if (d && mask & 1u << d->choice)
		return d->choice;
	return strategy_default(mask, running);
}

static void
record(const struct fiber *at, bool fault, unsigned int choice)
{
	if (n_recorded == DEVIATIONS) {
		recorded_overflow = true;
		return;
	}
	recorded[n_recorded++] = (struct deviation){
		.fiber = (uint8_t)(at - sched.fibers),
		.fault = fault,
		.pick = fault ? 0 : (uint8_t)at->picks,
		.choice = (uint8_t)choice,
		.op = fault ? at->faults : at->ops,
	};
}

/* ---- any of them ---- */

void
strategy_begin(struct strategy *s, uint64_t seed)
{
	strategy = s;
	n_recorded = 0;
	recorded_overflow = false;
	at_node = 0;
	if (s->kind == STRATEGY_RANDOM || s->kind == STRATEGY_PCT)
		random_begin(seed);
}

unsigned int
strategy_default(uint32_t mask, const struct fiber *running)
{
	uint32_t fibers = mask & ~(1u << CLOCK);

	if (running)
		return (unsigned int)(running - sched.fibers);
	return fibers ? (unsigned int)__builtin_ctz(fibers) : CLOCK;
}

bool
strategy_passes_minor(void)
{
	return strategy->kind == STRATEGY_DFS || (strategy->kind != STRATEGY_LIST && coarse);
}

unsigned int
strategy_pick(uint32_t mask, const struct fiber *running, const struct fiber *at)
{
	unsigned int choice = 0;

	switch (strategy->kind) {
	case STRATEGY_RANDOM:
		choice = pick_random(mask);
		break;
	case STRATEGY_PCT:
		choice = pick_pct(mask, running);
		break;
	case STRATEGY_DFS:
		choice = pick_dfs(mask, running);
		break;
	case STRATEGY_LIST:
		choice = pick_list(mask, running, at);
		break;
	}
	if (sched.recording && choice != PRUNE && choice != strategy_default(mask, running))
		record(at, false, choice);
	return choice;
}

int
strategy_fault(int n, const struct fiber *at)
{
	const struct deviation *d;
	int choice = 0;

	switch (strategy->kind) {
	case STRATEGY_RANDOM:
	case STRATEGY_PCT:
		for (unsigned int i = 0; i < n_fault_at; i++)
			if (fault_at[i] == sched.fault_points)
				choice = 1 + (int)random_below((uint32_t)n - 1);
		break;
	case STRATEGY_DFS:
		if (sched.faults < strategy->max_faults)
			choice = (int)node_next((1u << n) - 1, 0, true);
		break;
	case STRATEGY_LIST:
		d = listed(at, true);
		choice = d && d->choice < n ? d->choice : 0;
		break;
	}
	if (sched.recording && choice)
		record(at, true, (unsigned int)choice);
	return choice;
}
