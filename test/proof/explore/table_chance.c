/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_chance -- random scenarios
 *
 * The tables contain only what their authors thought of. Here objects, threads and actions are
 * combined at random. Each scenario has a seed, its number, so the same draw always gives the same
 * scenarios. They are played under random strategies only: they have too many states for a search.
 */
#include <stdio.h>
#include <string.h>

#include "family.h"
#include "lot.h"

#define SCENARIOS 2000

struct text {
	char setup[256], actors[512];
	int evds, cnos;
	/*
	 * The events of the first EVD are taken by one thread, which does not change, because their
	 * order is checked: by its upcalls, or by the first thread.
	 */
	bool ordered, called;
	bool bare;	   /* the EVDs begin without room for posted events */
	unsigned int held; /* endpoints whose receives are held at the first EVD, a bit each */
};

#define ADD_SETUP(t, ...) lot_add((t)->setup, sizeof(t)->setup, __VA_ARGS__)
#define ADD_ACTS(t, ...) lot_add((t)->actors, sizeof(t)->actors, __VA_ARGS__)

static void
draw_ordered(struct text *t)
{
	static const char *const holds[] = { "", ",hold.e", ",hold.f", ",hold.e,hold.f" };

	t->held = lot_draw(4);
	ADD_SETUP(t, "a=%s%s%s", lot_one_in(2) ? "cq" : "private", t->called ? ",single" : "",
	    holds[t->held]);
	if (lot_one_in(2))
		ADD_SETUP(t, ",q%u,d8", 1 + lot_draw(4));
	ADD_SETUP(t, "%s ", t->bare ? ",bare" : "");
}

static void
draw_evd(struct text *t, int number)
{
	static const char *const bases[] = { "cq", "cq", "private", "sw" };
	static const char *const policies[] = { "", ",single", ",single", ",norify", ",many" };
	const char *base = bases[lot_draw(4)];

	if (t->ordered && number == 0)
		return draw_ordered(t);
	ADD_SETUP(t, "%c=%s,mixed%s", 'a' + number, base, policies[lot_draw(5)]);
	if (t->cnos && lot_one_in(2))
		ADD_SETUP(t, ",%c", 'n' + (int)lot_draw((unsigned int)t->cnos));
	if (lot_one_in(3))
		ADD_SETUP(t, ",q%u", 1 + lot_draw(4));
	if (lot_one_in(4))
		ADD_SETUP(t, "%s", lot_one_in(2) ? ",array1" : ",array");
	if (base[0] == 's')
		goto end;
	if (lot_one_in(6))
		ADD_SETUP(t, ",unsignalled");
	if (lot_one_in(8))
		ADD_SETUP(t, ",solicited");
	if (lot_one_in(8))
		ADD_SETUP(t, ",effect");
	if (lot_one_in(8))
		ADD_SETUP(t, ",exact");
	if (lot_one_in(8))
		ADD_SETUP(t, ",backlog%u", 1 + lot_draw(3));
end:
	ADD_SETUP(t, "%s ", t->bare ? ",bare" : "");
}

/* Whether the thread may do that to the EVD whose order is judged. */
static bool
keeps_order(const struct text *t, const char *action, bool takes)
{
	static const char *const any[] = { "post", "query", "wrong", "refresh", "resize", "depth" };
	static const char *const taking[] = { "dequeue", "drain", "wait" };

	for (unsigned int i = 0; i < sizeof any / sizeof *any; i++)
		if (!strncmp(action, any[i], strlen(any[i])))
			return true;
	for (unsigned int i = 0; takes && !t->called && i < sizeof taking / sizeof *taking; i++)
		if (!strncmp(action, taking[i], strlen(taking[i])))
			return true;
	return false;
}

/* Not `inside` an upcall or agent: several threads would post as one actor, in an unknown order. */
static void
draw_action(struct text *t, bool first, bool inside)
{
	/* As in lot_add_action(); those that post come first. */
	static const char *const actions[] = {
		"post %",
		"post %",
		"post % 2",
		"purge %",
		"single %",
		"single % another",
		"norify %",
		"norify % another",
		"many %",
		"single % new",
		"norify % new",
		"rearm %",
		"disable %",
		"disable %",
		"teardown %",
		"free %",
		"free %",
		"reopen %",
		"reopen %",
		"see %",
		"query %",
		"wrong %",
		"refresh %",
		"dequeue %",
		"drain %",
		"wait % 1 50",
		"wait % 1 100",
		"wait % 2 100",
		"wait % 1 5000000",
		"overflow %",
		"unwaitable %",
		"waitable %",
		"resize % 1",
		"resize % 2",
		"resize % 4",
		"resize % 12",
		"depth % 3",
		"depth % 7",
		"attach % #",
		"attach % #",
		"detach %",
		"on %",
		"off %",
		"cwait # 50",
		"cwait # 200",
		"agent #",
		"agent #",
		"noagent #",
		"cfree #",
		"cabrupt #",
		"creopen #",
		"csee #",
		"cquery #",
		"trigger #",
		"trigger #",
		"trywait #",
		"trywait #",
		"source",
		"source",
	};
	const unsigned int n = sizeof actions / sizeof *actions, posts = inside ? 3 : 0;
	const char *action = actions[posts + lot_draw(n - posts)];
	const char evd = (char)('a' + lot_draw((unsigned int)t->evds));

	if (strchr(action, '#') && !t->cnos)
		action = "dequeue %";
	if (t->ordered && evd == 'a' && strchr(action, '%') && !keeps_order(t, action, first))
		action = inside ? "query %" : "post %";
	lot_add_action(t->actors, sizeof t->actors, action, evd, (unsigned int)t->cnos, 0);
}

