/* SPDX-License-Identifier: BSD-3-Clause */
/* table_chance -- scenarios of the provider that are drawn by lot; see ../table_chance.c */
#include <stdio.h>
#include <string.h>

#include "lot.h"
#include "tables.h"

#define SCENARIOS 600

struct text {
	char setup[256], actors[1024];
	bool split; /* endpoints share the first EVD with the second one */
	unsigned int evds, cnos, eps;
	bool called;	      /* events of the first EVD are taken by its upcalls */
	unsigned int pending; /* endpoints that are connecting, a bit each */
	bool answers;	      /* the other end answers attempts by itself */
	bool sole; /* the first thread alone acts on endpoints: then more is known, see cause.c */
};
#define ADD_SETUP(t, ...) lot_add((t)->setup, sizeof(t)->setup, __VA_ARGS__)
#define ADD_ACTS(t, ...) lot_add((t)->actors, sizeof(t)->actors, __VA_ARGS__)

static int
letter(char first, unsigned int n)
{
	return first + (int)lot_draw(n);
}

static const char *
draw_evds(const struct text *t)
{
	static const char *const splits[] = {
		"in.a,out.b,conn.a",
		"in.b,out.a,conn.a",
		"in.a,out.a,conn.b",
		"in.b,out.b,conn.b",
	};

	return t->split && lot_one_in(2) ? splits[lot_draw(4)] : "all.a";
}

/*
 * The first EVD gets all events of the endpoints, or the second gets some of them. The order of the
 * events of the first EVD is checked, so only its upcalls or only the first thread take them, and
 * it does not overflow.
 */
static void
draw_setup(struct text *t)
{
	static const char *const attributes[] = {
		"deep1",
		"deep2",
		"deep5",
		"deep40",
		"deep2,solicited",
		"solicited",
		"signalled",
		"in-solicited,out-signalled",
		"in-signalled,out-solicited",
		"out-signalled",
	};
	static const char *const policies[] = { "", ",single", ",single", ",norify", ",many" };

	t->called = lot_one_in(2);
	t->evds = 1 + lot_draw(3);
	t->cnos = lot_draw(3);
	t->eps = lot_draw(4);
	t->split = t->evds > 1 && lot_one_in(3);
	for (unsigned int i = 0; i < t->evds; i++) {
		ADD_SETUP(t, "%c=%s%s", 'a' + (int)i,
		    i == 0 || (i == 1 && t->split) || lot_one_in(2) ? "cq" : "sw",
		    i > 0     ? policies[lot_draw(5)] :
		    t->called ? ",single" :
				",private");
		if (i > 0 && t->cnos && lot_one_in(2))
			ADD_SETUP(t, ",%c", letter('n', t->cnos));
		if (i <= (t->split ? 1 : 0))
			ADD_SETUP(t, ",q30");
		else if (lot_one_in(4))
			ADD_SETUP(t, ",q%u", 2 + lot_draw(3));
		if (lot_one_in(4))
			ADD_SETUP(t, "%s", lot_one_in(2) ? ",array1" : ",array");
		ADD_SETUP(t, " ");
	}
	if (lot_one_in(3))
		ADD_SETUP(t, "%c=async,single ", 'a' + (int)t->evds);
	for (unsigned int i = 0; i < t->eps; i++) {
		if (lot_one_in(3))
			t->pending |= 1u << i;
		ADD_SETUP(t, "%c=%s%s,recvs%u", 'e' + (int)i, draw_evds(t),
		    t->pending >> i & 1 ? ",pending" : "", 1 + lot_draw(2));
		if (!(t->pending >> i & 1))
			ADD_SETUP(t, ",sends%u", lot_draw(2));
		if (lot_one_in(2))
			ADD_SETUP(
			    t, ",%s", attributes[lot_draw(sizeof attributes / sizeof *attributes)]);
		ADD_SETUP(t, " ");
	}
	for (unsigned int i = 0; i < t->cnos; i++)
		ADD_SETUP(t, "%c%s ", 'n' + (int)i, lot_one_in(2) ? "=agent" : "");
	if (lot_one_in(6))
		ADD_SETUP(t, "fixed ");
	if (lot_one_in(8))
		ADD_SETUP(t, "faults=%s ",
		    lot_one_in(2) ? "verbs" :
		    lot_one_in(2) ? "poll,1" :
				    "arm");
	if (!t->eps || lot_one_in(3))
		return;
	t->answers = true;
	t->sole = lot_one_in(2);
	ADD_SETUP(t, "answers=");
	for (unsigned int n = 1 + lot_draw(4); n; n--)
		ADD_SETUP(t, "%c", "aaaaardeuns"[lot_draw(11)]);
}

/* Whether with `action` another thread would take events of the first EVD. */
static bool
takes(const struct text *t, const char *action, const char *actor)
{
	static const char *const taking[] = { "dequeue", "drain", "wait" };
	static const char *const others[] = { "single", "norify", "many", "disable", "teardown",
		"attach" };

	for (unsigned int i = 0; i < sizeof others / sizeof *others; i++)
		if (!strncmp(action, others[i], strlen(others[i])))
			return true;
	for (unsigned int i = 0; i < sizeof taking / sizeof *taking; i++)
		if (!strncmp(action, taking[i], strlen(taking[i])) &&
		    (t->called || actor[0] != 'x'))
			return true;
	return false;
}

