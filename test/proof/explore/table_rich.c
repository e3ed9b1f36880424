/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_rich -- much at once on one loop
 *
 * Several EVDs and CNOs share a loop while a thread of it is parked inside an upcall or an agent:
 * it reads sources and runs what needs no call-out, and everything else is put off until it
 * returns.  So the ready list holds jobs that must wait before jobs that need not, and jobs that
 * back off beside both; and what they wait for changes meanwhile.
 */
#include "family.h"

static const struct scenario_text table[] = {
	/* Jobs with upcalls, which must wait, are queued before a job for a CNO, which need not. */
	{ "parked/cno", "a=sw,single b=sw,single c=sw,n n",
	    "p: post b; post a; post a | q: post a; post c | up.b: serve n 1" },
	{ "parked/two-deferred", "a=sw,single b=sw,single c=sw,n d=sw,norify n",
	    "p: post b; post a; post d | q: post c; post d | up.b: serve n 1; post a" },
	{ "parked/device", "a=cq,single b=cq,single c=cq,n n",
	    "hw: c b; c a; c c | p: post a | up.b: serve n 1" },
	{ "parked/private", "a=private,single b=cq,single c=private,n n",
	    "hw: c b; c a; c c | p: post c | up.b: serve n 2" },
	{ "parked/timeout", "a=sw,single b=sw,single c=cq,n n",
	    "p: post b; post a | hw: c c; c c | up.b: cwait n 100; cwait n 100; wait c 1 100" },
	{ "parked/agents", "a=sw,single b=sw,single c=sw,n d=sw,o n o=agent",
	    "p: post b; post d; post a | q: post c | up.b: serve n 1 | agent.o*: agent o" },
	{ "parked/agent-host", "a=sw,single b=sw,n c=sw,o d=cq,single n=agent o",
	    "p: post b; post a; post c | hw: c d | agent.n: serve o 1" },
	{ "parked/waits", "a=cq,single b=cq,single c=private d=cq,n n",
	    "hw: c b; c a; c d; c c | p: post a | up.b: take c 1 | srv: serve n 1" },
	{ "parked/inside-out", "a=sw,single b=sw,single c=sw,many n pool=1",
	    "p: post b; post a; post c | up.b: until c 1; teardown c | up.c: until b 1; post a" },

	/* What waits is changed, freed, or handed to others meanwhile. */
	{ "parked/freed", "a=sw,single b=sw,single c=sw,n n",
	    "p: post b; post a; until a 0; post c | ctl: free a; post c | up.b: serve n 1" },
	{ "parked/reopened", "a=cq,single b=sw,single c=sw,n n",
	    "p: post b; post c | hw: c a; c a | ctl: free a; reopen a; single a; post a | "
	    "up.b: serve n 1" },
	{ "parked/moved", "a=sw,single b=sw,single c=sw,n n pool=1",
	    "p: post b; post a; post a | ctl: many a; post a; post c | up.b: serve n 1" },
	{ "parked/moved-back", "a=sw,many b=sw,single c=sw,many n pool=1",
	    "p: post c; post a | q: post b | ctl: single a; many a; post b; single a | "
	    "up.c: until a 1 | up.b: cwait n 100" },
	{ "parked/to-cno", "a=sw,single,n b=sw,single c=sw,n n",
	    "p: post b; post a | ctl: disable a; post a; post c | up.b: serve n 2" },
	{ "parked/from-cno", "a=sw,n b=sw,single c=sw,single n",
	    "p: post b; post c; post a | ctl: single a; disable a; on a | up.b: cwait n 100" },
	{ "parked/torn-down", "a=sw,single b=sw,single c=sw,single",
	    "p: post b; post a; post c | ctl: teardown a; teardown c; post c | up.b: wait c 1 "
	    "100" },
	{ "parked/own", "a=sw,single b=sw,single c=sw,n n",
	    "p: post b; post a; post b; post c | up.b: disable b; serve n 1; single b; free a" },
	{ "parked/many-host", "a=sw,many b=sw,many c=cq,n n pool=2",
	    "p: post a; post b; post a | hw: c c; c c | up.a*: cwait n 100 | up.b: cwait n 100" },
	{ "parked/frees", "a=cq,single b=cq,single c=cq,n n",
	    "hw: c b; c a; c c; c a | p: post a | up.b: free a; serve n 1" },
	{ "parked/closing", "a=cq,single b=cq,single c=private,n n",
	    "hw: c b; c a; c c | up.b: cwait n; free b | ctl: closing a; closing b; closing c; "
	    "cclosing n; free a; free c; cabrupt n" },

	/* Beside jobs that back off. */
	/* An upcall returns, and its EVD was taken from it meanwhile, and given back. */
	{ "moved/parked", "a=cq,single b=private pool=1",
	    "hw: c a; c a; c a | up.a: wait b 1 200 | ctl: many a; single a" },
	{ "moved/twice", "a=cq,single b=private pool=1",
	    "hw: c a; c a; c a | up.a*: wait b 1 50 | ctl: many a; single a; many a; norify a" },
	{ "backoff/parked", "a=cq,single b=sw,single c=cq,n n faults=arm",
	    "hw: c a; c c; c a | p: post b; post a | up.b: serve n 1" },
	{ "backoff/freed", "a=cq,single b=sw,single c=cq,single faults=arm",
	    "hw: c a; c c | p: post b; post c | ctl: until a 1; free a; free c | "
	    "up.b: wait c 1 100" },
	{ "backoff/moved", "a=cq,single b=cq,norify pool=1 faults=arm",
	    "hw: c a; c b; c a | ctl: many a; many b; single a | p: post b" },
	{ "backoff/told", "a=cq,n b=cq,n n=agent faults=arm,poll",
	    "hw: c a; c b; c a | agent.n*: agent n | srv: cwait n 5000; cwait n 5000" },
	{ "backoff/waiter", "a=cq,single b=private faults=arm,poll",
	    "hw: c a; c b; c a | app: take b 1; post a | ctl: disable a; wait a 1 3000; single a" },
	{ "backoff/drained", "a=cq,norify b=cq,single faults=arm",
	    "hw: c a; c a; c b | app: dequeue a; refresh a; refresh b; dequeue a | p: post b" },
	{ "backoff/twice", "a=cq,single b=cq,single faults=arm,poll,3",
	    "hw: c a; c b; c a | p: post a; post b" },

	/* Turns: budgets that are spent, loops that swap. */
	{ "turns/busy", "a=sw,single b=cq,single c=sw,n n",
	    "p: post a 6 | hw: c b; c b | q: post c 2 | srv: serve n 2" },
	{ "turns/drains", "a=cq,single b=sw,norify c=sw,single",
	    "hw: burst a 5; c a | p: post b 5; post c 5 | up.a*: drain a | up.b*: post c" },
	{ "turns/many", "a=cq,many b=sw,single c=sw,many pool=1",
	    "hw: burst a 5 | p: post b 4; post c | up.b*: post c" },
	{ "turns/no-pool", "a=cq,many b=sw,many c=sw,single,n n pool=0",
	    "hw: c a; c a | p: post b 4; post c | up.b: disable c; cwait n 100; many a" },
	{ "turns/loops", "a=cq,single b=sw,single,loop1 c=cq,n,loop1 n=agent loops=2",
	    "hw: c a; c c; c a | p: post b; post b | up.a: post b | up.b: post a | agent.n*: agent "
	    "n" },
	{ "turns/loops-wait",
	    "a=cq,single b=private,single,loop1 c=sw,n d=sw,single,loop1 n loops=2",
	    "hw: c a; c b; c b | p: post c; post d | up.a: take b 1 | up.b: serve n 1" },
	{ "turns/channels", "a=private,single b=private,norify c=private,n n",
	    "hw: c a; c b; c c; c a; c b; c c | ctl: disable a; wait b 1 0; single a | srv: serve "
	    "n 2" },
	{ "turns/sources", "a=private,single b=cq,norify",
	    "hw: c a; c b; c a | ctl: source; source; source | app: source; loop | up.a*: source" },

	/* The device is emptied for what it is to drop, whatever is queued before that. */
	{ "empty/upcall", "a=cq,single,q2,d16", "hw: c a 5 | x: empty a | p: post a" },
	{ "empty/norify", "a=cq,norify,q2,d16 b=cq,unsignalled,single,q2,d16",
	    "hw: c a 4; c b 4 | x: empty a; empty b | y: empty a" },
	{ "empty/cno", "a=cq,n,q2,d16 n", "hw: c a 5 | x: empty a | srv: serve n 5" },
	{ "empty/waiter", "a=private,q2,d16", "hw: c a 5 | x: empty a; empty a | app: take a 5" },
	{ "empty/twice", "a=private,q2",
	    "hw: c a 7 | x: empty a | y: empty a | app: take a 2; drain a" },
	{ "empty/leave", "a=cq,single,q2,d16",
	    "hw: c a 3; c a.f 2; c a | x: leave a.f; empty a | p: barrier a" },
	{ "empty/ends", "a=private,q2,d16 faults=alloc",
	    "hw: c a 5 | x: empty a | y: resize a 3; empty a; free a | app: wait a 1 100; drain "
	    "a" },
	{ "empty/full", "a=cq,norify,q2,d16 b=cq,q2,d16,n n=agent",
	    "hw: c a 5; c b 5 | x: refresh a; empty a; drain a | y: refresh b; empty b | agent.n*: "
	    "drain b; agent n" },

	/* Acknowledgements that are due when the EVD is freed. */
	{ "acks/free", "a=cq,single b=cq,single",
	    "hw: c a; c b; c a; c b; c a | ctl: free a | x: until b 2; free b" },
	{ "acks/private", "a=private,n b=private,n n",
	    "hw: c a; c b; c a; c b; c a | srv: cwait n 50; cwait n 50; cwait n 50 | ctl: free a; "
	    "free b" },

	/* A CNO of many, with everything that can happen to one. */
	{ "funnels/all", "a=cq,n b=private,n c=sw,n n o",
	    "hw: c a; c b; c a | p: post c 2 | ctl: attach a o; detach b; off c; on c; attach b n "
	    "| "
	    "srv: cwait n 100; cwait n 100; cwait n 100 | srv2: cwait o 100; cwait o 100" },
	{ "funnels/agents", "a=cq,n b=sw,n c=sw,n n=agent",
	    "hw: c a; c a | p: post b; post c | x: noagent n; agent n; cquery n; agent n | "
	    "srv: cwait n 50; cwait n 50 | agent.n*: agent n" },
	{ "funnels/deserted", "a=sw,n b=sw,n n o",
	    "p: post a; post b | x: detach a; detach b; attach a o | srv: cwait n 99; cwait n 50 | "
	    "srv2: cwait n 99; cwait o 50 | y: post a; off b; free b" },
	{ "funnels/fd", "a=cq,n b=sw,n n=fd o=fd",
	    "hw: c a; c a | p: post b; post b | ctl: attach a o; detach b; attach b n; attach a n "
	    "| "
	    "srv: trigger n; cwait n 50; trigger n | srv2: trigger o; cwait o 50; trigger o" },
	{ "funnels/abrupt", "a=sw,n b=sw,o n=agent o=fd",
	    "p: post a; post b | ctl: detach a; cabrupt n; detach b; cfree o | "
	    "srv: cwait n 50; cwait n 50 | srv2: cwait o 50; trigger o; cwait o 50" },

	/* Settings, and what the queries return of them. */
	{ "asked/all", "a=cq,single,n n",
	    "hw: c a; c a | x: wrong a; off a; query a; resize a 4; query a; unwaitable a; query a "
	    "| "
	    "y: query a; detach a; query a; waitable a; refresh a; query a | p: post a; barrier "
	    "a" },
	{ "asked/two", "a=private b=sw,n n",
	    "hw: c a 3 | p: post b; query b; post a; query a | x: wait a 2 50; query a; drain a | "
	    "y: wrong a; refresh a; query a; overflow a; query a | srv: cquery n; cwait n 50" },
};

void
table_rich_load(void)
{
	table_add(table, sizeof table / sizeof *table);
}
