/* SPDX-License-Identifier: BSD-3-Clause */
#include "family.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scenario *scenarios;
unsigned int n_scenarios;

struct pool {
	char name[64], setup[96], actors[256];
};

struct scenario *
family_add(const struct scenario_text *text)
{
	static unsigned int n_room;

	if (n_scenarios == n_room) {
		n_room = n_room ? 2 * n_room : 256;
		scenarios = realloc(scenarios, n_room * sizeof *scenarios);
		if (!scenarios)
			abort();
	}
	scenario_parse(&scenarios[n_scenarios], text);
	scenarios[n_scenarios].setup = strdup(text->setup);
	scenarios[n_scenarios].text = strdup(text->actors);
	return &scenarios[n_scenarios++];
}

__attribute__((format(printf, 3, 4))) static void
append(char *to, size_t size, const char *format, ...)
{
	size_t n = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + n, size - n, format, args);
	va_end(args);
}

/* The actions of `actor`, with the policy's name for each @. */
static void
acts(struct pool *p, const char *actor, const char *actions, const char *policy)
{
	append(p->actors, sizeof p->actors, " | %s: ", actor);
	for (; *actions; actions++) {
		if (*actions == '@')
			append(p->actors, sizeof p->actors, "%s", policy);
		else
			append(p->actors, sizeof p->actors, "%c", *actions);
	}
}

static void
producers(struct pool *p, int completions, int posts)
{
	if (completions)
		append(p->actors, sizeof p->actors, "hw: c a %d | ", completions);
	if (posts)
		append(p->actors, sizeof p->actors, "app: post a %d | ", posts);
}

static void
add_pool(const struct pool *p)
{
	const struct scenario_text text = { p->name, p->setup, p->actors };

	family_add(&text)->family = true;
}

static const char *const policies[] = { "single", "norify", "many" };

/* Every policy, count of events, and change of policy, from another thread and from the upcall. */
static void
family_policy(void)
{
	static const struct {
		const char *name, *actions;
	} changes[] = {
		{ "none", "" },
		{ "disable", "disable a" },
		{ "teardown", "teardown a" },
		{ "toggle", "disable a; @ a" },
		{ "toggle-new", "disable a; @ a new" },
		{ "rearm", "disable a; rearm a" },
		{ "again", "@ a" },
		{ "other", "norify a" },
		{ "free", "free a" },
	};

	for (int p = 0; p < 3; p++)
		for (unsigned int k = 0; k < sizeof changes / sizeof *changes; k++)
			for (int inside = 0; inside < 2; inside++)
				for (int c = 0; c <= 4; c++)
					for (int s = 0; s <= 2; s++) {
						struct pool pool = { "", "", "" };

						if ((k == 0 && inside) || (inside && !c && !s))
							continue;
						/*
						 * Five and six events of MANY take long and show no
						 * more than four.
						 */
						if (p == 2 && c == 4 && s)
							continue;
						append(pool.name, sizeof pool.name,
						    "policy/%s/%s%s/c%ds%d", policies[p],
						    changes[k].name, inside ? "-inside" : "", c, s);
						append(pool.setup, sizeof pool.setup, "a=cq,%s",
						    policies[p]);
						producers(&pool, c, s);
						if (k)
							acts(&pool, inside ? "up.a" : "ctl",
							    changes[k].actions, policies[p]);
						add_pool(&pool);
					}
}

/* A waiter: threshold, deadline, channel, and what happens to it. */
static void
family_wait(void)
{
	static const char *const others[] = { "", "ctl: unwaitable a", "ctl: free a",
		"ctl: dequeue a", "ctl: post a", "ctl: single a" };
	static const char *const names[] = { "alone", "unwaitable", "free", "dequeue", "post",
		"single" };

	for (int private = 0; private < 2; private ++)
		for (int c = 0; c <= 3; c++)
			for (int t = 1; t <= 3; t++)
				for (unsigned int o = 0; o < 6; o++) {
					struct pool pool = { "", "", "" };

					append(pool.name, sizeof pool.name, "waiter/%s/%s/c%dt%d",
					    private ? "private" : "shared", names[o], c, t);
					append(pool.setup, sizeof pool.setup, "a=%s",
					    private ? "private" : "cq");
					producers(&pool, c, 0);
					append(pool.actors, sizeof pool.actors,
					    "w: wait a %d 100; drain a | %s", t, others[o]);
					add_pool(&pool);
				}
}

