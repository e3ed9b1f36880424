/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * axioms -- the lock-free parts of the library, as shapes, by the axioms of C11 and of ARMv8
 *
 * Each shape is checked three times by each model: with the orders that the code asks for, and with
 * the weakest that are needed, nothing goes wrong; and with any one of those made weaker something
 * does.  So the table of doc/locking.md says no more than is needed, and a shape that cannot go
 * wrong would be noticed.  check-orders ties the shapes to the code.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"

static const char usage[] = "usage: axioms [SHAPE]...\n";

struct part {
	struct step step; /* with the order of the code */
	enum order needs;
};

struct shape {
	const char *name, *says;
	bool (*wrong)(const struct outcome *o);
	bool arm_only; /* of accesses by other processes, about which C11 says nothing */
	struct part parts[STEPS];
};

/* Of thread t; `expected` of a swap is what it waits for. */
#define LOAD(t, word, order, needs) \
	{ \
		{ READ, order, word, 0, ANY, t, 0, 0, 0 }, needs \
	}
#define PUT(t, word, value, order, needs) \
	{ \
		{ STORE, order, word, value, ANY, t, 0, 0, 0 }, needs \
	}
#define XCHG(t, word, value, order, needs) \
	{ \
		{ SWAP, order, word, value, ANY, t, 0, 0, 0 }, needs \
	}
#define TAKE(t, word, from, to, order, needs) \
	{ \
		{ SWAP, order, word, to, from, t, 0, 0, 0 }, needs \
	}
#define BARRIER(t, order, needs) \
	{ \
		{ FENCE, order, 0, 0, ANY, t, 0, 0, 0 }, needs \
	}
/* The same, if step `on` of this shape has read `value`. */
#define LOAD_IF(t, word, order, needs, on, value) \
	{ \
		{ READ, order, word, 0, ANY, t, (on) + 1, value, 0 }, needs \
	}
#define PUT_IF(t, word, to, order, needs, on, value) \
	{ \
		{ STORE, order, word, to, ANY, t, (on) + 1, value, 0 }, needs \
	}
#define XCHG_IF(t, word, to, order, needs, on, value) \
	{ \
		{ SWAP, order, word, to, ANY, t, (on) + 1, value, 0 }, needs \
	}
#define CAS_IF(t, word, from, to, order, needs, on, value) \
	{ \
		{ CHANGE, order, word, to, from, t, (on) + 1, value, 0 }, needs \
	}

/*
 * The writer finds no alarm, and the reader no frame; or the reader finds one that is not written.
 */
static bool
alarm_is_lost(const struct outcome *o)
{
	return (o->read[2] == 0 && o->read[4] == 0) || o->read[5] == 0;
}

/*
 * The writer finds no room, and the reader no writer to notify; or a frame is overwritten that is
 * being read.
 */
static bool
room_is_lost(const struct outcome *o)
{
	return (o->read[1] == 0 && o->read[6] == 0) || o->read[4] == 2;
}

static bool
event_is_lost(const struct outcome *o)
{
	return o->read[2] == 0 && o->read[7] == 0;
}

/* A snapshot whose two numbers are equal, and that has words of another. */
static bool
snapshot_is_torn(const struct outcome *o)
{
	return o->read[4] == o->read[9] && (o->read[6] != o->read[4] || o->read[7] != o->read[4]);
}

static bool
section_is_torn(const struct outcome *o)
{
	return o->read[5] != o->read[6];
}

/*
 * The lock is HELD (0) at first.  The kernel finds it WAITED (1), and the thread that drops it (2)
 * did not.
 */
static bool
sleeper_is_forgotten(const struct outcome *o)
{
	return o->read[1] == 0 && o->read[2] == 1 && o->read[0] != 1;
}

/* The owner sleeps (1), and no thread wakes it that found it so. */
static bool
park_is_forgotten(const struct outcome *o)
{
	return o->read[5] == 1 && o->read[9] != 1;
}

static bool
entry_is_torn(const struct outcome *o)
{
	return o->read[5] >= 0 && o->read[5] != 1;
}

static bool
slot_is_raw(const struct outcome *o)
{
	return o->read[3] == 0;
}

/* A handle with its tag, and a slot or a serial number from before it had that tag. */
static bool
handle_is_torn(const struct outcome *o)
{
	return (o->read[7] == 1 && (o->read[8] < 1 || o->read[9] < 1)) ||
	       (o->read[7] == 2 && (o->read[8] < 2 || o->read[9] < 2));
}

