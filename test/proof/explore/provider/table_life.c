/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_life -- slots that are used again, and several endpoints on an EVD
 */
#include "tables.h"

const struct scenario_text table_life[] = {
	/*
	 * `ctl` frees an object and creates one at once; `x` has the old handle, or is in the
	 * middle of a call.
	 */
	{ "life/evd", "a=sw,single n",
	    "ctl: free a; reopen a; single a; post a | p: post a; see a; post a | "
	    "x: dequeue a; post a; wait a 1 50; disable a; resize a 70; unwaitable a; query a; "
	    "free a" },
	{ "life/evd-sink", "a=sw,single,n n",
	    "ctl: free a; reopen a; single a; post a | p: post a | "
	    "x: single a; attach a n; off a; detach a; teardown a; on a; free a" },
	{ "life/evd-waiter", "a=sw b=sw",
	    "ctl: free a; reopen a; post a; free b; reopen b | p: post b; post a | "
	    "x: wait a 1 50; see a; wait a 1 50; wait b 1 50; free b | y: dequeue a; free a; post "
	    "b" },
	{ "life/evd-cq", "a=cq,single b=sw,single",
	    "ctl: free a; reopen a; single a; post a | x: free b; reopen b; resize a 70; post b; "
	    "wait a 1 50; free a" },
	{ "life/evd-private", "a=cq,private,single b=cq,single",
	    "ctl: free a; reopen a; single a; free a; reopen a; single a | p: post a; post b | "
	    "x: disable a; free b; reopen b; single b; dequeue b; post a" },
	{ "life/cno", "a=sw,n b=sw n",
	    "ctl: detach a; cfree n; creopen n; attach a n; post a | p: post a; attach b n | "
	    "x: cwait n 50; agent n; noagent n; cquery n; attach b n; cfree n; cwait n 50" },
	{ "life/cno-agent", "a=sw,n n=agent",
	    "ctl: detach a; cfree n; creopen n; attach a n; agent n; post a | p: post a; post a | "
	    "x: agent n; csee n; agent n; cwait n 50 | agent.n*: agent n" },
	{ "life/ep", "a=cq,single e=all.a,recvs2",
	    "hw: rx e; rx e | ctl: epfree e; epnew e; recv e; connect e | cm: est e; rx e | "
	    "x: recv e; send e; disconnect e; reset e; epfree e" },
	{ "life/ep-fails", "a=cq,single b=async,single e=all.a,recvs1,sends1",
	    "hw: fail e; qpfatal e | ctl: epfree e; epnew e; connect e; recv e | cm: est e; down e "
	    "| "
	    "x: graceful e; epfree e" },
	{ "life/ep-drain", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | ctl: epfree e; epnew e; recv e; connect e | app: drain a; wait a 1 "
	    "50; "
	    "drain a | cm: down e; est e; rx e" },
	{ "life/ep-awaits-beside", "a=cq,private e=all.a",
	    "y: disconnect e | ctl: epfree e; epnew e; connect e; disconnect e | x: reset e; reset "
	    "e" },
	{ "life/ep-awaits-again", "a=cq,private e=all.a answers=aaa",
	    "ctl: disconnect e; epfree e; epnew e; connect e; disconnect e; epfree e; epnew e; "
	    "connect e | "
	    "x: reset e; reset e" },
	{ "life/ep-awaits", "a=cq,private e=all.a",
	    "ctl: disconnect e; epfree e; epnew e; connect e | x: reset e; reset e; reset e" },
	{ "life/ep-awaits-two", "a=cq,private e=all.a",
	    "ctl: disconnect e; epfree e; epnew e; connect e | x: reset e; reset e | y: reset e; "
	    "reset e" },
	{ "life/ep-awaits-end", "a=cq,private e=all.a,recvs1",
	    "cm: down e | x: disconnect e; reset e | ctl: epfree e; epnew e; connect e" },
	{ "life/all", "a=cq,single,n b=sw,single e=all.a,recvs1 n",
	    "hw: rx e | ctl: epfree e; free a; reopen a; epnew e; recv e | p: post b; post a | "
	    "x: free b; reopen b; single b; post b; post a; free a | srv: cwait n 50" },

	/* What an endpoint left in the device takes room that the next one is to have. */
	{ "left/reset", "a=cq,private e=all.a,recvs2,sends1 f=all.a,recvs1",
	    "hw: rx e | ctl: disconnect e; reset e; recv e; connect e | cm: accept e; rx e" },
	{ "left/free", "a=cq,private e=all.a,recvs2 f=all.a,recvs1",
	    "hw: rx e; rx f | ctl: epfree e; epnew e; recv e" },
	{ "left/both", "a=cq,private e=all.a,recvs2 f=all.a,recvs2",
	    "hw: rx e; rx f | x: epfree e; epnew e | y: disconnect f; reset f; recv f" },
	{ "left/upcall", "a=cq,single e=all.a,recvs2 f=all.a,recvs2",
	    "hw: rx e; fail f | up.a: epfree e; epnew e; recv e | y: disconnect f; reset f" },

	/* An endpoint that connects again: nothing of the last connection is taken for its own. */
	{ "again/by-peer", "a=cq,private e=all.a,recvs1 answers=a",
	    "x: disconnect e; reset e; recv e; connect e; pause 20; rxfail e 3; down e; pause 20" },
	{ "again/works", "a=cq,private e=all.a,recvs1,sends1 answers=a",
	    "x: fail e 7; disconnect e; pause 20; reset e; connect e; pause 20; down e; pause 20" },
	{ "again/times-out", "a=cq,single e=all.a,recvs1 answers=s",
	    "x: disconnect e; reset e; connect e 20; pause 50" },
	{ "again/room",
	    "a=cq,private b=async,single e=all.a,pending,recvs1 faults=poll,1 answers=a",
	    "x: disconnect e; reset e; recv e; connect e; down e; reset e; recv e; connect e" },

	/* Three endpoints on an EVD: one ends, one begins, one works. */
	{ "ends/begin", "a=cq,single e=all.a,recvs2,sends1 f=all.a,pending,recvs2 g=all.a,recvs1",
	    "hw: tx e; rx e; rx g | cm: down e; est f | hw2: rx f; rx f" },
	{ "ends/begin-wait", "a=cq,private e=all.a,recvs1,sends1 f=all.a,pending,recvs2",
	    "hw: tx e; rx e | cm: est f; down e | hw2: rx f; rx f | app: take a 3; wait a 3 100; "
	    "drain a" },
	{ "ends/fail", "a=cq,single e=all.a,recvs1,sends2 f=all.a,pending,recvs1 g=all.a,recvs1",
	    "hw: fail e; rx g | cm: est f; down g | hw2: rx f | p: post a" },
	{ "ends/reject", "a=cq,single e=all.a,pending,recvs2 f=all.a,pending,recvs2 g=all.a,recvs1",
	    "cm: reject e; est f; rx f | cm2: down g | ctl: disconnect f" },
	{ "ends/free", "a=cq,single e=all.a,recvs2 f=all.a,pending,recvs2 g=all.a,recvs1",
	    "hw: rx e; rx g | cm: est f; down g | hw2: rx f | ctl: epfree e; epfree f" },
	{ "ends/drain", "a=cq,private e=all.a,recvs2,sends1 f=all.a,pending,recvs2",
	    "hw: rx e; tx e; rx e | cm: down e; est f; rx f | p: post a 2 | app: drain a; "
	    "wait a 2 50; drain a" },
	{ "ends/all", "a=cq,single e=all.a,recvs1 f=all.a,recvs1 g=all.a,recvs1",
	    "cm: down e | cm2: down f | ctl: disconnect g; reset g; recv g; connect g | cm3: "
	    "accept g" },
	{ "ends/cno", "a=cq,n e=all.a,recvs2 f=all.a,pending,recvs1 g=all.a,recvs1 n",
	    "hw: rx e; rx g | cm: down e; est f; rx f | srv: cwait n 100; cwait n 100; cwait n "
	    "100" },
	{ "ends/fatal", "a=cq,single,all e=all.a,recvs1 f=all.a,pending,recvs1",
	    "hw: rx e; qpfatal e; rx f | cm: est f; down f" },
	{ "ends/resize", "a=cq,single,q2 e=all.a,recvs2 f=all.a,pending,recvs3 g=all.a,recvs2",
	    "hw: rx e 2; rx g 2 | cm: down e; est f | hw2: rx f 3 | ctl: resize a 70; resize a 3" },
};

const unsigned int table_life_n = sizeof table_life / sizeof *table_life;
