/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_fault -- what the system and the device refuse: which call, and when, is chosen like a schedule
 */
#include "family.h"

static const struct scenario_text table[] = {
	{ "fault/arm-single", "a=cq,single faults=arm", "hw: c a; c a" },
	{ "fault/arm-enable", "a=cq,single faults=arm",
	    "hw: c a; c a | ctl: disable a; single a; rearm a" },
	{ "fault/arm-wait", "a=private faults=arm", "hw: c a; c a | app: take a 2" },
	{ "fault/arm-cno", "a=cq,n n faults=arm", "hw: c a; c a | srv: serve n 2" },
	{ "fault/arm-norify", "a=cq,norify faults=arm", "hw: c a; c a" },
	{ "fault/arm-many", "a=cq,many faults=arm", "hw: c a; burst a 2" },
	{ "fault/arm-free", "a=cq,single faults=arm", "hw: c a | ctl: free a" },
	{ "fault/arm-teardown", "a=cq,single faults=arm",
	    "hw: c a; c a | ctl: teardown a; rearm a" },
	{ "fault/poll-single", "a=cq,single faults=poll", "hw: c a; c a" },
	{ "fault/poll-wait", "a=cq faults=poll", "hw: c a; c a | app: take a 2" },
	{ "fault/poll-dequeue", "a=cq,n n faults=poll", "hw: c a; c a | srv: serve n 2" },
	{ "fault/poll-rearm", "a=cq,single faults=poll",
	    "hw: c a; c a | up.a*: disable a; rearm a" },
	{ "fault/excess-single", "a=cq,single faults=excess", "hw: c a; c a" },
	{ "fault/excess-wait", "a=private faults=excess", "hw: c a; c a | app: take a 2" },
	{ "fault/eintr-wait", "a=private faults=eintr", "hw: c a; c a | app: take a 2" },
	{ "fault/eintr-cno", "a=cq,n n faults=eintr", "hw: c a; c a | srv: serve n 2" },
	{ "fault/eintr-single", "a=cq,single faults=eintr", "hw: c a; c a" },
	{ "fault/eintr-loop", "a=cq,single faults=eintr", "hw: c a; c a | ctl: teardown a" },
	{ "fault/eintr-free", "a=cq,many faults=eintr", "hw: burst a 2 | ctl: free a" },
	{ "fault/eintr-sources", "a=sw faults=eintr", "x: source | y: source" },
	{ "fault/eintr-three-sources", "a=sw faults=eintr",
	    "x: source | y: source | z: source; source" },
	{ "fault/open-wait", "a=cq faults=open,alloc", "hw: c a; c a | app: take a 2" },
	{ "fault/open-cno", "a=cq,n n faults=open,alloc", "hw: c a; c a | srv: serve n 2" },
	{ "fault/open-teardown", "a=cq,many faults=open,alloc", "hw: burst a 2 | ctl: teardown a" },
	{ "fault/open-free", "a=cq,many faults=open,alloc", "hw: burst a 2 | ctl: free a" },
	{ "fault/open-cno-free", "n faults=open,alloc", "ctl: cabrupt n | srv: cwait n 100" },
	{ "fault/epoll-enable", "a=private faults=epoll,alloc",
	    "hw: c a; c a | ctl: single a; rearm a; rearm a" },
	{ "fault/epoll-attach", "a=private n faults=epoll,alloc",
	    "hw: c a | ctl: attach a n; attach a n; attach a n | app: until a 1 | srv: serve n 1" },
	{ "fault/reopen", "a=cq,single faults=alloc", "hw: c a | ctl: free a; reopen a; reopen a" },
	{ "fault/resize", "a=cq,single,q2 faults=alloc,poll",
	    "hw: burst a 3 | ctl: resize a 4; resize a 4" },
	{ "fault/first-post", "a=cq,bare,single faults=alloc", "hw: c a | p: post a; post a" },
	{ "fault/first-posts", "a=sw,bare,single,q2 faults=alloc",
	    "p: post a | q: post a | ctl: resize a 3" },
	{ "fault/first-post-held", "a=cq,bare,hold faults=alloc,1",
	    "hw: c a | cm: established a; barrier a | app: wait a 2 100; drain a" },
	{ "fault/cno-open", "a=sw n=fd faults=open,1",
	    "p: post a | ctl: cfree n; creopen n; creopen n; attach a n; trigger n" },
	{ "fault/fd", "a=cq,n n=fd faults=eintr", "hw: c a; c a | srv: watch n 2" },
	{ "fault/loop", "faults=alloc,open,epoll,thread", "ctl: loop; loop" },
	{ "fault/poll-drained", "a=private,single,unsignalled,exact faults=poll",
	    "hw: c a.f; c a | x: drain a" },
	{ "fault/arm-moved", "a=cq,many pool=1 faults=arm",
	    "hw: c a; c a | ctl: norify a another" },
};

void
table_fault_load(void)
{
	table_add(table, sizeof table / sizeof *table);
}
