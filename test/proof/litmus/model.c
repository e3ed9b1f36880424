/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A relation: row i has a bit for each j that i is before. */
typedef struct {
	uint32_t row[STEPS];
} relation;

struct candidate {
	enum model model;
	const struct step *steps;
	int n;
	bool (*wrong)(const struct outcome *o);
	struct verdict *verdict;
	/* of a read: the step that stored what it read; n: the value before all */
	int source[STEPS];
	int place[STEPS]; /* of a store: its place among those of its word, from 1 */
	struct outcome outcome;
};

static bool
reads(const struct step *s)
{
	return s->kind == READ || s->kind == SWAP || s->kind == CHANGE;
}

static bool
stores(const struct candidate *c, int i)
{
	const struct step *s = &c->steps[i];

	return c->outcome.present[i] &&
	       (s->kind == STORE || s->kind == SWAP ||
		   (s->kind == CHANGE && c->outcome.read[i] == s->expected));
}

static void
add(relation *r, int from, int to)
{
	r->row[from] |= 1u << to;
}

static bool
has(const relation *r, int from, int to)
{
	return r->row[from] >> to & 1;
}

static void
unite(relation *to, const relation *from)
{
	for (int i = 0; i < STEPS; i++)
		to->row[i] |= from->row[i];
}

static relation
compose(const relation *a, const relation *b)
{
	relation r = { { 0 } };

	for (int i = 0; i < STEPS; i++)
		for (int j = 0; j < STEPS; j++)
			if (has(a, i, j))
				r.row[i] |= b->row[j];
	return r;
}

static void
close_over(relation *r)
{
	for (int k = 0; k < STEPS; k++)
		for (int i = 0; i < STEPS; i++)
			if (has(r, i, k))
				r->row[i] |= r->row[k];
}

static bool
is_cyclic(relation r)
{
	close_over(&r);
	for (int i = 0; i < STEPS; i++)
		if (has(&r, i, i))
			return true;
	return false;
}

/* The relations that both models begin with. */
struct basis {
	relation program, of_word; /* the order of each thread, and of it what has one word */
	relation from, later,
	    before; /* reads-from, the order of stores, and reads before the next store */
};

static int
comes_at(const struct candidate *c, int i)
{
	return c->steps[i].at ? 2 * c->steps[i].at - 1 : 2 * i;
}

static void
basis_make(const struct candidate *c, struct basis *b)
{
	memset(b, 0, sizeof *b);
	for (int i = 0; i < c->n; i++) {
		if (!c->outcome.present[i])
			continue;
		if (reads(&c->steps[i]) && c->source[i] < c->n)
			add(&b->from, c->source[i], i);
		for (int j = 0; j < c->n; j++) {
			const bool same = c->steps[i].word == c->steps[j].word;
			const int seen =
			    reads(&c->steps[i]) && c->source[i] < c->n ? c->place[c->source[i]] : 0;

			if (i == j || !c->outcome.present[j])
				continue;
			if (c->steps[i].thread == c->steps[j].thread &&
			    comes_at(c, i) < comes_at(c, j)) {
				add(&b->program, i, j);
				if (same && c->steps[i].kind != FENCE && c->steps[j].kind != FENCE)
					add(&b->of_word, i, j);
			}
			if (!same || !stores(c, j))
				continue;
			if (stores(c, i) && c->place[i] < c->place[j])
				add(&b->later, i, j);
			if (reads(&c->steps[i]) && seen < c->place[j])
				add(&b->before, i, j);
		}
	}
}

/* What reads and writes does so in one step: no store comes between. */
static bool
is_atomic(const struct candidate *c)
{
	for (int i = 0; i < c->n; i++)
		if (reads(&c->steps[i]) && stores(c, i) &&
		    c->place[i] != (c->source[i] < c->n ? c->place[c->source[i]] : 0) + 1)
			return false;
	return true;
}