/* The reader of the lock sees its writer (0) still, and the writer no sleeper. */
static bool
reader_is_forgotten(const struct outcome *o)
{
	return o->read[1] == 0 && o->read[3] == 0;
}

static bool
grant_is_late(const struct outcome *o)
{
	return o->read[3] == 1 && o->read[4] == 0;
}

/* ---- shapes with published verdicts, which check the models ---- */

static bool
both_are_late(const struct outcome *o)
{
	return o->read[1] == 0 && o->read[3] == 0;
}

static bool
both_are_late_by_fences(const struct outcome *o)
{
	return o->read[2] == 0 && o->read[5] == 0;
}

static bool
message_is_stale(const struct outcome *o)
{
	return o->read[2] == 1 && o->read[3] == 0;
}

static bool
message_is_stale_by_fences(const struct outcome *o)
{
	return o->read[3] == 1 && o->read[5] == 0;
}

static bool
loads_are_early(const struct outcome *o)
{
	return o->read[0] == 1 && o->read[2] == 1;
}

static bool
word_goes_back(const struct outcome *o)
{
	return o->read[1] == 1 && o->read[2] == 0;
}

/* Two readers see two stores in different orders. */
static bool
readers_differ(const struct outcome *o)
{
	return o->read[2] == 1 && o->read[3] == 0 && o->read[4] == 1 && o->read[5] == 0;
}

static const struct known {
	struct shape shape;
	bool c11, arm; /* whether each allows it */
} known[] = {
	{ { "store-buffer", "acquire and release", both_are_late, false,
	      { PUT(0, 'x', 1, RELEASE, 0), LOAD(0, 'y', ACQUIRE, 0), PUT(1, 'y', 1, RELEASE, 0),
		  LOAD(1, 'x', ACQUIRE, 0) } },
	    true, true },
	{ { "store-buffer", "seq_cst", both_are_late, false,
	      { PUT(0, 'x', 1, SEQ_CST, 0), LOAD(0, 'y', SEQ_CST, 0), PUT(1, 'y', 1, SEQ_CST, 0),
		  LOAD(1, 'x', SEQ_CST, 0) } },
	    false, false },
	{ { "store-buffer", "relaxed, with fences", both_are_late_by_fences, false,
	      { PUT(0, 'x', 1, RELAXED, 0), BARRIER(0, SEQ_CST, 0), LOAD(0, 'y', RELAXED, 0),
		  PUT(1, 'y', 1, RELAXED, 0), BARRIER(1, SEQ_CST, 0), LOAD(1, 'x', RELAXED, 0) } },
	    false, false },
	{ { "message", "relaxed", message_is_stale, false,
	      { PUT(0, 'x', 1, RELAXED, 0), PUT(0, 'y', 1, RELAXED, 0), LOAD(1, 'y', RELAXED, 0),
		  LOAD(1, 'x', RELAXED, 0) } },
	    true, true },
	{ { "message", "release and acquire", message_is_stale, false,
	      { PUT(0, 'x', 1, RELAXED, 0), PUT(0, 'y', 1, RELEASE, 0), LOAD(1, 'y', ACQUIRE, 0),
		  LOAD(1, 'x', RELAXED, 0) } },
	    false, false },
	{ { "message", "relaxed, with fences", message_is_stale_by_fences, false,
	      { PUT(0, 'x', 1, RELAXED, 0), BARRIER(0, RELEASE, 0), PUT(0, 'y', 1, RELAXED, 0),
		  LOAD(1, 'y', RELAXED, 0), BARRIER(1, ACQUIRE, 0), LOAD(1, 'x', RELAXED, 0) } },
	    false, false },
	{ { "load-buffer", "relaxed", loads_are_early, false,
	      { LOAD(0, 'x', RELAXED, 0), PUT(0, 'y', 1, RELAXED, 0), LOAD(1, 'y', RELAXED, 0),
		  PUT(1, 'x', 1, RELAXED, 0) } },
	    false, true },
	{ { "coherence", "two loads of a word", word_goes_back, false,
	      { PUT(0, 'x', 1, RELAXED, 0), LOAD(1, 'x', RELAXED, 0), LOAD(1, 'x', RELAXED, 0) } },
	    false, false },
	{ { "two-readers", "acquire and release", readers_differ, false,
	      { PUT(0, 'x', 1, RELEASE, 0), PUT(1, 'y', 1, RELEASE, 0), LOAD(2, 'x', ACQUIRE, 0),
		  LOAD(2, 'y', ACQUIRE, 0), LOAD(3, 'y', ACQUIRE, 0), LOAD(3, 'x', ACQUIRE, 0) } },
	    true, false },
	{ { "two-readers", "seq_cst", readers_differ, false,
	      { PUT(0, 'x', 1, SEQ_CST, 0), PUT(1, 'y', 1, SEQ_CST, 0), LOAD(2, 'x', SEQ_CST, 0),
		  LOAD(2, 'y', SEQ_CST, 0), LOAD(3, 'y', SEQ_CST, 0), LOAD(3, 'x', SEQ_CST, 0) } },
	    false, false },
};

