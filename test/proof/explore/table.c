/* SPDX-License-Identifier: BSD-3-Clause */
/* table -- the scenarios, and the families that are every combination of something */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

/* A scenario of the table is played so often for each schedule of one of a family. */
#define TABLE_WEIGHT 8

struct scenario *scenarios;
unsigned int n_scenarios;

static const struct scenario_text table[] = {
	/* The arm window, in each of its shapes. */
	{ "arm/single", "a=cq,single", "hw: c a; c a" },
	{ "arm/strict", "a=cq,strict,single", "hw: c a; c a" },
	{ "arm/exact", "a=cq,exact,single", "hw: c a; c a" },
	{ "arm/burst", "a=cq,single", "hw: burst a 2; c a" },
	{ "arm/private", "a=private,single", "hw: c a; c a" },
	{ "arm/spurious", "a=cq,single", "hw: c a; spurious a; c a" },
	{ "arm/posted", "a=cq,single", "hw: c a; c a | app: post a" },
	{ "arm/exact-dequeue", "a=cq,exact,single", "hw: c a; c a; c a | app: dequeue a; dequeue a" },
	{ "arm/exact-rearm", "a=cq,exact,single", "hw: c a; c a | ctl: single a new; dequeue a" },
	{ "arm/two-evds", "a=cq,single b=cq,single", "hw: c a; c b | hw2: c b; c a" },
	{ "arm/backlog", "a=cq,single,backlog3", "hw: c a" },
	{ "arm/backlog-exact", "a=cq,single,q2,exact,backlog3", "hw: c a" },
	{ "arm/small", "a=cq,single,q2", "hw: burst a 3; c a" },
	{ "arm/small-exact", "a=cq,single,q2,exact", "hw: burst a 3; c a | p: post a" },
	{ "arm/two-loops", "a=cq,single b=cq,single,loop1 loops=2", "hw: c a; c b | app: post b; post a" },

	/* The recommended pattern: disable in the upcall, drain, enable for new ones. */
	{ "pattern/rearm", "a=cq,single", "hw: c a; c a | app: post a | up.a*: disable a; rearm a" },
	{ "pattern/teardown", "a=cq,single", "hw: c a; c a | up.a*: disable a; rearm a | ctl: teardown a" },
	{ "pattern/outside", "a=cq,single", "hw: c a; c a | up.a*: disable a | ctl: rearm a; rearm a" },
	{ "pattern/dequeue", "a=cq,single", "hw: c a; c a; c a | up.a*: drain a" },

	/* Two who change the policy against each other. */
	{ "two/teardown-enable", "a=cq,single", "hw: c a; c a | x: teardown a | y: single a" },
	{ "two/disable-enable", "a=cq,single", "hw: c a; c a | x: disable a; single a | y: disable a" },
	{ "two/teardowns", "a=cq,single", "hw: c a; c a | x: teardown a | y: teardown a" },
	{ "two/many-single", "a=cq,many", "hw: burst a 3 | x: single a | y: many a" },
	{ "two/free-teardown", "a=cq,single", "hw: c a; c a | x: free a | y: teardown a" },
	{ "two/free-enable", "a=cq,single", "hw: c a; c a | x: free a | y: disable a; single a" },
	{ "two/free-free", "a=cq,single", "hw: c a | x: free a | y: free a" },

	/* MANY. */
	{ "many/burst", "a=cq,many", "hw: burst a 3" },
	{ "many/posts", "a=sw,many", "p: post a; post a | q: post a" },
	{ "many/crew3", "a=cq,many crew=3", "hw: burst a 4" },
	{ "many/to-single", "a=cq,many", "hw: c a; burst a 2 | ctl: single a" },
	{ "many/to-single-inside", "a=cq,many", "hw: burst a 3 | up.a: single a" },
	{ "many/teardown", "a=cq,many", "hw: burst a 3 | ctl: teardown a" },
	{ "many/teardown-waits", "a=cq,many", "hw: burst a 2 | up.a*: until a 2 | ctl: until a 2; teardown a" },
	{ "many/teardown-inside", "a=cq,many", "hw: burst a 3 | up.a*: teardown a" },
	{ "many/teardown-both", "a=cq,many", "hw: burst a 3 | up.a: teardown a | ctl: teardown a" },
	{ "many/free-inside", "a=cq,many", "hw: burst a 3 | up.a*: free a" },
	{ "many/free-outside", "a=cq,many", "hw: burst a 3 | ctl: free a" },
	{ "many/free-waits", "a=cq,many", "hw: burst a 2 | up.a*: until a 2 | ctl: until a 2; free a" },
	{ "many/free-both", "a=cq,many", "hw: burst a 2 | up.a: free a | ctl: free a" },
	{ "many/from-single", "a=cq,single", "hw: burst a 3 | up.a: many a" },
	{ "many/dequeue", "a=cq,many", "hw: burst a 3 | app: drain a" },

	/* A thread that waits. */
	{ "wait/take", "a=cq", "hw: c a; c a | app: take a 2" },
	{ "wait/take-private", "a=private", "hw: c a; c a | app: take a 2" },
	{ "wait/take-exact", "a=private,exact", "hw: c a; c a | app: take a 2" },
	{ "wait/take-posted", "a=cq", "hw: c a | p: post a | app: take a 2" },
	{ "wait/take-private-posted", "a=private", "hw: c a | p: post a; post a | app: take a 3" },
	{ "wait/software", "a=sw", "p: post a; post a | app: take a 2" },
	{ "wait/threshold", "a=cq", "hw: c a; c a | p: post a | app: wait a 3; drain a" },
	{ "wait/threshold-private", "a=private", "hw: burst a 2; c a | app: wait a 3; drain a" },
	{ "wait/threshold-full", "a=cq,q2", "hw: c a; c a | app: wait a 2; drain a" },
	{ "wait/timeout", "a=cq", "hw: c a | app: wait a 1 100; drain a" },
	{ "wait/timeout-private", "a=private", "hw: c a; c a | app: wait a 2 100; take a 1" },
	{ "wait/timeout-threshold", "a=private", "hw: c a; c a | app: wait a 3 100; take a 2" },
	{ "wait/timeout-software", "a=sw", "p: post a | app: wait a 1 50; wait a 2 50" },
	{ "wait/poll", "a=cq", "hw: c a | app: wait a 1 0; wait a 1 100" },
	{ "wait/unwaitable", "a=cq", "hw: c a | app: take a 1; drain a | ctl: unwaitable a" },
	{ "wait/unwaitable-blocked", "a=private", "hw: c a | app: take a 2 | ctl: unwaitable a" },
	{ "wait/unwaitable-again", "a=private", "hw: c a; c a | app: take a 2 | ctl: unwaitable a; waitable a" },
	{ "wait/free", "a=cq", "hw: c a | app: take a 2 | ctl: free a" },
	{ "wait/free-private", "a=private", "hw: c a | app: take a 2 | ctl: free a" },
	{ "wait/two", "a=cq", "hw: c a | app: wait a 1 100 | app2: wait a 1 100" },
	{ "wait/overflow", "a=cq", "hw: c a | app: take a 2 | ctl: overflow a" },
	{ "wait/enable", "a=cq", "hw: c a; c a | app: wait a 1 | ctl: single a" },
	{ "wait/after-policy", "a=private,single", "hw: c a; c a | ctl: disable a; wait a 1 100; single a" },
	{ "wait/in-upcall", "a=cq,single", "hw: c a; c a | up.a: disable a; take a 1; single a" },
	{ "wait/in-upcall-private", "a=private,single", "hw: c a; c a | up.a: disable a; take a 1; single a" },
	{ "wait/in-upcall-other", "a=cq,single b=cq", "hw: c a; c b | up.a: take b 1" },
	{ "wait/in-upcall-posted", "a=cq,single b=private", "hw: c a; c b | p: post b | up.a: take b 2" },
	{ "wait/in-upcall-third", "a=cq,single b=cq c=cq,single", "hw: c a; c c; c b | up.a: take b 1" },
	{ "wait/in-upcall-own-post", "a=cq,single", "hw: c a | p: post a; post a | up.a: disable a; take a 1; single a" },
	{ "wait/in-many", "a=cq,many b=cq", "hw: burst a 2; c b | p: post b | up.a*: wait b 1 100" },
	{ "wait/in-many-all", "a=cq,many b=cq", "hw: burst a 3 | p: post b; post b; post b | up.a*: take b 1" },
	{ "wait/in-many-late", "a=cq,many b=cq", "hw: burst a 3 | up.a*: wait b 1 100" },
	{ "wait/cno-leave", "a=private,n n", "hw: c a; c a | app: wait a 1 100 | srv: cwait n 200" },
	{ "wait/cno-threshold", "a=private,n n", "hw: c a | app: wait a 2 100 | srv: cwait n 200; cwait n 300" },
	{ "wait/dequeue", "a=cq", "hw: c a; c a | app: wait a 1 100; drain a | app2: dequeue a" },
	{ "wait/effect", "a=private,effect", "hw: c a; c a | app: take a 2 | ctl: free a" },

	/* CNOs. */
	{ "cno/serve", "a=cq,n n", "hw: c a; c a | srv: serve n 2" },
	{ "cno/serve-private", "a=private,n n", "hw: c a; c a | srv: serve n 2" },
	{ "cno/serve-exact", "a=cq,exact,n n", "hw: c a; c a | srv: serve n 2" },
	{ "cno/two-evds", "a=cq,n b=cq,n n", "hw: c a; c b | hw2: c b | srv: serve n 3" },
	{ "cno/three-evds", "a=cq,n b=sw,n c=private,n n", "hw: c a; c c | p: post b | srv: serve n 3" },
	{ "cno/before-wait", "a=cq,n,backlog1 b=cq,n,backlog1 n", "hw: c a | srv: serve n 3" },
	{ "cno/two-waiters", "a=cq,n b=cq,n n", "hw: c a; c b | srv: cwait n | srv2: cwait n" },
	{ "cno/two-waiters-timeout", "a=cq,n b=cq,n n", "hw: c a; c b | srv: cwait n 50 | srv2: cwait n" },
	{ "cno/timeout", "a=cq,n n", "hw: c a | srv: cwait n 100; cwait n 100" },
	{ "cno/disable", "a=cq,n n", "hw: c a; c a | ctl: off a; on a | srv: serve n 2" },
	{ "cno/attach", "a=cq n", "hw: c a; c a | ctl: attach a n | srv: serve n 2" },
	{ "cno/attach-private", "a=private n", "hw: c a; c a | ctl: attach a n | srv: serve n 2" },
	{ "cno/move", "a=cq,n n o", "hw: c a; c a | ctl: attach a o | srv: cwait n 100 | srv2: cwait o 200" },
	{ "cno/detach", "a=cq,n n", "hw: c a; c a | ctl: detach a; attach a n | srv: serve n 2" },
	{ "cno/free-evd", "a=cq,n b=cq,n n", "hw: c a; c b | ctl: free a | srv: cwait n 100; cwait n 200" },
	{ "cno/last-evd", "a=cq,n n", "hw: c a | ctl: free a | srv: cwait n 100; cwait n 10" },
	{ "cno/free", "n", "ctl: cfree n | srv: cwait n 100" },
	{ "cno/abrupt", "n", "ctl: cabrupt n | srv: cwait n | srv2: cwait n" },
	{ "cno/policy", "a=cq,single,n n", "hw: c a; c a | ctl: disable a | srv: cwait n 100" },
	{ "cno/policy-on", "a=cq,n n", "hw: c a; c a | ctl: single a | srv: cwait n 100" },
	{ "cno/agent", "a=cq,n n=agent", "hw: c a; c a | agent.n*: agent n" },
	{ "cno/agent-two", "a=cq,n b=cq,n n=agent", "hw: c a; c b | agent.n*: agent n" },
	{ "cno/agent-once", "a=cq,n n=agent", "hw: c a; c a | srv: cwait n 100" },
	{ "cno/agent-later", "a=cq,n n", "hw: c a; c a | ctl: agent n | agent.n*: agent n" },
	{ "cno/agent-out", "a=cq,n n=agent", "hw: c a | ctl: noagent n; agent n | agent.n*: agent n" },
	{ "cno/agent-frees", "a=cq,n n=agent", "hw: c a; c a | agent.n: free a; cfree n" },
	{ "cno/agent-freed", "a=cq,n n=agent", "hw: c a | ctl: free a; cfree n | agent.n*: agent n" },
	{ "cno/dequeue", "a=cq,n n", "hw: c a; c a; c a | app: dequeue a | srv: cwait n 100; cwait n 100" },

	/* CNOs whose proxy is a descriptor. */
	{ "fd/watch", "a=cq,n n=fd", "hw: c a; c a | srv: watch n 2" },
	{ "fd/private", "a=private,n n=fd", "hw: c a; c a | srv: watch n 2" },
	{ "fd/two-evds", "a=cq,n b=cq,n n=fd", "hw: c a; c b | hw2: c b | srv: watch n 3" },
	{ "fd/two-watch", "a=cq,n n=fd", "hw: c a; c a | srv: trigger n; trigger n | srv2: trigger n; trigger n" },
	{ "fd/wait-too", "a=cq,n n=fd", "hw: c a; c a | srv: cwait n 100 | srv2: trigger n" },
	{ "fd/posts", "a=sw,n b=sw,n n=fd", "p: post a; post b | q: post a | srv: watch n 3" },
	{ "fd/attach", "a=cq n=fd", "hw: c a; c a | ctl: attach a n | srv: watch n 2" },
	{ "fd/detach", "a=cq,n n=fd", "hw: c a; c a | ctl: detach a; attach a n | srv: watch n 2" },
	{ "fd/free-evd", "a=cq,n b=cq,n n=fd", "hw: c a; c b | ctl: free a | srv: trigger n; trigger n" },
	{ "fd/last-evd", "a=cq,n n=fd", "hw: c a | ctl: free a | srv: trigger n; trigger n" },
	{ "fd/agent", "a=cq,n n=fd", "hw: c a; c a | ctl: agent n | agent.n*: agent n | srv: trigger n" },

	/* A CNO that changes while events come. */
	{ "cno/move-twice", "a=cq,n n o",
	    "hw: c a; c a | ctl: attach a o; attach a n | srv: cwait n 100 | srv2: cwait o 100" },
	{ "cno/move-private", "a=private,n n o",
	    "hw: c a; c a | ctl: attach a o | srv: cwait n 100 | srv2: cwait o 200" },
	{ "cno/move-two", "a=cq,n b=cq,n n o",
	    "hw: c a; c b | ctl: attach a o | srv: cwait n 100 | srv2: cwait o 200" },
	{ "cno/move-agent", "a=cq,n n o=agent", "hw: c a; c a | ctl: attach a o | agent.o*: agent o" },
	{ "cno/move-waiter", "a=private,n n o",
	    "hw: c a; c a | ctl: attach a o | app: wait a 1 100 | srv: cwait o 200" },
	{ "cno/move-policy", "a=cq,single n o", "hw: c a; c a | ctl: attach a n; disable a; attach a o" },
	{ "cno/detach-served", "a=cq,n n", "hw: c a; c a | ctl: detach a | srv: cwait n 100; cwait n 100" },
	{ "cno/two-movers", "a=cq n o", "hw: c a; c a | x: attach a n | y: attach a o | srv: cwait n 100" },

	/* A queue that changes its length. */
	{ "resize/grow", "a=cq,single,q2", "hw: burst a 3; c a | ctl: resize a 4" },
	{ "resize/shrink", "a=cq,single", "hw: c a; c a | ctl: resize a 1" },
	{ "resize/wait", "a=cq,q2", "hw: c a; c a; c a | app: take a 3 | ctl: resize a 3" },
	{ "resize/wait-private", "a=private,q2", "hw: c a; c a; c a | app: take a 3 | ctl: resize a 3" },
	{ "resize/threshold", "a=private,q2", "hw: c a; c a; c a | app: wait a 2 100; drain a | ctl: resize a 4" },
	{ "resize/norify", "a=cq,norify,q2", "hw: burst a 3; c a | ctl: resize a 4" },
	{ "resize/many", "a=cq,many,q2", "hw: burst a 3 | ctl: resize a 4" },
	{ "resize/cno", "a=cq,n,q2 n", "hw: burst a 3 | ctl: resize a 4 | srv: serve n 3" },
	{ "resize/posts", "a=sw,single,q2", "p: post a; post a | q: post a; post a | ctl: resize a 4" },
	{ "resize/barrier", "a=cq,single", "hw: c a; barrier a; c a | ctl: resize a 4" },
	{ "resize/hold", "a=cq,hold,single", "hw: c a; c a | cm: established a | ctl: resize a 4" },
	{ "resize/twice", "a=cq,single", "hw: c a; c a | x: resize a 2 | y: resize a 3" },
	{ "resize/full", "a=cq,single,q2,backlog3", "hw: c a | ctl: resize a 3" },
	{ "resize/full-told", "a=cq,norify,q2,backlog3", "hw: c a | ctl: resize a 8" },
	{ "resize/off", "a=cq,single", "hw: c a; c a | ctl: disable a; resize a 4; rearm a" },
	{ "resize/inside", "a=cq,single,q2", "hw: burst a 3; c a | up.a: resize a 4" },
	{ "resize/purge", "a=cq,single", "hw: c a; c a | p: post a; post a | x: purge a | ctl: resize a 4" },

	/* Destroying and acknowledging. */
	{ "free/idle", "a=cq,single", "hw: c a; c a | ctl: free a" },
	{ "free/private", "a=private,single", "hw: c a; c a | ctl: free a" },
	{ "free/inside", "a=cq,single", "hw: c a; c a | up.a: free a" },
	{ "free/inside-private", "a=private,single", "hw: c a; c a | up.a: free a" },
	{ "free/inside-other", "a=cq,single b=cq,single", "hw: c a; c b | up.a: free b" },
	{ "free/inside-crew", "a=cq,many b=cq,many crew=1", "hw: c a; c b | hw2: c b | up.a: free b" },
	{ "free/source", "a=cq,single", "hw: c a | ctl: source | up.a: source" },
	{ "free/each-other", "a=cq,single b=cq,single", "hw: c a; c b | hw2: c b | up.a: free b | up.b: free a" },
	{ "free/two-on-channel", "a=cq,single b=cq,single", "hw: c a; c b; c b | ctl: free a" },
	{ "free/reopen", "a=cq,single", "hw: c a; c a | ctl: free a; reopen a; single a" },
	{ "free/reopen-private", "a=private,single", "hw: c a; c a | ctl: free a; reopen a; single a" },
	{ "free/post", "a=sw,single", "p: post a; post a | ctl: free a" },
	{ "free/notified", "a=cq", "hw: c a; c a | app: wait a 1 10 | ctl: free a" },
	{ "free/dequeue-effect", "a=cq,effect", "hw: c a; c a | app: drain a | ctl: free a" },
	{ "free/upcall-effect", "a=cq,effect,single", "hw: c a; c a | ctl: free a" },
	{ "free/close-inside", "a=cq,single", "hw: c a | app: until a 1 | up.a: free a; closeloop" },
	{ "free/teardown-inside", "a=cq,single", "hw: c a; c a | up.a: teardown a; free a" },
	{ "free/other-loop", "a=cq,single b=cq,single,loop1 loops=2", "hw: c a; c b | up.a: free b" },
	{ "free/disabled-armed", "a=cq,single", "hw: c a | ctl: disable a; free a" },

	/* Overflow, holds, barriers, purges. */
	{ "overflow/upcall", "a=cq,single", "hw: c a; c a | ctl: overflow a" },
	{ "overflow/two", "a=cq,single", "hw: c a | x: overflow a | y: overflow a" },
	{ "overflow/cno", "a=cq,n n", "hw: c a | ctl: overflow a | srv: cwait n 100" },
	{ "overflow/free", "a=cq", "hw: c a | app: take a 2 | x: overflow a | ctl: free a" },
	{ "overflow/resize", "a=cq,single", "hw: c a; c a | x: overflow a | ctl: resize a 4" },
	{ "overflow/full", "a=sw,single,q2", "p: post a; post a; post a | q: post a" },
	{ "order/established", "a=cq,hold,single", "hw: c a; c a | cm: established a" },
	{ "order/established-wait", "a=cq,hold", "hw: c a; c a | cm: established a | app: take a 3" },
	{ "order/established-cno", "a=cq,hold,n n", "hw: c a; c a | cm: established a | srv: serve n 3" },
	{ "order/established-rearm", "a=cq,hold,mixed", "hw: c a; c a | cm: established a | ctl: single a new; rearm a" },
	{ "order/disconnected", "a=cq,single", "hw: c a; c a; barrier a" },
	{ "order/disconnected-race", "a=cq,single", "hw: c a; c a | cm: barrier a" },
	{ "order/disconnected-wait", "a=private", "hw: c a; c a; barrier a | app: take a 3" },
	{ "order/disconnected-cno", "a=cq,n n", "hw: c a; barrier a | p: post a | srv: serve n 3" },
	{ "order/disconnected-post", "a=cq,single", "hw: c a; barrier a | p: post a" },
	{ "order/disconnected-small", "a=cq,single,q2", "hw: burst a 2; barrier a; c a" },
	{ "order/barrier-norify", "a=cq,norify", "hw: c a; barrier a | p: post a" },
	{ "order/purge", "a=cq,single", "hw: c a; c a | p: post a; post a | ctl: purge a" },
	{ "order/purge-barrier", "a=cq,single", "hw: c a; barrier a; c a | ctl: purge a" },

	/* Faults, chosen like schedules. */
	{ "fault/arm-single", "a=cq,single faults=arm", "hw: c a; c a" },
	{ "fault/arm-enable", "a=cq,single faults=arm", "hw: c a; c a | ctl: disable a; single a; rearm a" },
	{ "fault/arm-wait", "a=private faults=arm", "hw: c a; c a | app: take a 2" },
	{ "fault/arm-cno", "a=cq,n n faults=arm", "hw: c a; c a | srv: serve n 2" },
	{ "fault/arm-norify", "a=cq,norify faults=arm", "hw: c a; c a" },
	{ "fault/arm-many", "a=cq,many faults=arm", "hw: c a; burst a 2" },
	{ "fault/arm-free", "a=cq,single faults=arm", "hw: c a | ctl: free a" },
	{ "fault/arm-teardown", "a=cq,single faults=arm", "hw: c a; c a | ctl: teardown a; rearm a" },
	{ "fault/poll-single", "a=cq,single faults=poll", "hw: c a; c a" },
	{ "fault/poll-wait", "a=cq faults=poll", "hw: c a; c a | app: take a 2" },
	{ "fault/poll-dequeue", "a=cq,n n faults=poll", "hw: c a; c a | srv: serve n 2" },
	{ "fault/poll-rearm", "a=cq,single faults=poll", "hw: c a; c a | up.a*: disable a; rearm a" },
	{ "fault/excess-single", "a=cq,single faults=excess", "hw: c a; c a" },
	{ "fault/excess-wait", "a=private faults=excess", "hw: c a; c a | app: take a 2" },
	{ "fault/eintr-wait", "a=private faults=eintr", "hw: c a; c a | app: take a 2" },
	{ "fault/eintr-cno", "a=cq,n n faults=eintr", "hw: c a; c a | srv: serve n 2" },
	{ "fault/eintr-single", "a=cq,single faults=eintr", "hw: c a; c a" },
	{ "fault/eintr-loop", "a=cq,single faults=eintr", "hw: c a; c a | ctl: teardown a" },
	{ "fault/eintr-free", "a=cq,many faults=eintr", "hw: burst a 2 | ctl: free a" },
	{ "fault/open-wait", "a=cq faults=open,alloc", "hw: c a; c a | app: take a 2" },
	{ "fault/open-cno", "a=cq,n n faults=open,alloc", "hw: c a; c a | srv: serve n 2" },
	{ "fault/open-teardown", "a=cq,many faults=open,alloc", "hw: burst a 2 | ctl: teardown a" },
	{ "fault/open-free", "a=cq,many faults=open,alloc", "hw: burst a 2 | ctl: free a" },
	{ "fault/open-cno-free", "n faults=open,alloc", "ctl: cabrupt n | srv: cwait n 100" },
	{ "fault/epoll-enable", "a=private faults=epoll,alloc", "hw: c a; c a | ctl: single a; rearm a; rearm a" },
	{ "fault/epoll-attach", "a=private n faults=epoll,alloc", "hw: c a | ctl: attach a n; attach a n; attach a n | app: until a 1 | srv: serve n 1" },
	{ "fault/reopen", "a=cq,single faults=alloc", "hw: c a | ctl: free a; reopen a; reopen a" },
	{ "fault/resize", "a=cq,single,q2 faults=alloc,poll",
	    "hw: burst a 3 | ctl: resize a 4; resize a 4" },
	{ "fault/fd", "a=cq,n n=fd faults=eintr", "hw: c a; c a | srv: watch n 2" },
	{ "fault/loop", "faults=alloc,open,epoll,thread", "ctl: loop; loop" },
};

