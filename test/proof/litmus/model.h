/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model -- what a few threads may see of each other, by the axioms of a memory model
 *
 * A shape is a few accesses of a few threads.  Every candidate execution of it is made: each read
 * takes its value from each store to its word, each word gets its stores in each order, and steps
 * are left out whose condition does not hold.  Those that the model allows are counted, and those
 * of them in which the shape goes wrong.  The models:
 *
 *   MODEL_C11    C11 as repaired (RC11): happens-before, coherence, atomicity, the order of
 *                sequentially consistent accesses and fences, no value out of thin air; and a race
 *                of plain accesses is an error by itself
 *   MODEL_ARM    ARMv8 (multi-copy atomic), for what compilers make of each order: LDAR and STLR
 *                for seq_cst, LDAPR and STLR for acquire and release, exclusive pairs for what both
 *                reads and writes, DMB for fences.  No dependency of address, data or control
 *                counts, since a compiler may remove it: so it allows more than a processor
 */
#ifndef REARM_LITMUS_MODEL_H
#define REARM_LITMUS_MODEL_H

#include <stdbool.h>

enum model { MODEL_C11, MODEL_ARM };

enum kind { END, READ, STORE, SWAP, CHANGE, FENCE };
enum order { PLAIN, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

#define STEPS 20
#define ALWAYS (-1)
#define ANY (-1)

/* A step.  The steps of a thread stand together, in their order. */
struct step {
	enum kind kind;
	enum order order;
	char word; /* a letter */
	int value; /* that is stored; a CHANGE stores it in place of `expected` only */
	/*
	 * of a CHANGE; of others the value that is waited for: an execution with another one does
	 * not count
	 */
	int expected;
	int thread;
	int after; /* 1 more than the step that must have read `if_read`; 0: it is always made */
	int if_read;
	/* 0; or 1 more than the step that this one follows, which is then of the same thread */
	int at;
};

struct outcome {
	int read[STEPS];     /* what each step read; -1 if it read nothing */
	bool present[STEPS]; /* whether it was made */
};

struct verdict {
	unsigned long allowed, wrong, races;
};

/* All words are 0 before. */
void model_run(enum model model, const struct step *steps, int n,
    bool (*wrong)(const struct outcome *o), struct verdict *verdict);

#endif