#define KNOWN (sizeof known / sizeof known[0])

/* ---- the shapes of the library ---- */

static const struct shape shapes[] = {
	{ "alarm", "the alarm of a ring, the arm of a queue without a lock", alarm_is_lost, false,
	    { PUT(0, 'd', 1, PLAIN, PLAIN), PUT(0, 'w', 1, SEQ_CST, SEQ_CST),
		LOAD(0, 'a', SEQ_CST, SEQ_CST), PUT(1, 'a', 1, SEQ_CST, SEQ_CST),
		LOAD(1, 'w', SEQ_CST, SEQ_CST), LOAD_IF(1, 'd', PLAIN, PLAIN, 4, 1) } },
	{ "room", "the writer of a ring that waits for room", room_is_lost, false,
	    { PUT(0, 'f', 1, SEQ_CST, SEQ_CST), LOAD(0, 'r', SEQ_CST, SEQ_CST),
		LOAD_IF(0, 'r', ACQUIRE, RELAXED, 1, 1), PUT_IF(0, 'd', 2, PLAIN, PLAIN, 2, 1),
		LOAD(1, 'd', PLAIN, PLAIN), PUT(1, 'r', 1, SEQ_CST, SEQ_CST),
		LOAD(1, 'f', SEQ_CST, SEQ_CST) } },
	{ "queue", "arm and poll of softverbs, push in one section of the lock", event_is_lost,
	    false,
	    { TAKE(0, 'l', 0, 1, ACQUIRE, ACQUIRE), PUT(0, 't', 1, RELAXED, RELAXED),
		LOAD(0, 'a', PLAIN, PLAIN), XCHG(0, 'l', 0, RELEASE, RELEASE),
		TAKE(1, 'l', 0, 1, ACQUIRE, ACQUIRE), PUT(1, 'a', 1, PLAIN, PLAIN),
		XCHG(1, 'l', 0, RELEASE, RELEASE), LOAD(1, 't', RELAXED, RELAXED) } },
	{ "page", "a snapshot of the statistics page", snapshot_is_torn, false,
	    { PUT(0, 'b', 1, RELEASE, RELAXED), PUT(0, 'd', 1, RELEASE, RELEASE),
		PUT(0, 'c', 1, RELEASE, RELEASE), PUT(0, 'e', 1, RELEASE, RELEASE),
		LOAD(1, 'e', RELAXED, RELAXED), BARRIER(1, SEQ_CST, ACQUIRE),
		LOAD(1, 'c', RELAXED, RELAXED), LOAD(1, 'd', RELAXED, RELAXED),
		BARRIER(1, SEQ_CST, ACQUIRE), LOAD(1, 'b', RELAXED, RELAXED) } },
	{ "lock", "two sections of a lock", section_is_torn, false,
	    { TAKE(0, 'l', 0, 1, SEQ_CST, ACQUIRE), PUT(0, 'd', 1, PLAIN, PLAIN),
		PUT(0, 'e', 1, PLAIN, PLAIN), XCHG(0, 'l', 0, SEQ_CST, RELEASE),
		TAKE(1, 'l', 0, 1, SEQ_CST, ACQUIRE), LOAD(1, 'e', PLAIN, PLAIN),
		LOAD(1, 'd', PLAIN, PLAIN), XCHG(1, 'l', 0, SEQ_CST, RELEASE) } },
	{ "lock-sleep", "a thread that sleeps for a lock", sleeper_is_forgotten, false,
	    { XCHG(0, 'l', 2, SEQ_CST, RELAXED), XCHG(1, 'l', 1, SEQ_CST, RELAXED),
		LOAD_IF(1, 'l', RELAXED, RELAXED, 1, 0) } },
	{ "park", "a thread that sleeps in its park", park_is_forgotten, false,
	    { TAKE(0, 'l', 0, 1, ACQUIRE, ACQUIRE), LOAD(0, 'c', PLAIN, PLAIN),
		PUT(0, 'q', 1, PLAIN, PLAIN), PUT(0, 'l', 0, RELEASE, RELEASE),
		CAS_IF(0, 'f', 0, 1, SEQ_CST, RELAXED, 1, 0),
		LOAD_IF(0, 'f', RELAXED, RELAXED, 4, 0), TAKE(1, 'l', 0, 1, ACQUIRE, ACQUIRE),
		PUT(1, 'c', 1, PLAIN, PLAIN), LOAD(1, 'q', PLAIN, PLAIN),
		XCHG_IF(1, 'f', 2, SEQ_CST, RELAXED, 8, 1), PUT(1, 'l', 0, RELEASE, RELEASE) } },
	{ "requests", "the ring of posted requests", entry_is_torn, false,
	    { PUT(0, 'x', 1, PLAIN, PLAIN), PUT(0, 't', 1, RELEASE, RELEASE),
		LOAD(0, 'h', ACQUIRE, ACQUIRE), PUT_IF(0, 'x', 2, PLAIN, PLAIN, 2, 1),
		LOAD(1, 't', ACQUIRE, ACQUIRE), LOAD_IF(1, 'x', PLAIN, PLAIN, 4, 1),
		PUT_IF(1, 'h', 1, RELEASE, RELEASE, 4, 1) } },
	{ "publish", "what is made, then published: slots, ranges, connections", slot_is_raw, false,
	    { PUT(0, 'x', 1, PLAIN, PLAIN), PUT(0, 'p', 1, RELEASE, RELEASE),
		LOAD(1, 'p', ACQUIRE, ACQUIRE), LOAD_IF(1, 'x', PLAIN, PLAIN, 2, 1) } },
	{ "handle", "a handle whose cell is used again", handle_is_torn, false,
	    { PUT(0, 's', 1, RELAXED, RELAXED), PUT(0, 'o', 1, RELAXED, RELAXED),
		PUT(0, 't', 1, RELEASE, RELEASE), PUT(0, 't', 0, RELEASE, RELAXED),
		PUT(0, 's', 2, RELAXED, RELAXED), PUT(0, 'o', 2, RELAXED, RELAXED),
		PUT(0, 't', 2, RELEASE, RELEASE), LOAD(1, 't', ACQUIRE, ACQUIRE),
		LOAD(1, 's', RELAXED, RELAXED), LOAD(1, 'o', RELAXED, RELAXED) } },
	{ "readers", "a reader that sleeps for a lock of readers and writers", reader_is_forgotten,
	    false,
	    { XCHG(0, 'n', 1, SEQ_CST, SEQ_CST), LOAD(0, 's', SEQ_CST, SEQ_CST),
		XCHG(1, 's', 1, SEQ_CST, SEQ_CST), LOAD(1, 'n', SEQ_CST, SEQ_CST) } },
	{ "grant", "a key is revoked before what is stored next", grant_is_late, true,
	    { XCHG(0, 'n', 1, SEQ_CST, RELEASE), LOAD(0, 'n', SEQ_CST, SEQ_CST),
		PUT(0, 'x', 1, RELAXED, RELAXED), LOAD(1, 'x', ACQUIRE, ACQUIRE),
		LOAD(1, 'n', RELAXED, RELAXED) } },
};

