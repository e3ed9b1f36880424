/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_order -- several endpoints on one EVD, and notifications for solicited completions
 *
 * One endpoint connects (its receives are held until ESTABLISHED), another one ends (its last event
 * waits for its completions), a third one works, and software events are posted in between. The
 * queues are short, so that the ring is full while a thread waits.
 */
#include "family.h"

static const struct scenario_text table[] = {
	/* One ends and one begins. */
	{ "ends/begin", "a=cq,hold.f,single,d4,q2",
	    "hw: c a.e; c a.f; c a.e; c a.f | cm: barrier a.e | cm2: established a.f" },
	{ "ends/begin-behind", "a=cq,hold.f,single,d8,q3",
	    "hw: burst a.e 3; c a.f; c a.f | cm: barrier a.e; established a.f | p: post a" },
	{ "ends/begin-wait", "a=private,hold.f,d8,q2",
	    "hw: burst a.e 2; c a.f; c a.e | cm: barrier a.e; established a.f | app: take a 6" },
	{ "ends/begin-cno", "a=cq,hold.f,n,d8,q3 n",
	    "hw: c a.e; burst a.f 2; c a.e | cm: barrier a.e; established a.f | srv: serve n 6" },
	{ "ends/begin-drain", "a=cq,hold.f,d8,q2",
	    "hw: burst a.e 3; c a.f | cm: barrier a.e; established a.f; post a | app: drain a; "
	    "wait a 2 50; drain a; wait a 1 50; drain a" },
	{ "ends/begin-norify", "a=cq,hold.f,norify,d8,q2",
	    "hw: c a.f; burst a.e 3 | cm: barrier a.e; post a | cm2: established a.f" },
	{ "ends/begin-many", "a=cq,hold.f,many,d8,q2",
	    "hw: burst a.e 2; c a.f | cm: barrier a.e; established a.f" },

	/* Both begin, both end, one again and again. */
	{ "ends/two-begin", "a=cq,hold.e,hold.f,single,d8,q2",
	    "hw: c a.e; c a.f; c a.e; c a.f | cm: established a.e | cm2: established a.f" },
	{ "ends/two-end", "a=cq,single,d4,q2",
	    "hw: c a.e; c a.f; c a.e; c a.f | cm: barrier a.e | cm2: barrier a.f; post a" },
	{ "ends/both", "a=cq,hold.e,hold.f,single,d3,q3",
	    "hw: c a.e; c a.f; c a.f | cm: established a.e; barrier a.e | "
	    "cm2: established a.f; barrier a.f | p: post a" },
	{ "ends/again", "a=cq,single,d8,q3",
	    "hw: c a.e; c a.f; c a.e; c a.e | cm: barrier a.e; established a.e; barrier a.f | p: "
	    "post a" },
	{ "ends/again-wait", "a=private,d8,q3",
	    "hw: burst a.e 4; c a.f | cm: barrier a.e; established a.e; barrier a.e | "
	    "app: wait a 3 50; drain a; wait a 1 50; drain a" },
	{ "ends/again-leave", "a=cq,hold.e,hold.f,single,d8,q2",
	    "hw: burst a.e 3 | cm: barrier a.f; c a.f; established a.f | ctl: leave a.e" },
	{ "ends/after-many", "a=cq,single,q3",
	    "hw: c a.e; c a.e; c a.e; until a 3; c a.e | cm: until a 3; barrier a.e" },
	{ "ends/established-twice", "a=cq,hold.e,d8",
	    "hw: c a.e; c a.e | cm: established a.e; established a.e | "
	    "app: wait a 4 50; drain a; wait a 1 50; drain a" },
	{ "ends/third", "a=private,hold.f,d8,q4",
	    "hw: c a.e; c a.f; c a.g; c a.e; c a.f; c a.g | cm: barrier a.e; established a.f; "
	    "barrier a.f | p: post a | app: take a 10" },
	{ "ends/third-upcall", "a=cq,hold.f,single,d8,q3",
	    "hw: burst a.g 2; c a.e; c a.f; c a.g | cm: barrier a.e; barrier a.g | "
	    "cm2: established a.f; post a" },
	{ "ends/never", "a=cq,hold.f,single,d8,q2",
	    "hw: c a.f; c a.e; c a.f; c a.e | cm: barrier a.e; post a" },

	/* A purge of one endpoint drops no event of another one, and opens no barrier. */
	{ "ends/leave", "a=cq,hold.f,single,d8,q3",
	    "hw: c a.e; c a.f; c a.g; c a.f | cm: barrier a.e; established a.f | ctl: leave a.f" },
	{ "ends/leave-ended", "a=cq,hold.f,single,d8,q3",
	    "hw: c a.e; c a.f; c a.e | cm: barrier a.e; post a; established a.f | ctl: leave a.e" },
	{ "ends/leave-drain", "a=cq,hold.f,d8,q2",
	    "hw: burst a.e 2; c a.f; c a.g | cm: established a.f; barrier a.f | ctl: leave a.f; "
	    "leave a.e | app: wait a 1 50; drain a; drain a" },
	/* Connected again while events of the first connection are queued. */
	{ "ends/again", "a=cq,hold,single,d8",
	    "hw: c a; c a; c a; c a | cm: established a; again a; established a" },
	{ "ends/again-held", "a=cq,hold,single,d8",
	    "cm: c a; refresh a; established a; until a 2; again a; c a; refresh a; established "
	    "a" },
	{ "ends/again-drain", "a=cq,hold,q3,d8",
	    "hw: c a; c a; c a; c a | cm: established a; again a; established a; barrier a | "
	    "app: drain a; drain a; wait a 1 50; drain a" },
	{ "ends/again-others", "a=cq,hold.e,hold.f,single,d8",
	    "hw: c a.e; c a.f; c a.e; c a.f | cm: established a.f; again a.f; established a.f; "
	    "established a.e; barrier a.e" },
	/* The device's queue gets shorter and longer, and a barrier is closed. */
	{ "ends/depth", "a=private,q2,d8",
	    "hw: burst a 3; burst a 3; c a | cm: barrier a | "
	    "x: dequeue a; dequeue a; dequeue a; dequeue a; depth a 3; drain a" },
	{ "ends/depth-upcall", "a=cq,single,q2,d8",
	    "hw: burst a 3; burst a 3; c a | cm: barrier a | x: depth a 4; depth a 2; depth a 8" },
	{ "ends/leave-cno", "a=cq,hold.f,n,d8,q2 n",
	    "hw: c a.f; c a.e; c a.f; c a.e | cm: established a.f; barrier a.e | ctl: leave a.f | "
	    "srv: cwait n 50; cwait n 50; cwait n 50" },
	{ "ends/resize", "a=cq,hold.f,single,d8,q2",
	    "hw: c a.f; burst a.e 3 | cm: barrier a.e; established a.f | ctl: resize a 4; resize a "
	    "3" },
	{ "ends/resize-held", "a=private,hold.e,hold.f,d8,q3",
	    "hw: c a.e; c a.f; c a.f | cm: established a.f; post a; established a.e | "
	    "ctl: resize a 4; resize a 2 | app: wait a 2 50; drain a" },
	{ "ends/refused", "a=cq,hold.f,d8,q1",
	    "hw: c a.f; c a.f | cm: post a; established a.f; barrier a.e | app: wait a 1 50; drain "
	    "a" },
	{ "ends/overflow", "a=cq,hold.f,single,d8,q2",
	    "hw: c a.e; c a.f; c a.e | cm: barrier a.e; established a.f | ctl: overflow a" },
	{ "ends/fault", "a=cq,hold.f,single,d8,q3 faults=poll,arm",
	    "hw: c a.e; c a.f; c a.e | cm: barrier a.e | cm2: established a.f" },
	{ "ends/unsignalled", "a=cq,hold.f,single,unsignalled,d8,q2",
	    "hw: c a.e; c a.f; c a.e; c a.f | cm: barrier a.e; established a.f" },

	/* Events for solicited completions: two are, and the next two are not. */
	{ "solicited/upcall", "a=cq,single,solicited", "hw: c a 4" },
	{ "solicited/many", "a=cq,many,solicited pool=2", "hw: burst a 4; burst a 2" },
	{ "solicited/many-array", "a=cq,many,array,effect,solicited pool=2",
	    "hw: burst a 4; burst a 2" },
	{ "solicited/many-fault", "a=cq,many,solicited pool=2 faults=poll",
	    "hw: burst a 4; burst a 2" },
	{ "solicited/dequeue", "a=cq,single,solicited", "hw: burst a 3; c a | app: drain a" },
	{ "solicited/norify", "a=cq,norify,solicited", "hw: burst a 3; c a | app: drain a" },
	{ "solicited/widen", "a=cq,single,solicited", "hw: c a; c a; c a | ctl: all a" },
	{ "solicited/widen-exact", "a=cq,exact,norify,solicited",
	    "hw: c a; c a; c a | ctl: all a | p: post a" },
	{ "solicited/widen-wait", "a=private,solicited",
	    "hw: c a; c a; c a | app: take a 3 | ctl: all a" },
	{ "solicited/widen-cno", "a=cq,n,solicited n",
	    "hw: c a; c a; c a | ctl: all a; solicited a; all a | srv: serve n 3" },
	{ "solicited/widen-strict", "a=cq,strict,single,solicited",
	    "hw: c a; c a; c a | x: all a | y: solicited a; all a" },
	{ "solicited/widen-inside", "a=cq,single,solicited",
	    "hw: c a 4 | up.a: all a; solicited a; disable a; all a; single a" },
	{ "solicited/widen-fault", "a=cq,single,solicited faults=arm",
	    "hw: c a; c a; c a | ctl: all a" },
	{ "solicited/policy", "a=cq,solicited,n n",
	    "hw: c a; c a; c a | ctl: single a; all a; disable a; solicited a; single a new" },
	{ "solicited/spurious", "a=cq,single,solicited",
	    "hw: c a; spurious a; c a | ctl: all a | x: disable a; single a" },
	{ "solicited/narrow", "a=cq,single", "hw: c a; c a; c a | ctl: solicited a; all a" },
	{ "solicited/late", "a=cq,single,solicited",
	    "hw: c a; c a; c a | ctl: free a; reopen a; solicited a; single a | x: all a; all a" },
};

void
table_order_load(void)
{
	table_add(table, sizeof table / sizeof *table);
}