/* A CNO fed by several EVDs, served by a consumer that drains only the one it was handed. */
static void
family_cno(void)
{
	static const char *const channels[] = { "cq", "private", "sw" };

	for (int n = 1; n <= 3; n++)
		for (int k = 0; k < 3; k++)
			for (int each = 1; each <= 2; each++)
				for (int agent = 0; agent < 2; agent++) {
					struct pool pool = { "", "", "" };

					append(pool.name, sizeof pool.name, "funnel/%s/e%dn%d%s",
					    channels[k], n, each, agent ? "-agent" : "");
					for (int i = 0; i < n; i++) {
						append(pool.setup, sizeof pool.setup, "%c=%s,n ",
						    'a' + i, channels[k]);
						append(pool.actors, sizeof pool.actors,
						    "f%d: %s %c %d | ", i, k == 2 ? "post" : "c",
						    'a' + i, each);
					}
					append(pool.setup, sizeof pool.setup, "n%s",
					    agent ? "=agent" : "");
					append(pool.actors, sizeof pool.actors,
					    agent ? "agent.n*: agent n" : "srv: serve n %d",
					    n * each);
					add_pool(&pool);
				}
}

/* Every call from inside an upcall, and beside one, under each policy. */
static void
family_call(void)
{
	static const struct {
		const char *name, *actions;
		bool attached; /* to a CNO, which takes when the policy does not */
	} calls[] = {
		{ "single", "single a", false },
		{ "norify", "norify a", false },
		{ "many", "many a", false },
		{ "same", "@ a same", false },
		{ "object", "@ a another", false },
		{ "new", "@ a new", false },
		{ "dequeue", "dequeue a", false },
		{ "wait", "wait a 1 100", false },
		{ "off-wait", "disable a; wait a 1 100; @ a", false },
		{ "off-drain", "disable a; drain a; @ a new", false },
		{ "post", "post a", false },
		{ "barrier", "barrier a", false },
		{ "purge", "purge a", false },
		{ "overflow", "overflow a", false },
		{ "resize", "resize a 4", false },
		{ "shrink", "resize a 1", false },
		{ "unwaitable", "unwaitable a; waitable a", false },
		{ "attach", "attach a n", false },
		{ "attach-off", "attach a n; disable a", false },
		{ "off-attach", "disable a; attach a n; @ a", false },
		{ "detach", "detach a", true },
		{ "hand-over", "disable a", true },
		{ "on", "disable a; off a; on a", true },
	};

	for (int p = 0; p < 3; p++)
		for (unsigned int k = 0; k < sizeof calls / sizeof *calls; k++)
			for (int inside = 0; inside < 2; inside++) {
				struct pool pool = { "", "", "" };

				append(pool.name, sizeof pool.name, "call/%s/%s%s", policies[p],
				    calls[k].name, inside ? "-inside" : "");
				append(pool.setup, sizeof pool.setup, "a=cq,%s%s n", policies[p],
				    calls[k].attached ? ",n" : "");
				/* Beside the two threads of MANY there is little room for more. */
				producers(&pool, 2, inside || p < 2);
				acts(&pool, inside ? "up.a" : "ctl", calls[k].actions, policies[p]);
				add_pool(&pool);
			}
}

/* Two actors change the same EVD, both from outside, or one of them from its upcall. */
static void
family_pair(void)
{
	static const struct {
		const char *name, *actions;
	} changes[] = {
		{ "single", "single a" },
		{ "norify", "norify a" },
		{ "many", "many a" },
		{ "disable", "disable a" },
		{ "teardown", "teardown a" },
		{ "free", "free a" },
		{ "attach", "attach a n" },
		{ "resize", "resize a 4" },
	};
	enum { MANY = 2, n = sizeof changes / sizeof *changes };

	for (int p = 0; p < 3; p++)
		for (int inside = 0; inside < 2; inside++)
			for (int i = 0; i < n; i++)
				for (int j = inside ? 0 : i; j < n; j++) {
					struct pool pool = { "", "", "" };

					append(pool.name, sizeof pool.name, "pair/%s/%s%s-%s",
					    policies[p], inside ? "inside-" : "", changes[i].name,
					    changes[j].name);
					append(pool.setup, sizeof pool.setup, "a=cq,%s n%s",
					    policies[p],
					    p < 2 && (i == MANY || j == MANY) ? " pool=1" : "");
					producers(&pool, p == 2 && !inside ? 1 : 2, 0);
					acts(&pool, inside ? "up.a" : "x", changes[i].actions, "");
					acts(&pool, "y", changes[j].actions, "");
					add_pool(&pool);
				}
}

void
family_load(void)
{
	family_policy();
	family_wait();
	family_cno();
	family_call();
	family_pair();
}