#define SHAPES (sizeof shapes / sizeof shapes[0])

static const char *const order_names[] = { "plain", "relaxed", "acquire", "release", "acq_rel",
	"seq_cst" };

/* The orders one below it, at most two; returns how many. */
static int
weaker(const struct step *step, enum order below[2])
{
	const enum order order = step->order;
	const bool both = step->kind == SWAP || step->kind == CHANGE || step->kind == FENCE;

	below[0] = below[1] = RELAXED;
	if (order == SEQ_CST)
		below[0] = both ? ACQ_REL : step->kind == READ ? ACQUIRE : RELEASE;
	else if (order == ACQ_REL)
		below[0] = ACQUIRE, below[1] = RELEASE;
	return order <= RELAXED ? 0 : order == ACQ_REL ? 2 : 1;
}

static int passed, failed;

/* Of the weaker forms of a shape: all, and those that go wrong. */
struct tally {
	unsigned int all, c11, arm;
};

static void
count(bool right, const char *shape, const char *what, const char *detail, const struct verdict *v)
{
	passed += right;
	failed += !right;
	if (!right)
		printf("FAIL  %s: %s %s: %lu executions, %lu wrong, %lu with a race\n", shape, what,
		    detail, v->allowed, v->wrong, v->races);
}

/* Makes step i of `steps` weaker, and expects that something goes wrong. */
static void
weaken(
    const struct shape *s, struct step *steps, int n, int i, const char *how, struct tally *tally)
{
	struct verdict c11 = { 0 }, arm;
	char detail[80];

	snprintf(detail, sizeof detail, "(step %d %s)", i, how);
	model_run(MODEL_ARM, steps, n, s->wrong, &arm);
	if (!s->arm_only)
		model_run(MODEL_C11, steps, n, s->wrong, &c11);
	count((s->arm_only ? arm.wrong : c11.wrong) > 0, s->name, "goes wrong when weakened",
	    detail, s->arm_only ? &arm : &c11);
	tally->all++;
	tally->c11 += c11.wrong > 0;
	tally->arm += arm.wrong > 0;
}