static void
draw_actions(struct text *t, const char *actor, unsigned int most, bool inside)
{
	ADD_ACTS(t, " | %s: ", actor);
	for (unsigned int n = 1 + lot_draw(most); n; n--) {
		draw_action(t, actor[0] == 'x', inside);
		if (n > 1)
			ADD_ACTS(t, "; ");
	}
}

/*
 * Only one thread posts the events of an endpoint, since the order of two would be unknown. An
 * endpoint whose receives are held is established first.
 */
static void
draw_connections(struct text *t)
{
	static const char *const actions[] = { "barrier", "established", "again", "leave" };
	const unsigned int holds = t->ordered ? t->held : 0;
	unsigned int held = holds;

	ADD_ACTS(t, " | cm: ");
	for (unsigned int n = 1 + lot_draw(6); n; n--) {
		/* Most happens where it is judged best. */
		const int evd =
		    t->ordered && lot_draw(3) ? 0 : (int)lot_draw((unsigned int)t->evds);
		const int ep = lot_one_in(3) ? 1 : 0;
		const bool first = evd == 0 && held >> ep & 1;
		const unsigned int action = first ? 1 : lot_draw(4);

		ADD_ACTS(t, "%s %c.%c", actions[action], 'a' + evd, 'e' + ep);
		if (first)
			held &= ~(1u << ep);
		else if (evd == 0 && action == 2)
			held |= holds & 1u << ep;
		if (n > 1)
			ADD_ACTS(t, "; ");
	}
}

/* No more than a device queue holds. */
static void
draw_device(struct text *t)
{
	unsigned int left = 7;

	ADD_ACTS(t, "hw: ");
	for (unsigned int n = 2 + lot_draw(4); n && left > 3; n--) {
		const char evd = (char)('a' + lot_draw((unsigned int)t->evds));
		const unsigned int burst = 2 + lot_draw(2);

		if (lot_one_in(12)) {
			ADD_ACTS(t, "spurious %c; ", evd);
		} else if (lot_one_in(3)) {
			ADD_ACTS(t, "burst %c %u; ", evd, burst);
			left -= burst;
		} else {
			ADD_ACTS(t, "c %c.%c; ", evd, lot_one_in(3) ? 'f' : 'e');
			left--;
		}
	}
}

static void
draw_scenario(unsigned int number)
{
	struct text t = { .bare = number % 4 == 1 };
	char name[32];
	const struct scenario_text text = { name, t.setup, t.actors };
	static const char *const threads[] = { "x", "y", "z" };
	static const char *const kinds[] = { "", "=agent", "=agent", "=fd" };

	lot_begin(number);
	snprintf(name, sizeof name, "chance/%u", number);
	t.cnos = (int)lot_draw(3);
	t.evds = 1 + (int)lot_draw(3);
	t.ordered = lot_one_in(3);
	t.called = lot_one_in(2);
	for (int i = 0; i < t.evds; i++)
		draw_evd(&t, i);
	for (int i = 0; i < t.cnos; i++)
		ADD_SETUP(&t, "%c%s ", 'n' + i, kinds[lot_draw(4)]);
	if (lot_one_in(8))
		ADD_SETUP(&t, "faults=%s ", lot_one_in(2) ? "arm" : "poll,arm");
	draw_device(&t);
	for (unsigned int n = 1 + lot_draw(3), i = 0; i < n; i++)
		draw_actions(&t, threads[i], 5, false);
	if (t.ordered || lot_one_in(2))
		draw_connections(&t);
	for (int i = 0; i < t.evds && i < 2; i++)
		if (lot_one_in(3)) {
			char up[8];

			snprintf(up, sizeof up, "up.%c%s", 'a' + i, lot_one_in(3) ? "*" : "");
			draw_actions(&t, up, 2, true);
		}
	if (t.cnos && lot_one_in(3))
		draw_actions(&t, "agent.n", 2, true);
	if (t.cnos && lot_one_in(2))
		ADD_SETUP(&t, "lead ");
	family_add(&text)->chance = true;
}

void
table_chance_load(void)
{
	for (unsigned int i = 0; i < SCENARIOS; i++)
		draw_scenario(scenario_draw * SCENARIOS + i);
}
