/* SPDX-License-Identifier: BSD-3-Clause */
/* table_chance -- scenarios of librearm: every combination of something, and others drawn by lot */
#include <stdio.h>
#include <string.h>

#include "family.h"
#include "lot.h"
#include "program.h"

static const char *const kinds[] = { "cq", "adopted", "channel", "cm", "async" };
static const char *const policies[] = { "single", "norify", "many" };

#define KINDS (sizeof kinds / sizeof *kinds)
#define POLICIES (sizeof policies / sizeof *policies)

/* ---- every call, inside a callback and beside one, of each kind of queue and policy ---- */

/* @ stands for the policy. */
static const char *const changes[] = {
	"disable a; @ a",
	"disable a; @ a new; @ a",
	"teardown a; @ a",
	"@ a same",
	"single a; many a",
	"norify a; single a",
	"drain a; query a; wrong a",
	"disable a; wait a 1 50; @ a",
	"free a",
	"free a; reopen a; @ a",
	"disable b; @ b",
	"teardown b; @ b",
	"free b; reopen b; @ b",
};

static void
add_change(
    const char *kind, const char *policy, const char *change, unsigned int number, bool inside)
{
	char name[64], setup[96], actors[256];
	const struct scenario_text text = { name, setup, actors };

	snprintf(
	    name, sizeof name, "call/%s/%s/%u%s", kind, policy, number, inside ? "-inside" : "");
	snprintf(setup, sizeof setup, "a=%s,%s b=%s,%s", kind, policy,
	    strcmp(kind, "cq") ? kind : "cm", policy);
	snprintf(
	    actors, sizeof actors, "hw: c a 2; c b | hx: c a; c b | %s: ", inside ? "up.a" : "ctl");
	for (; *change; change++)
		if (*change == '@')
			lot_add(actors, sizeof actors, "%s", policy);
		else
			lot_add(actors, sizeof actors, "%c", *change);
	family_add(&text)->family = true;
}

void
table_family_load(void)
{
	for (unsigned int k = 0; k < KINDS; k++)
		for (unsigned int p = 0; p < POLICIES; p++)
			for (unsigned int c = 0; c < sizeof changes / sizeof *changes; c++) {
				add_change(kinds[k], policies[p], changes[c], c, true);
				add_change(kinds[k], policies[p], changes[c], c, false);
			}
}

/* ---- drawn by lot ---- */

#define SCENARIOS 2000

static struct text {
	char setup[256], actors[1024];
	unsigned int queues;
	bool stepped;
} text;
#define ADD_SETUP(...) lot_add(text.setup, sizeof text.setup, __VA_ARGS__)
#define ADD_ACTS(...) lot_add(text.actors, sizeof text.actors, __VA_ARGS__)

/* Of a thread, a callback, failed(). */
static const char *const actions[] = {
	"single %",
	"single %",
	"norify %",
	"many %",
	"single % new",
	"norify % new",
	"single % same",
	"rearm %",
	"disable %",
	"disable %",
	"teardown %",
	"teardown %",
	"free %",
	"free %",
	"reopen %",
	"reopen %",
	"see %",
	"dequeue %",
	"several % 2",
	"drain %",
	"wait % 1 50",
	"wait % 2 100",
	"query %",
	"wrong %",
	"solicited %",
	"all %",
};

/* Two callbacks that each end the queue of the other wait without end: only those of a do that. */
static void
draw_action(const char *actor)
{
	const char *action = actions[lot_draw(sizeof actions / sizeof *actions)];
	const char *dot = strchr(actor, '.');
	char queue = (char)('a' + lot_draw(text.queues));

	if (dot && (!strncmp(action, "teardown", 8) || !strncmp(action, "free", 4)) &&
	    dot[1] != 'a')
		queue = dot[1];
	lot_add_action(text.actors, sizeof text.actors, action, queue, 0, 0);
}

static void
draw_actor(const char *actor, unsigned int most)
{
	ADD_ACTS(" | %s: ", actor);
	for (unsigned int n = 1 + lot_draw(most); n; n--) {
		draw_action(actor);
		if (n > 1)
			ADD_ACTS("; ");
	}
}

static void
draw_device(const char *actor, unsigned int most)
{
	ADD_ACTS("%s%s: ", text.actors[0] ? " | " : "", actor);
	for (unsigned int n = 1 + lot_draw(most); n; n--) {
		const char queue = (char)('a' + lot_draw(text.queues));

		switch (lot_draw(8)) {
		case 0:
			ADD_ACTS("burst %c 2; ", queue);
			break;
		case 1:
			ADD_ACTS("spurious %c; ", queue);
			break;
		default:
			ADD_ACTS("c %c; ", queue);
			break;
		}
	}
}

static void
draw_queue(unsigned int i)
{
	ADD_SETUP("%c=%s", 'a' + (int)i, kinds[lot_draw(KINDS)]);
	if (lot_draw(4))
		ADD_SETUP(",%s", policies[lot_draw(POLICIES)]);
	if (lot_one_in(4))
		ADD_SETUP(",array");
	if (lot_one_in(8))
		ADD_SETUP(",requests");
	if (lot_one_in(6))
		ADD_SETUP(",solicited");
	if (lot_one_in(6))
		ADD_SETUP(",strict");
	if (lot_one_in(8))
		ADD_SETUP(",spins");
	ADD_SETUP(" ");
}

static void
draw_scenario(unsigned int number)
{
	static const char *const faults[] = { "arm", "eintr", "cancel,1", "alloc,open",
		"verbs,epoll" };
	static const char *const threads[] = { "x", "y", "z" };
	char script[16], name[32];
	const struct scenario_text drawn = { name, text.setup, text.actors };

	text = (struct text){ .queues = 1 + lot_draw(3) };
	snprintf(name, sizeof name, "chance/%u", number);
	text.stepped = lot_one_in(4);
	for (unsigned int i = 0; i < text.queues; i++)
		draw_queue(i);
	if (text.stepped)
		ADD_SETUP("stepped ");
	else if (lot_one_in(4))
		ADD_SETUP("loops=2 ");
	if (lot_one_in(5))
		ADD_SETUP("faults=%s ", faults[lot_draw(sizeof faults / sizeof *faults)]);
	draw_device("hw", 4);
	draw_device("hx", 3);
	for (unsigned int n = 1 + lot_draw(2), i = 0; i < n; i++)
		draw_actor(threads[i], 5);
	for (unsigned int i = 0; i < text.queues && i < 2; i++)
		if (lot_one_in(3)) {
			snprintf(script, sizeof script, "up.%c%s", 'a' + (int)i,
			    lot_one_in(3) ? "*" : "");
			draw_actor(script, 2);
		}
	if (lot_one_in(3))
		draw_actor("failed.a", 2);
	/* It runs what is due, and sleeps for a time. */
	if (text.stepped)
		ADD_ACTS(" | main: pump a 0 100; pump a 0 100; pump a 0 200");
	family_add(&drawn)->chance = true;
}

void
table_chance_load(void)
{
	for (unsigned int i = 0; i < SCENARIOS; i++) {
		lot_begin(scenario_draw * SCENARIOS + i);
		draw_scenario(scenario_draw * SCENARIOS + i);
	}
}