static void
draw_action(struct text *t, const char *actor, const char *const *actions, unsigned int n)
{
	const char *action = actions[lot_draw(n)];
	const char evd = (char)letter('a', t->evds);
	const bool elsewhere = t->sole && actor[0] != 'x' && actor[0] != 'h';

	if ((strchr(action, '#') && !t->cnos) || (strchr(action, '@') && (!t->eps || elsewhere)) ||
	    (evd == 'a' && takes(t, action, actor)))
		action = "query %";
	/* Many connections' events must fit. */
	if (!strcmp(action, "resize % 7") && evd <= (t->split ? 'b' : 'a'))
		action = "resize % 30";
	lot_add_action(t->actors, sizeof t->actors, action, evd, t->cnos, t->eps);
	if (!strncmp(action, "fail", 4) || !strncmp(action, "rxfail", 6))
		ADD_ACTS(t, " %u", 1 + lot_draw(14));
	if (!strncmp(action, "connect", 7) && lot_one_in(3))
		ADD_ACTS(t, " %u", 20 + 20 * lot_draw(8));
	ADD_ACTS(t, "; ");
}

/* An endpoint whose connection ends, and that is connected again, as often as there is room for. */
static void
draw_rounds(struct text *t)
{
	static const char *const ends[] = { "disconnect", "disconnect", "graceful", "down" };
	const int ep = letter('e', t->eps);

	for (unsigned int left = 1 + lot_draw(3); left; left--) {
		if (lot_one_in(3))
			ADD_ACTS(t, "%s %c %u; ", lot_one_in(2) ? "fail" : "rxfail", ep,
			    1 + lot_draw(14));
		ADD_ACTS(t, "%s %c; ", ends[lot_draw(4)], ep);
		if (lot_one_in(2))
			ADD_ACTS(t, "pause 20; ");
		ADD_ACTS(t, "reset %c; ", ep);
		if (lot_one_in(2))
			ADD_ACTS(t, "recv %c; ", ep);
		ADD_ACTS(t, "connect %c", ep);
		if (lot_one_in(4))
			ADD_ACTS(t, " %u", 20 + 20 * lot_draw(8));
		ADD_ACTS(t, "; ");
		if (lot_one_in(2))
			ADD_ACTS(t, "pause 10; ");
		if (lot_one_in(2))
			ADD_ACTS(t, "send %c; ", ep);
	}
}
#define DRAW(t, actor, most, actions) \
	draw_actor(t, actor, most, actions, sizeof(actions) / sizeof *(actions))

static void
draw_actor(struct text *t, const char *actor, unsigned int most, const char *const *actions,
    unsigned int n)
{
	ADD_ACTS(t, "%s%s: ", t->actors[0] ? " | " : "", actor);
	for (unsigned int left = 1 + lot_draw(most); left; left--)
		draw_action(t, actor, actions, n);
}

/* clang-format off */
static const char *const device[] = {
	"rx @", "rx @", "tx @", "tx @", "fail @", "rx @ 2", "rxfail @", "qpfatal @", "cqerror %",
};
/* clang-format on */
/* clang-format off */
static const char *const consumer[] = {
	"recv @", "send @", "connect @", "mute @", "hush @", "post %", "post %", "post % 5",
	"reopen %", "reopen % sw", "creopen #", "disconnect @", "graceful @", "graceful @",
	"reset @", "epfree @", "epnew @", "epsee @", "free %", "free %", "see %", "resize % 70",
	"resize % 7", "single %", "norify %", "many %", "disable %", "teardown %", "dequeue %",
	"drain %", "wait % 1 50", "wait % 2 100", "query %", "attach % #", "attach % #",
	"detach %", "on %", "off %", "unwaitable %", "waitable %", "cwait # 50", "agent #",
	"noagent #", "cfree #", "csee #", "cquery #",
};
/* clang-format on */

#define CONSUMER (sizeof consumer / sizeof *consumer)
#define OWN 10 /* of these the first thread does alone: an upcall that posts may have no end */

/* The other ends, each once. */
static void
draw_peers(struct text *t)
{
	ADD_ACTS(t, " | cm: ");
	for (unsigned int i = 0; i < t->eps; i++) {
		if (t->answers || !(t->pending >> i & 1)) {
			if (lot_one_in(2))
				ADD_ACTS(t, "down %c; ", 'e' + (int)i);
		} else if (lot_one_in(4)) {
			ADD_ACTS(t, "reject %c; ", 'e' + (int)i);
		} else {
			ADD_ACTS(t, "est %c; ", 'e' + (int)i);
			if (lot_one_in(2))
				ADD_ACTS(t, "down %c; ", 'e' + (int)i);
		}
	}
}

static struct text text;
static char name[32];

struct scenario_text
table_chance_draw(unsigned int number)
{
	text = (struct text){ .evds = 0 };
	lot_begin(number);
	snprintf(name, sizeof name, "chance/%u", number);
	draw_setup(&text);
	DRAW(&text, "hw", 4, device);
	if (text.eps)
		draw_peers(&text);
	DRAW(&text, "x", 5, consumer);
	if (text.answers && lot_one_in(2))
		draw_rounds(&text);
	if (lot_one_in(2))
		draw_actor(&text, "y", 4, consumer + OWN, CONSUMER - OWN);
	if (lot_one_in(3))
		draw_actor(
		    &text, lot_one_in(3) ? "up.a*" : "up.a", 2, consumer + OWN, CONSUMER - OWN);
	if (text.cnos && lot_one_in(3))
		draw_actor(&text, "agent.n", 2, consumer + OWN, CONSUMER - OWN);
	if (lot_one_in(6))
		lot_add(text.actors, sizeof text.actors, " | z: close");
	return (struct scenario_text){ name, text.setup, text.actors };
}

const unsigned int table_chance_n = SCENARIOS;