static bool
acquires(enum order order)
{
	return order == ACQUIRE || order == ACQ_REL || order == SEQ_CST;
}

static bool
releases(enum order order)
{
	return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

/*
 * A store that releases, or comes after a fence that does, is before what acquires it, and what
 * adds to it passes it on.
 */
static relation
c11_synchronizes(const struct candidate *c, const struct basis *b)
{
	relation sw = { { 0 } };

	for (int w = 0; w < c->n; w++) {
		uint32_t heads = 0, chain = 1u << w, tails = 0;

		if (!stores(c, w) || c->steps[w].order == PLAIN)
			continue;
		for (bool more = true; more;) {
			more = false;
			for (int i = 0; i < c->n; i++)
				for (int j = 0; j < c->n; j++)
					if ((chain >> i & 1) && !(chain >> j & 1) &&
					    has(&b->from, i, j) && stores(c, j)) {
						chain |= 1u << j;
						more = true;
					}
		}
		for (int i = 0; i < c->n; i++)
			if ((i == w || (c->steps[i].kind == FENCE && has(&b->program, i, w))) &&
			    releases(c->steps[i].order))
				heads |= 1u << i;
		for (int r = 0; r < c->n; r++) {
			if (!reads(&c->steps[r]) || !c->outcome.present[r] ||
			    c->steps[r].order == PLAIN || c->source[r] >= c->n ||
			    !(chain >> c->source[r] & 1))
				continue;
			for (int i = 0; i < c->n; i++)
				if ((i == r ||
					(c->steps[i].kind == FENCE && has(&b->program, r, i))) &&
				    acquires(c->steps[i].order))
					tails |= 1u << i;
		}
		for (int i = 0; i < c->n; i++)
			if (heads >> i & 1)
				sw.row[i] |= tails & ~(1u << i);
	}
	return sw;
}

/*
 * The order that all threads see of what is sequentially consistent: none may be both before and
 * after another.
 */
static bool
c11_is_one_order(
    const struct candidate *c, const struct basis *b, const relation *hb, const relation *eco)
{
	relation psc = { { 0 } };

	for (int i = 0; i < c->n; i++) {
		for (int j = 0; j < c->n; j++) {
			const struct step *si = &c->steps[i], *sj = &c->steps[j];
			uint32_t heads = 0, tails = 0, fences = 0, ends = 0;

			if (si->order != SEQ_CST || sj->order != SEQ_CST || i == j ||
			    !c->outcome.present[i] || !c->outcome.present[j])
				continue;
			/*
			 * An access stands for itself, a fence for what happens after it, or before
			 * it.
			 */
			heads = 1u << i | (si->kind == FENCE ? hb->row[i] : 0);
			for (int k = 0; k < c->n; k++)
				if (k == j || (sj->kind == FENCE && has(hb, k, j)))
					tails |= 1u << k;
			for (int x = 0; x < c->n; x++) {
				if (!(heads >> x & 1))
					continue;
				for (int y = 0; y < c->n; y++) {
					bool base;

					if (!(tails >> y & 1))
						continue;
					base = has(&b->program, x, y) || has(&b->later, x, y) ||
					       has(&b->before, x, y) ||
					       (has(hb, x, y) &&
						   c->steps[x].word == c->steps[y].word &&
						   c->steps[x].kind != FENCE &&
						   c->steps[y].kind != FENCE);
					/*
					 * Program order to another word, happens-before, program
					 * order from another.
					 */
					for (int p = 0; !base && p < c->n; p++)
						for (int q = 0; !base && q < c->n; q++)
							base =
							    has(&b->program, x, p) &&
							    c->steps[x].word != c->steps[p].word &&
							    (p == q || has(hb, p, q)) &&
							    has(&b->program, q, y) &&
							    c->steps[q].word != c->steps[y].word &&
							    has(hb, p, q);
					if (base)
						add(&psc, i, j);
				}
			}
			if (si->kind != FENCE || sj->kind != FENCE)
				continue;
			/*
			 * Two fences: happens-before, or what one thread saw of the other between
			 * them.
			 */
			fences = hb->row[i];
			for (int k = 0; k < c->n; k++)
				if (has(hb, k, j))
					ends |= 1u << k;
			if (has(hb, i, j))
				add(&psc, i, j);
			for (int x = 0; x < c->n; x++)
				if ((fences >> x & 1) && (eco->row[x] & ends))
					add(&psc, i, j);
		}
	}
	return !is_cyclic(psc);
}

static bool
c11_races(const struct candidate *c, const relation *hb)
{
	for (int i = 0; i < c->n; i++)
		for (int j = 0; j < i; j++)
			if (c->outcome.present[i] && c->outcome.present[j] &&
			    c->steps[i].word == c->steps[j].word &&
			    c->steps[i].thread != c->steps[j].thread && c->steps[i].kind != FENCE &&
			    c->steps[j].kind != FENCE && (stores(c, i) || stores(c, j)) &&
			    (c->steps[i].order == PLAIN || c->steps[j].order == PLAIN) &&
			    !has(hb, i, j) && !has(hb, j, i))
				return true;
	return false;
}

static bool
c11_allows(const struct candidate *c, const struct basis *b, bool *races)
{
	relation hb = b->program, eco = b->from, thin = b->program, sw = c11_synchronizes(c, b),
		 both;

	unite(&hb, &sw);
	close_over(&hb);
	unite(&eco, &b->later);
	unite(&eco, &b->before);
	close_over(&eco);
	both = compose(&hb, &eco);
	for (int i = 0; i < c->n; i++)
		if (has(&hb, i, i) || has(&both, i, i))
			return false;
	unite(&thin, &b->from);
	if (is_cyclic(thin) || !c11_is_one_order(c, b, &hb, &eco))
		return false;
	*races = c11_races(c, &hb);
	return true;
}

/*
 * What both reads and writes does so in two steps, an exclusive pair: here store i is number STEPS
 * + i.
 */
#define NODES (2 * STEPS)

static bool
arm_keeps(const struct candidate *c, const struct basis *b, int i, int j, bool load_i, bool load_j)
{
	const struct step *si = &c->steps[i], *sj = &c->steps[j];

	if (load_i && acquires(si->order)) /* LDAR, LDAPR, LDAXR */
		return true;
	if (!load_j && releases(sj->order)) /* STLR, STLXR */
		return true;
	/* STLR, then LDAR or LDAXR; an LDAPR may overtake. */
	if (!load_i && releases(si->order) && load_j &&
	    (sj->order == SEQ_CST || (acquires(sj->order) && sj->kind != READ)))
		return true;
	for (int f = 0; f < c->n; f++)
		if (c->steps[f].kind == FENCE && has(&b->program, i, f) && has(&b->program, f, j) &&
		    (releases(c->steps[f].order) || (c->steps[f].order == ACQUIRE && load_i)))
			return true; /* DMB ISH, DMB ISHLD */
	return false;
}

static bool
arm_allows(const struct candidate *c, const struct basis *b)
{
	relation coherent = b->of_word;
	uint64_t ob[NODES] = { 0 };

	unite(&coherent, &b->from);
	unite(&coherent, &b->later);
	unite(&coherent, &b->before);
	if (is_cyclic(coherent))
		return false;
	for (int x = 0; x < NODES; x++) {
		for (int y = 0; y < NODES; y++) {
			const int i = x % STEPS, j = y % STEPS;
			const bool load_i = x < STEPS, load_j = y < STEPS;
			bool before;

			if (i >= c->n || j >= c->n || !c->outcome.present[i] ||
			    !c->outcome.present[j] ||
			    !(load_i ? reads(&c->steps[i]) : stores(c, i)) ||
			    !(load_j ? reads(&c->steps[j]) : stores(c, j)))
				continue;
			if (c->steps[i].thread != c->steps[j].thread)
				before = (!load_i && load_j && has(&b->from, i, j)) ||
					 (!load_i && !load_j && has(&b->later, i, j)) ||
					 (load_i && !load_j && has(&b->before, i, j));
			else if (i == j)
				before = load_i && !load_j;
			else
				before =
				    has(&b->program, i, j) && arm_keeps(c, b, i, j, load_i, load_j);
			if (before)
				ob[x] |= (uint64_t)1 << y;
		}
	}
	for (int k = 0; k < NODES; k++)
		for (int x = 0; x < NODES; x++)
			if (ob[x] >> k & 1)
				ob[x] |= ob[k];
	for (int x = 0; x < NODES; x++)
		if (ob[x] >> x & 1)
			return false;
	return true;
}

static void
judge(struct candidate *c)
{
	struct basis b;
	bool races = false, allowed;

	if (!is_atomic(c))
		return;
	basis_make(c, &b);
	allowed = c->model == MODEL_C11 ? c11_allows(c, &b, &races) : arm_allows(c, &b);
	if (!allowed)
		return;
	c->verdict->allowed++;
	c->verdict->races += races;
	c->verdict->wrong += races || c->wrong(&c->outcome);
}

/*
 * Gives the stores of each word each order: step i gets each place that no other one of its word
 * has.
 */
static void
order_stores(struct candidate *c, int i)
{
	int count = 0;

	if (i == c->n) {
		judge(c);
		return;
	}
	if (!stores(c, i)) {
		order_stores(c, i + 1);
		return;
	}
	for (int j = 0; j < c->n; j++)
		count += stores(c, j) && c->steps[j].word == c->steps[i].word;
	for (int place = 1; place <= count; place++) {
		bool taken = false;

		for (int j = 0; j < i; j++)
			taken |= stores(c, j) && c->steps[j].word == c->steps[i].word &&
				 c->place[j] == place;
		if (taken)
			continue;
		c->place[i] = place;
		order_stores(c, i + 1);
	}
}

/* Whether the sources fit together; sets what is read and which steps are made. */
static bool
settle(struct candidate *c)
{
	for (int i = 0; i < c->n; i++) {
		const struct step *s = &c->steps[i];
		const int value = c->source[i] < c->n ? c->steps[c->source[i]].value : 0;
		const int on = s->after - 1;

		c->outcome.present[i] =
		    on < 0 || (c->outcome.present[on] && c->outcome.read[on] == s->if_read);
		c->outcome.read[i] = c->outcome.present[i] && reads(s) ? value : -1;
		/* What is not made has one source, so that it is counted once. */
		if (!c->outcome.present[i] && reads(s) && c->source[i] != c->n)
			return false;
		if (c->outcome.present[i] && s->kind != CHANGE && reads(s) && s->expected != ANY &&
		    value != s->expected)
			return false;
	}
	for (int i = 0; i < c->n; i++)
		if (reads(&c->steps[i]) && c->source[i] < c->n && !stores(c, c->source[i]))
			return false;
	return true;
}

static void
choose_sources(struct candidate *c, int i)
{
	if (i == c->n) {
		if (settle(c))
			order_stores(c, 0);
		return;
	}
	c->source[i] = c->n;
	choose_sources(c, i + 1);
	for (int j = 0; reads(&c->steps[i]) && j < c->n; j++) {
		if (j == i || c->steps[j].word != c->steps[i].word || c->steps[j].kind == READ ||
		    c->steps[j].kind == FENCE)
			continue;
		c->source[i] = j;
		choose_sources(c, i + 1);
	}
}

void
model_run(enum model model, const struct step *steps, int n, bool (*wrong)(const struct outcome *o),
    struct verdict *verdict)
{
	struct candidate c = {
		.model = model, .steps = steps, .n = n, .wrong = wrong, .verdict = verdict
	};

	*verdict = (struct verdict){ 0 };
	choose_sources(&c, 0);
}