static void
check(const struct shape *s)
{
	struct step code[STEPS], least[STEPS];
	struct tally tally = { 0 };
	struct verdict v;
	enum order below[2];
	int n = 0;

	for (; n < STEPS && s->parts[n].step.kind != END; n++) {
		code[n] = least[n] = s->parts[n].step;
		least[n].order = s->parts[n].needs;
	}
	for (int i = 0; i < 2; i++) {
		const struct step *steps = i == 0 ? code : least;
		const char *what = i == 0 ? "as the code has it" : "with what is needed";

		if (!s->arm_only) {
			model_run(MODEL_C11, steps, n, s->wrong, &v);
			count(v.allowed > 0 && v.wrong == 0, s->name, what, "(C11)", &v);
		}
		model_run(MODEL_ARM, steps, n, s->wrong, &v);
		count(v.allowed > 0 && v.wrong == 0, s->name, what, "(ARMv8)", &v);
	}
	for (int i = 0; i < n; i++) {
		const struct step kept = least[i];

		for (int k = weaker(&kept, below); k-- > 0;) {
			least[i].order = below[k];
			weaken(s, least, n, i, order_names[below[k]], &tally);
		}
		least[i] = kept;
		/* A swap that only needs to be one, and one that takes a lock. */
		if (kept.kind == CHANGE ||
		    (kept.kind == SWAP && (kept.order == RELAXED || kept.expected != ANY))) {
			least[i].kind = READ;
			least[n] = kept;
			least[n].kind = STORE;
			least[n].at = i + 1;
			if (kept.kind == CHANGE) {
				least[n].after = i + 1;
				least[n].if_read = kept.expected;
				least[i].expected = ANY;
			}
			weaken(s, least, n + 1, i, "in two", &tally);
			least[i] = kept;
		}
	}
	printf("%-10s  %2d steps; %2u made weaker: wrong by C11 %2u, by ARMv8 %2u: %s\n", s->name,
	    n, tally.all, tally.c11, tally.arm, s->says);
}

static void
check_known(const struct known *k)
{
	struct step steps[STEPS];
	struct verdict v;
	int n = 0;

	for (; n < STEPS && k->shape.parts[n].step.kind != END; n++)
		steps[n] = k->shape.parts[n].step;
	model_run(MODEL_C11, steps, n, k->shape.wrong, &v);
	count((v.wrong > 0) == k->c11, k->shape.name, k->shape.says, "(C11)", &v);
	model_run(MODEL_ARM, steps, n, k->shape.wrong, &v);
	count((v.wrong > 0) == k->arm, k->shape.name, k->shape.says, "(ARMv8)", &v);
}

static bool
chosen(const char *name, char **names, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return n == 0;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] == '-') {
		const bool help = strcmp(argv[1], "--help") == 0;

		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	for (size_t i = 0; i < KNOWN; i++)
		check_known(&known[i]);
	for (size_t i = 0; i < SHAPES; i++)
		if (chosen(shapes[i].name, argv + 1, argc - 1))
			check(&shapes[i]);
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0 || passed == 0;
}
