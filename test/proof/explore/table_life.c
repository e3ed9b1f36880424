/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_life -- slots that are used again, and late calls
 *
 * `ctl` frees the object in a slot and creates another one there at once; the other actors use the
 * object that was there when they began (see identity.c). Most of them make every call, one after
 * the other, so that each call is the late one in some schedule.
 */
#include "family.h"

static const struct scenario_text table[] = {
	/* Calls on an EVD that was freed. */
	{ "life/take", "a=cq,single",
	    "hw: c a; c a; c a | ctl: free a; reopen a; single a; post a | "
	    "x: dequeue a; wait a 1 50; post a; barrier a; disable a; wrong a; query a" },
	{ "life/change", "a=cq,single n",
	    "hw: c a; c a | ctl: free a; reopen a; single a; post a | "
	    "x: single a another; off a; attach a n; resize a 4; unwaitable a; purge a; teardown "
	    "a" },
	{ "life/end", "a=cq,norify",
	    "hw: c a; c a | ctl: free a; reopen a; norify a; post a | "
	    "x: refresh a; overflow a; closing a; free a; wait a 1 50; post a; free a" },
	{ "life/wait", "a=cq",
	    "hw: c a; c a | ctl: free a; reopen a; post a; take a 1 | "
	    "x: wait a 1 50; off a; closing a; unwaitable a; dequeue a; post a; wait a 1 50" },
	{ "life/software", "a=sw,single",
	    "p: post a; see a; post a | ctl: free a; reopen a; single a | "
	    "x: disable a; post a; resize a 4; free a; dequeue a; teardown a" },
	{ "life/first-post", "a=sw,bare,single",
	    "p: post a; see a; post a | ctl: free a; reopen a; single a | "
	    "x: post a; resize a 4; post a; query a" },
	{ "life/hold", "a=cq,hold,single",
	    "hw: c a; c a | ctl: free a; reopen a; single a; established a | "
	    "x: established a; leave a; single a; barrier a; see a; post a" },
	{ "life/cno", "a=cq,n n",
	    "hw: c a; c a | ctl: free a; reopen a; attach a n; post a | srv: serve n 1 | "
	    "x: detach a; on a; off a; dequeue a; attach a n; post a" },
	{ "life/both-free", "a=cq,single",
	    "hw: c a; c a | x: free a; reopen a; single a | y: free a; reopen a; single a" },
	{ "life/inside", "a=cq,single",
	    "hw: c a; c a; c a | up.a: free a | x: reopen a; single a; free a; reopen a" },
	{ "life/many", "a=cq,many",
	    "hw: c a; c a | up.a: free a; post a; teardown a | ctl: reopen a; many a; post a" },

	/* Private and shared channels, and none, one after the other in a slot. */
	{ "life/private", "a=private,single",
	    "hw: c a; c a; c a | ctl: free a; reopen a; single a; free a; reopen a; single a" },
	{ "life/private-software", "a=private,single",
	    "hw: c a; c a | ctl: free a; reopen a sw; single a; post a; free a; reopen a; single "
	    "a" },
	{ "life/private-shared", "a=private,single b=cq,single",
	    "hw: c a; c b; c a | ctl: free a; reopen a cq; single a; free a; reopen a; single a" },
	{ "life/shared-private", "a=cq,single b=private,single",
	    "hw: c a; c b; c a | ctl: free a; reopen a private; single a; post a" },
	{ "life/software-private", "a=sw,single",
	    "hw: c a; c a | p: post a | ctl: free a; reopen a private; single a; post a" },
	{ "life/private-cno", "a=private,n n",
	    "hw: c a; c a | ctl: free a; reopen a cq; attach a n; post a | srv: serve n 1" },
	{ "life/private-waiter", "a=private",
	    "hw: c a; c a | app: wait a 1 50; see a; wait a 1 50 | "
	    "ctl: free a; reopen a sw; post a; free a; reopen a; single a" },
	{ "life/private-moves", "a=private,n n o",
	    "hw: c a; c a | x: attach a o; single a | "
	    "ctl: free a; reopen a; attach a n; post a | srv: serve n 1" },
	{ "life/channel-parked", "a=private,single b=cq,single",
	    "hw: c b; c a; c a | up.b: wait a 1 100; free a; reopen a sw; post a; single a" },

	/* CNOs. */
	{ "life/agent", "a=cq n",
	    "hw: c a; c a | ctl: attach a n; agent n; detach a; cfree n; creopen n; attach a n; "
	    "agent n | x: agent n; cfree n; noagent n; cquery n; cwait n 50" },
	{ "life/cno-reused", "a=sw,n n",
	    "p: post a 2 | ctl: detach a; cfree n; creopen n; attach a n; post a; cwait n 50 | "
	    "x: cwait n 50; cclosing n; agent n; cfree n; cabrupt n; trigger n" },
	{ "life/cno-waiters", "a=sw,n n",
	    "p: post a; post a | ctl: detach a; cabrupt n; creopen n; attach a n | "
	    "x: cwait n 50; csee n; cwait n 50 | y: attach a n; cwait n 50; cabrupt n" },
	{ "life/fd", "a=sw,n n=fd",
	    "p: post a; post a | ctl: detach a; cfree n; creopen n; attach a n; post a; trigger n "
	    "| "
	    "x: trigger n; cfree n; attach a n; cclosing n; trigger n" },
	{ "life/agent-inside", "a=cq,n n=agent",
	    "hw: c a; c a | agent.n: detach a; cfree n | "
	    "x: agent n; creopen n; attach a n; agent n | agent.n*: agent n" },
	{ "life/all", "a=private,single,n b=cq,n n",
	    "hw: c a; c b; c a | ctl: free a; reopen a cq; attach a n; free b; reopen b private | "
	    "x: post a; post b; free b; disable a; free a | srv: cwait n 50; cwait n 50" },
};

void
table_life_load(void)
{
	table_add(table, sizeof table / sizeof *table);
}
