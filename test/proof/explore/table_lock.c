/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_lock -- threads that contend for locks, with the code of the shipped lock (evd/lock.h)
 *
 * The first ones are about the lock alone: a query is three sections of the lock of an EVD, and
 * changes nothing.  In the others it is one of several locks, or a thread that has it sleeps or
 * ends an object.
 */
#include "family.h"

static const struct scenario_text table[] = {
	{ "lock/two", "a=sw shipped", "x: query a | y: query a" },
	{ "lock/two-again", "a=sw shipped", "x: query a; query a | y: query a; query a" },
	{ "lock/three", "a=sw shipped", "x: query a | y: query a | z: query a" },
	{ "lock/three-again", "a=sw shipped", "x: query a; query a | y: query a | z: query a" },
	{ "lock/four", "a=sw shipped", "w: query a | x: query a | y: query a | z: query a" },
	{ "lock/two-locks", "a=sw b=sw shipped", "x: query a; query b | y: query b; query a" },
	{ "lock/interrupted", "a=sw shipped faults=eintr", "x: query a | y: query a | z: query a" },

	{ "lock/posts", "a=sw,single shipped", "p: post a; post a | q: post a" },
	{ "lock/posts-two", "a=sw,single b=sw,single shipped", "p: post a | q: post b" },
	{ "lock/posts-many", "a=sw,many shipped", "p: post a | q: post a" },
	{ "lock/upcalls", "a=cq,single shipped", "hw: c a; c a | ctl: disable a; rearm a" },
	{ "lock/wait", "a=private shipped", "hw: c a; c a | app: take a 2 | x: query a" },
	{ "lock/wait-software", "a=sw shipped", "p: post a | q: post a | app: take a 2" },
	{ "lock/cno", "a=sw,n b=sw,n n shipped", "p: post a | q: post b | srv: serve n 2" },
	{ "lock/free", "a=sw,single shipped", "p: post a | x: query a | ctl: free a; reopen a" },
	{ "lock/teardown", "a=sw,many shipped", "p: post a 2 | ctl: teardown a | x: query a" },
	{ "lock/loop", "a=sw shipped", "x: loop; source | y: source" },
};

void
table_lock_load(void)
{
	table_add(table, sizeof table / sizeof *table);
}
