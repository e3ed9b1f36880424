/* SPDX-License-Identifier: BSD-3-Clause */
/* table_lead -- threads that wait for a CNO and read the channel that the EVDs share */
#include "family.h"

static const struct scenario_text table[] = {
	{ "lead/serve", "a=cq,n n lead", "hw: c a; c a | srv: serve n 2" },
	{ "lead/exact", "a=cq,exact,n n lead", "hw: c a; c a | srv: serve n 2" },
	{ "lead/burst", "a=cq,n,q2 n lead", "hw: burst a 3; c a | srv: serve n 4" },
	{ "lead/two-evds", "a=cq,n b=cq,n n lead", "hw: c a; c b | hw2: c b | srv: serve n 3" },
	{ "lead/posted", "a=cq,n b=sw,n n lead",
	    "hw: c a; c a | p: post b; post b | srv: serve n 4" },
	{ "lead/always-posted", "a=sw,n b=cq,n n lead", "p: post a 6 | hw: c b | srv: serve n 7" },
	{ "lead/private", "a=private,n b=cq,n n lead", "hw: c a; c b | srv: serve n 2" },
	{ "lead/spurious", "a=cq,n n lead", "hw: spurious a; c a | srv: serve n 1" },

	/* Several threads, of one CNO and of two. */
	{ "lead/two-waiters", "a=cq,n b=cq,n n lead",
	    "hw: c a; c b | srv: cwait n | srv2: cwait n" },
	{ "lead/two-waiters-timeout", "a=cq,n b=cq,n n lead",
	    "hw: c a; c b | srv: cwait n 100 | srv2: cwait n 100; cwait n 100" },
	{ "lead/two-cnos", "a=cq,n b=cq,o n o lead",
	    "hw: c a; c b | srv: serve n 1 | srv2: serve o 1" },
	{ "lead/two-cnos-again", "a=cq,n b=cq,o n o lead",
	    "hw: c b; c a; c b | srv: serve n 1 | srv2: serve o 2" },
	{ "lead/one-after-the-other", "a=cq,n b=cq,o n o lead",
	    "hw: c a; c b | srv: serve n 1; serve o 1" },
	{ "lead/other-returns", "a=cq,n b=cq,o n o lead",
	    "hw: c b | srv: cwait n 100 | srv2: serve o 1" },

	/* Calls that do not sleep, or not for long. */
	{ "lead/timeout", "a=cq,n n lead", "hw: c a | srv: cwait n 100; cwait n 100" },
	{ "lead/poll", "a=cq,n n lead", "hw: c a | srv: cwait n 0; cwait n 0; cwait n 100" },
	{ "lead/poll-beside", "a=cq,n b=cq,o n o lead",
	    "hw: c a; c b | srv: cwait n 100 | x: cwait o 0; cwait n 0; cwait o 100" },

	/* Sinks that need the loop. */
	{ "lead/policy", "a=cq,n n lead", "hw: c a; c a | ctl: single a | srv: cwait n 100" },
	{ "lead/policy-of-another", "a=cq,n b=cq n lead",
	    "hw: c a; c b | ctl: single b | srv: serve n 1" },
	{ "lead/policy-toggled", "a=cq,n b=cq,n n lead",
	    "hw: c a; c b | ctl: norify b; disable b | srv: serve n 1" },
	{ "lead/many", "a=cq,n b=cq n lead", "hw: c a; burst b 2 | ctl: many b | srv: serve n 1" },
	{ "lead/waiter", "a=cq,n b=cq n lead", "hw: c a; c b | app: take b 1 | srv: serve n 1" },
	{ "lead/agent", "a=cq,n b=cq,o n o lead",
	    "hw: c a; c b | ctl: agent o | agent.o*: agent o | srv: serve n 1" },
	{ "lead/agent-from-the-start", "a=cq,n b=cq,o n o=agent lead",
	    "hw: c a; c b | srv: serve n 1" },
	{ "lead/agent-of-its-own", "a=cq,n n lead",
	    "hw: c a; c a | ctl: agent n | agent.n*: agent n | srv: cwait n 100" },
	{ "lead/fd", "a=cq,n b=cq,o n o=fd lead", "hw: c a; c b | w: watch o 1 | srv: serve n 1" },
	{ "lead/in-upcall", "a=private,single b=cq,n n lead", "hw: c a; c b | up.a: serve n 1" },
	{ "lead/beside-upcall", "a=private,single b=cq,n n lead",
	    "hw: c a; c b; c b | up.a: cwait n 100 | srv: cwait n 100" },

	/* Changes meanwhile. */
	{ "lead/attach", "a=cq n lead", "hw: c a; c a | ctl: attach a n | srv: serve n 2" },
	{ "lead/moved", "a=cq,n n o lead",
	    "hw: c a; c a | ctl: attach a o | srv: cwait n 100 | srv2: cwait o 100" },
	{ "lead/off", "a=cq,n b=cq,n n lead", "hw: c a; c b | ctl: off a; on a | srv: serve n 2" },
	{ "lead/free", "a=cq,n b=cq,n n lead", "hw: c a; c b | ctl: free a | srv: serve n 1" },
	{ "lead/reopened", "a=cq,n n lead",
	    "hw: c a; c a | ctl: free a; reopen a; attach a n; post a | srv: serve n 1" },
	{ "lead/last-evd", "a=cq,n n lead",
	    "hw: c a | ctl: free a | srv: cwait n 100; cwait n 10" },
	{ "lead/abrupt", "a=cq,n n lead", "hw: c a | ctl: detach a; cabrupt n | srv: cwait n" },
	{ "lead/closing", "a=cq,n n lead", "hw: c a | ctl: cclosing n | srv: cwait n" },
	{ "lead/drained", "a=cq,n n lead", "hw: c a; c a | app: drain a | srv: cwait n 100" },
	{ "lead/resized", "a=cq,n,q2 n lead", "hw: burst a 3 | ctl: resize a 4 | srv: serve n 3" },
	{ "lead/established", "a=cq,hold,n n lead",
	    "hw: c a; c a | cm: established a | srv: serve n 3" },

	/* What the system and the device refuse. */
	{ "lead/arm-fails", "a=cq,n n lead faults=arm", "hw: c a; c a | srv: serve n 2" },
	{ "lead/poll-fails", "a=cq,n n lead faults=poll", "hw: c a; c a | srv: serve n 2" },
	{ "lead/interrupted", "a=cq,n n lead faults=eintr", "hw: c a; c a | srv: serve n 2" },
	{ "lead/no-park", "a=cq,n n lead faults=open,alloc", "hw: c a; c a | srv: serve n 2" },
};

void
table_lead_load(void)
{
	table_add(table, sizeof table / sizeof *table);
}