/* ---- families ---- */

struct pool {
	char name[64], setup[96], actors[256];
};

static struct scenario_text text;
static unsigned int n_room;

static void
add(const struct scenario_text *t)
{
	if (n_scenarios == n_room) {
		n_room = n_room ? 2 * n_room : 256;
		scenarios = realloc(scenarios, n_room * sizeof *scenarios);
		if (!scenarios)
			abort();
	}
	scenario_parse(&scenarios[n_scenarios++], t);
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
	text = (struct scenario_text){ p->name, p->setup, p->actors };
	add(&text);
}

/* Every policy, count of events, and change of policy, from another thread and from the upcall. */
static void
family_policy(void)
{
	static const char *const policies[] = { "single", "norify", "many" };
	static const struct {
		const char *name, *actions;
	} changes[] = {
		{ "none", "" },
		{ "disable", "disable a" },
		{ "teardown", "teardown a" },
		{ "toggle", "disable a; %s a" },
		{ "toggle-new", "disable a; %s a new" },
		{ "rearm", "disable a; rearm a" },
		{ "again", "%s a" },
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
						append(pool.name, sizeof pool.name,
						    "policy/%s/%s%s/c%ds%d", policies[p],
						    changes[k].name, inside ? "-inside" : "", c, s);
						append(pool.setup, sizeof pool.setup, "a=cq,%s%s",
						    policies[p], c + s > 3 ? " heavy" : "");
						producers(&pool, c, s);
						if (k) {
							append(pool.actors, sizeof pool.actors, "%s: ",
							    inside ? "up.a" : "ctl");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
							append(pool.actors, sizeof pool.actors,
							    changes[k].actions, policies[p]);
#pragma GCC diagnostic pop
						}
						add_pool(&pool);
					}
}

/* A waiter: threshold, deadline, channel, and what happens to it. */
static void
family_wait(void)
{
	static const char *const others[] = { "", "ctl: unwaitable a", "ctl: free a", "ctl: dequeue a",
		"ctl: post a", "ctl: single a" };
	static const char *const names[] = { "alone", "unwaitable", "free", "dequeue", "post", "single" };

	for (int private = 0; private < 2; private++)
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
					append(pool.setup, sizeof pool.setup, "n%s%s",
					    agent ? "=agent" : "", n * each > 3 ? " heavy" : "");
					append(pool.actors, sizeof pool.actors,
					    agent ? "agent.n*: agent n" : "srv: serve n %d",
					    n * each);
					add_pool(&pool);
				}
}

void
scenario_load(void)
{
	for (unsigned int i = 0; i < sizeof table / sizeof *table; i++) {
		add(&table[i]);
		scenarios[i].weight = TABLE_WEIGHT;
	}
	family_policy();
	family_wait();
	family_cno();
}
