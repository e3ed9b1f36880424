/* SPDX-License-Identifier: BSD-3-Clause */
/* table -- the scenarios of the provider */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic.h"
#include "tables.h"

struct scenario *scenarios;
unsigned int n_scenarios;

static const struct scenario_text table[] = {
	/* Completions and the connection's end arrive at one EVD. */
	{ "merged/disconnect", "a=cq,single e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | ctl: disconnect e" },
	{ "merged/disconnect-wait", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | ctl: disconnect e | app: take a 4" },
	{ "merged/peer", "a=cq,single e=all.a,recvs2,sends1", "hw: tx e; rx e; down e" },
	{ "merged/peer-race", "a=cq,single e=all.a,recvs2,sends1", "hw: tx e; rx e | cm: down e" },
	{ "merged/peer-wait", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: tx e; rx e | cm: down e | app: take a 4" },
	{ "merged/both", "a=cq,single e=all.a,recvs1,sends1",
	    "cm: down e | ctl: disconnect e | hw: rx e" },
	{ "merged/fail", "a=cq,single e=all.a,recvs2,sends2", "hw: rx e; fail e" },
	{ "merged/fail-mute", "a=cq,single e=all.a,recvs1",
	    "app: mute e 2; hush e | hw: tx e; fail e 4 | cm: down e" },
	{ "merged/rxfail", "a=cq,single e=all.a,pending,recvs3",
	    "cm: est e; rx e; rxfail e 2; down e" },
	{ "merged/fail-down", "a=cq,single e=all.a,recvs1,sends2", "hw: fail e | cm: down e" },
	{ "merged/fail-disconnect", "a=cq,private e=all.a,recvs1,sends2",
	    "hw: fail e | ctl: disconnect e | app: take a 4" },
	{ "merged/graceful-fail", "a=cq,private e=all.a,recvs1,sends1",
	    "hw: fail e | x: graceful e; pause 20" },
	{ "merged/graceful-abrupt", "a=cq,single e=all.a,sends1",
	    "hw: tx e | x: graceful e; disconnect e" },
	{ "merged/graceful", "a=cq,single e=all.a,recvs1,sends2",
	    "hw: tx e; tx e | ctl: graceful e" },
	{ "merged/graceful-peer", "a=cq,single e=all.a,recvs1,sends2",
	    "hw: tx e | ctl: graceful e | cm: down e" },
	{ "merged/mute", "a=cq,single e=all.a,recvs1",
	    "app: mute e 2; send e | hw: tx e; tx e | cm: down e" },
	{ "merged/post-late", "a=cq,private e=all.a,recvs1",
	    "app: send e; recv e | ctl: disconnect e | w: wait a 1 100; wait a 1 100; drain a" },
	{ "merged/fatal", "a=cq,single e=all.a,recvs1,sends1", "hw: qpfatal e | cm: down e" },
	{ "merged/software", "a=cq,single e=all.a,recvs1,sends1",
	    "hw: rx e; tx e | p: post a 2 | ctl: disconnect e" },
	{ "merged/software-wait", "a=cq,private e=all.a,recvs1,sends1",
	    "hw: rx e; tx e | p: post a | cm: down e | app: take a 4" },
	{ "merged/async", "a=cq,single,all e=all.a,recvs1,sends1",
	    "hw: rx e; devfatal | p: post a | ctl: disconnect e" },
	{ "merged/async-wait", "a=cq,private,all e=all.a,recvs1",
	    "hw: rx e; devfatal | cm: down e | app: wait a 3 100; drain a" },
	/* Several events at once. */
	{ "several/drain", "a=cq,private e=all.a,recvs3,sends2",
	    "hw: rx e 2; tx e 2; rx e | app: several a 4; several a 8; drain a" },
	{ "several/fail", "a=cq,private e=all.a,recvs2,sends2",
	    "hw: rx e; fail e; rx e | app: several a 8; several a 8; drain a" },
	{ "several/down", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | cm: down e | app: several a 8; several a 8; drain a" },
	{ "several/established", "a=cq,private e=all.a,pending,recvs3",
	    "hw: rx e; est e; rx e | app: several a 8; several a 8; drain a" },
	{ "several/epfree", "a=cq,private e=all.a,recvs3,sends1",
	    "hw: rx e 2; tx e | app: several a 8; drain a | ctl: epfree e" },
	{ "several/again", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | app: several a 8; drain a | ctl: disconnect e; reset e; recv e" },
	{ "several/mute", "a=cq,private e=all.a,recvs1",
	    "app: mute e 2; send e; several a 8; drain a | hw: tx e; tx e; tx e" },
	{ "several/post", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: rx e 2; tx e | p: post a 2 | app: several a 8; several a 8; drain a" },
	{ "several/shared", "a=cq,private b=sw,async,single stock=3 e=all.a,shared",
	    "hw: rx e 2 | app: several a 8; drain a | ctl: disconnect e" },
	{ "array/two", "a=cq,single,array e=all.a,recvs3,sends1 f=all.a,recvs1",
	    "hw: rx e 2; tx e; rx f; rx e" },
	{ "array/disconnect", "a=cq,single,array e=all.a,recvs3,sends1",
	    "hw: rx e 2; tx e | ctl: disconnect e" },
	{ "array/fail", "a=cq,single,array e=all.a,recvs2,sends2", "hw: rx e; fail e; rx e" },
	{ "array/established", "a=cq,single,array e=all.a,pending,recvs3",
	    "hw: rx e; est e; rx e" },
	{ "array/epfree", "a=cq,single,array e=all.a,recvs3", "hw: rx e 2; rx e | ctl: epfree e" },
	{ "array/reset", "a=cq,single,array e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | ctl: disconnect e; reset e; recv e; connect e | cm: accept e" },
	{ "array/close", "a=cq,single,array b=async,single e=all.a,recvs2",
	    "hw: rx e 2 | ctl: close" },
	{ "array/many", "a=cq,many,array e=all.a,recvs4,sends1 pool=2",
	    "hw: rx e 2; tx e; rx e 2" },
	{ "array/one", "a=cq,single,array1 e=all.a,recvs3,sends1 f=all.a,recvs1",
	    "hw: rx e 2; tx e; rx f; rx e" },
	{ "array/one-disconnect", "a=cq,single,array1 e=all.a,recvs3,sends1",
	    "hw: rx e 2; tx e | ctl: disconnect e" },
	{ "array/one-established", "a=cq,single,array1 e=all.a,pending,recvs3",
	    "hw: rx e; est e; rx e" },
	{ "array/one-software", "a=cq b=sw,single,array1 e=all.a,recvs2,sends1",
	    "hw: rx e | p: post b 3" },
	{ "array/one-many", "a=cq,many,array1 e=all.a,recvs4,sends1 pool=2",
	    "hw: rx e 2; tx e; rx e 2" },
	/* Endpoints that receive from a shared queue. */
	{ "shared/disconnect",
	    "a=cq,single b=sw,async,single stock=3 e=all.a,shared f=all.a,shared",
	    "hw: rx e; rx f | ctl: disconnect e | cm: down f" },
	{ "shared/wait", "a=cq,private b=sw,async,single stock=3 e=all.a,shared",
	    "hw: rx e 2 | ctl: disconnect e | app: wait a 1 50; wait a 1 50; drain a" },
	{ "shared/silent", "a=cq,single b=sw,async,single stock=3 silent e=all.a,shared",
	    "hw: rx e | ctl: disconnect e" },
	{ "shared/established",
	    "a=cq,single b=sw,async,single stock=2 e=all.a,shared,pending f=all.a,shared",
	    "hw: rx f | cm: est e; rx e; down e" },
	{ "shared/length", "a=cq,private b=sw,async,single stock=1 e=all.a,shared,pending",
	    "cm: est e; rx e; rx e; down e | app: length 4; stock 2 | w: wait a 1 50; wait a 1 50; "
	    "drain a" },
	{ "shared/rejected", "a=cq,single b=sw,async,single stock=1 e=all.a,shared,pending",
	    "cm: reject e | ctl: reset e" },
	{ "shared/fail", "a=cq,single b=sw,async,single stock=2 e=all.a,shared f=all.a,shared",
	    "hw: rxfail e; rx f | cm: down f" },
	{ "shared/two-evds",
	    "a=cq,single b=cq,private c=sw,single e=in.a,out.a,conn.c,shared stock=3 "
	    "f=in.b,out.b,conn.c,shared",
	    "hw: rx e; rx f; rx e | app: wait b 1 50; stock 1 | ctl: disconnect e" },
	{ "shared/reset",
	    "a=cq,single b=sw,async,single stock=4 answers=a e=all.a,shared f=all.a,shared",
	    "hw: rx e; rx f; rx e | ctl: disconnect e; reset e; connect e | cm: down f" },
	{ "shared/free", "a=cq,single b=sw,async,single stock=4 e=all.a,shared f=all.a,shared",
	    "hw: rx e; rx f; rx e; rx f | ctl: epfree e; epnew e | app: stock 1; length 3" },
	{ "shared/left",
	    "a=cq,single b=cq,private c=sw,single stock=2 e=in.b,out.a,conn.c,shared "
	    "f=in.b,out.a,conn.c,shared",
	    "ctl: rx e; epfree e; epnew e | hw: rx f | app: wait b 1 50; drain b" },
	{ "shared/close", "a=cq,single b=sw,async,single stock=3 e=all.a,shared f=all.a,shared",
	    "hw: rx e; rx f | ctl: disconnect e | app: stock 1; length 6 | end: close" },
	{ "shared/memory",
	    "a=cq,single b=sw,async,single stock=1 faults=alloc,verbs answers=a e=all.a,shared",
	    "hw: rx e | ctl: disconnect e; reset e; connect e | app: length 4; stock 1" },
	/* A region that is bound again and again. */
	{ "bind/again", "a=cq,single windows e=all.a,sends1",
	    "app: bind e; mutebind e; bind e; unbind e | hw: tx e 3; tx e 3 | p: send e" },
	{ "bind/flushed", "a=cq,private windows e=all.a,sends1",
	    "app: bind e; mutebind e; bind e | hw: tx e 2 | cm: down e | w: wait a 1 50; drain a" },
	{ "bind/two", "a=cq,single windows e=all.a f=all.a",
	    "app: bind e; bind f; bind e | hw: tx e; tx f; tx e 2 | x: bind f" },
	{ "bind/reset", "a=cq,single windows answers=a e=all.a",
	    "app: bind e; bind e | hw: tx e; tx e 2 | ctl: disconnect e; reset e; connect e; bind "
	    "e" },
	{ "bind/free", "a=cq,single windows e=all.a f=all.a",
	    "app: bind e; bind e; bind f | hw: tx e 3; tx f 2 | ctl: epfree e; epnew e" },
	{ "bind/replaced", "a=cq,single windows e=all.a f=all.a",
	    "app: bind e; tx e; pause 10; bind f | ctl: pause 20; epfree e" },
	{ "bind/deep", "a=cq,private windows e=all.a,deep1",
	    "app: bind e; bind e; bind e | hw: tx e; tx e; tx e | w: wait a 1 50; drain a" },
	{ "bind/fail", "a=cq,single windows e=all.a,sends1",
	    "app: bind e; bind e | hw: tx e; fail e | p: send e" },
	{ "bind/silent", "a=cq,single windows e=all.a", "app: bind e; bind e | hw: tx e; fail e" },
	{ "bind/memory", "a=cq,single windows faults=alloc,verbs e=all.a f=all.a",
	    "app: bind e; bind f; bind e | hw: tx e; tx f; tx e" },
	{ "bind/close", "a=cq,single windows e=all.a",
	    "app: bind e; bind e | hw: tx e | end: close" },
	{ "split/disconnect",
	    "a=cq,single b=cq,single c=sw,single e=in.a,out.b,conn.c,recvs1,sends1",
	    "hw: rx e; tx e | ctl: disconnect e" },
	{ "split/fail", "a=cq,single b=cq,single c=sw,single e=in.a,out.b,conn.c,recvs1,sends2",
	    "hw: fail e | cm: down e" },
	{ "two/one-evd", "a=cq,single e=all.a,recvs1 f=all.a,recvs1",
	    "hw: rx e | hw2: rx f | cm: down e; down f" },

	/* Endpoints of several depths and completion flags on one EVD. */
	{ "wishes/widest", "a=cq,single e=all.a,recvs3,solicited f=all.a,recvs2,signalled",
	    "hw: rx e 3; tx f; rx f | app: send f; hush f | ctl: epfree f" },
	{ "wishes/narrower", "a=cq,single e=all.a,recvs3,solicited f=all.a,recvs1",
	    "hw: rx e 2; rx e | hw2: rx f | ctl: epfree f; epnew f" },
	{ "wishes/wait", "a=cq,private e=all.a,recvs3,in-solicited,out-signalled",
	    "hw: rx e 2; tx e 2 | app: hush e; send e; wait a 1 100; wait a 2 100; drain a" },
	{ "wishes/split",
	    "a=cq,single b=cq,single e=in.a,out.b,conn.a,recvs3,signalled "
	    "f=in.b,out.a,conn.a,recvs2,solicited",
	    "hw: rx e 2; rx f 2; tx e; fail e 7 | app: hush e 2; send f | cm: down f" },
	{ "wishes/deep", "a=cq,single,q2 e=all.a,deep1,recvs1 f=all.a,deep2,recvs2",
	    "ctl: epnew f; epfree e; epnew e; resize a 3; epfree f | hw: rx e; rx f 2 | x: send e "
	    "2; send f 3" },
	{ "wishes/deeper", "a=cq,single,q2 e=all.a,deep1,recvs1 f=all.a,deep40,recvs2",
	    "hw: rx e; rx f 2 | ctl: epfree f; resize a 5; epnew f | x: send e 2; send f 3" },

	/*
	 * An EVD that cannot be enabled is not created; requests to connect in an EVD that is
	 * freed.
	 */
	{ "made/cannot-arm", "a=cq,single faults=arm", "x: free a; reopen a; free a; closeidle" },
	{ "made/no-pool", "a=sw,many faults=thread,alloc",
	    "x: free a; reopen a; free a; closeidle" },
	{ "made/no-queue", "a=cq b=cq,private faults=verbs",
	    "x: free a; reopen a private; free b; reopen b" },
	{ "made/no-pair", "a=cq,single e=all.a,recvs1 answers=a faults=verbs",
	    "x: connect e; disconnect e; reset e; connect e; epfree e; epnew e; connect e" },
	{ "made/wrongly", "a=cq,private b=sw,single", "x: wrong a; wrong b | y: free a; post b" },
	{ "made/asked", "a=sw", "cm: asks a 3 | x: dequeue a; free a; closeidle" },
	{ "made/asked-inside", "a=sw,single", "cm: asks a 5 | up.a: free a; closeidle" },

	/* Establishing. */
	{ "begin/established", "a=cq,single e=all.a,pending,recvs2", "hw: est e; rx e; rx e" },
	{ "begin/established-wait", "a=cq,private e=all.a,pending,recvs2",
	    "hw: est e; rx e; rx e | app: take a 3" },
	{ "begin/established-drain", "a=cq,private e=all.a,pending,recvs2",
	    "hw: est e; rx e; rx e | app: drain a; drain a" },
	{ "begin/rejected", "a=cq,single e=all.a,pending,recvs1", "cm: reject e" },
	{ "begin/rejected-disconnect", "a=cq,single e=all.a,pending,recvs1",
	    "cm: reject e | ctl: disconnect e" },
	{ "begin/established-disconnect", "a=cq,single e=all.a,pending,recvs1",
	    "cm: est e; rx e | ctl: disconnect e" },
	{ "begin/established-down", "a=cq,single e=all.a,pending,recvs2",
	    "cm: est e; rx e; down e" },
	{ "begin/receive-fails", "a=cq,single e=all.a,pending,recvs2", "hw: est e; rxfail e 3" },
	{ "begin/receive-fails-taken", "a=cq,private e=all.a,pending,recvs2",
	    "hw: est e; rxfail e 3 | app: drain a; drain a" },
	{ "begin/pair-fails", "a=cq,single e=all.a,pending,recvs2", "hw: qpfatal e | cm: est e" },
	{ "begin/free", "a=cq,single e=all.a,pending,recvs1", "cm: est e; rx e | ctl: epfree e" },

	/* The end of the adapter. */
	{ "close/idle", "a=cq,single e=all.a,recvs2,sends1", "hw: rx e; tx e | ctl: close" },
	{ "close/inside", "a=cq,single e=all.a,recvs2", "hw: rx e; rx e | up.a: close" },
	{ "close/inside-many", "a=cq,many e=all.a,recvs2 pool=2", "hw: rx e; rx e | up.a: close" },
	{ "close/waiter", "a=cq,private e=all.a,recvs2", "hw: rx e | app: take a 2 | ctl: close" },
	{ "close/free-evd", "a=sw,single,n n", "p: post a 2 | up.a: close | ctl: free a" },
	{ "close/free-evd-beside", "a=sw,single,n n", "p: post a 2 | ctl: close | x: free a" },
	{ "close/free-inside", "a=sw,single,n n", "p: post a 2 | up.a: free a | ctl: close" },
	{ "close/free-inside-many", "a=sw,many pool=2", "p: post a 2 | up.a: free a | ctl: close" },
	{ "close/free-other", "a=sw,single b=sw,many pool=1",
	    "p: post a; post b | up.b: free a | up.a: close" },
	{ "close/free-endpoint", "a=cq,single e=all.a,recvs1,sends1",
	    "hw: rx e | x: epfree e | ctl: close" },
	{ "close/free-endpoint-inside", "a=cq,single e=all.a,recvs2",
	    "hw: rx e; rx e | x: epfree e | up.a: close" },
	{ "close/free-both", "a=cq,single e=all.a,recvs2",
	    "hw: rx e | x: epfree e; free a | up.a: close" },
	{ "close/free-waited-on", "a=sw b=sw,n n=agent",
	    "w: take a 1 | p: post b | agent.n: close | x: free b; free a; cfree n" },
	{ "close/attach", "a=sw,n n o", "p: post a | x: attach a o | ctl: close" },
	{ "close/detach", "a=sw,single,n n", "p: post a | x: detach a; cfree n | ctl: close" },
	{ "close/agent", "a=sw,n n=agent", "p: post a 2 | agent.n: close" },
	{ "close/agent-frees", "a=sw,n n=agent",
	    "p: post a 2 | agent.n: free a; cfree n | ctl: close" },
	{ "close/agent-freed", "a=sw,n n=agent",
	    "p: post a 2 | agent.n: close | x: free a; cfree n" },
	{ "close/gracefully", "a=sw,single,n n",
	    "p: post a 2 | x: free a; cfree n | ctl: closeidle; closeidle" },
	{ "close/gracefully-inside", "a=sw,single", "p: post a 2 | up.a: free a; closeidle" },
	{ "close/gracefully-left", "a=sw,single",
	    "p: post a 2 | ctl: closeidle | up.a: closeidle" },
	{ "close/gracefully-asked", "a=sw", "cm: ask 2 | ctl: free a; closeidle" },
	{ "close/gracefully-asked-inside", "a=sw,single",
	    "p: post a | cm: ask 2 | up.a: free a; closeidle" },
	{ "close/gracefully-asked-twice", "a=sw",
	    "cm: ask | ctl: free a; closeidle | ctl2: closeidle; close" },
	{ "close/asked", "a=sw,single", "p: post a | cm: ask 2 | ctl: close" },
	{ "close/asked-inside", "a=sw,single", "p: post a | cm: ask 2 | up.a: close" },
	{ "close/connecting", "a=cq,single e=all.a,pending,recvs1", "cm: est e | ctl: close" },
	{ "close/down", "a=cq,single b=async,single e=all.a,recvs1,sends1",
	    "cm: down e | hw: qpfatal e | ctl: close" },

	/* An endpoint is freed while other threads take its events. */
	{ "epfree/drain", "a=cq,private e=all.a,recvs2,sends1",
	    "hw: rx e; tx e | app: drain a; drain a | ctl: epfree e" },
	{ "epfree/upcall", "a=cq,single e=all.a,recvs2,sends1", "hw: rx e; tx e | ctl: epfree e" },
	{ "epfree/inside", "a=cq,single e=all.a,recvs2", "hw: rx e; rx e | up.a: epfree e" },
	{ "epfree/wait", "a=cq,private e=all.a,recvs2",
	    "hw: rx e; rx e | app: wait a 1 100; wait a 1 100 | ctl: epfree e" },
	{ "epfree/fail", "a=cq,single e=all.a,recvs1,sends2", "hw: fail e | ctl: epfree e" },
	{ "epfree/fail-drain", "a=cq,private e=all.a,recvs1,sends2",
	    "hw: fail e | app: drain a; drain a | ctl: epfree e" },
	{ "epfree/down", "a=cq,single e=all.a,recvs1", "cm: down e | ctl: epfree e" },
	{ "epfree/disconnect", "a=cq,single e=all.a,recvs1,sends1",
	    "x: disconnect e | ctl: epfree e" },
	{ "epfree/fatal", "a=cq,single b=async,single e=all.a,recvs1",
	    "hw: qpfatal e | ctl: epfree e" },
	{ "epfree/two", "a=cq,single e=all.a,recvs1", "hw: rx e | x: epfree e | y: epfree e" },
	{ "epfree/post", "a=cq,single e=all.a", "app: recv e; send e | ctl: epfree e" },
	{ "reset/drain", "a=cq,private e=all.a,recvs2",
	    "hw: rx e | app: drain a; drain a | ctl: disconnect e; reset e; recv e" },
	{ "reset/upcall", "a=cq,single e=all.a,recvs1,sends1",
	    "hw: rx e | ctl: disconnect e; reset e; recv e" },
	{ "reset/fail", "a=cq,single e=all.a,recvs1,sends1",
	    "hw: fail e | ctl: disconnect e; reset e; recv e" },
	{ "reset/fail-again", "a=cq,private e=all.a,recvs1,sends1",
	    "hw: fail e | app: drain a | ctl: disconnect e; reset e; connect e | cm: accept e" },
	{ "reset/peer-again", "a=cq,single e=all.a,recvs1,sends1",
	    "cm: down e; accept e; rx e | ctl: disconnect e; reset e; recv e; connect e" },
	{ "reset/post", "a=cq,single e=all.a,recvs1", "app: recv e | ctl: disconnect e; reset e" },
	{ "reset/free", "a=cq,single e=all.a,recvs1", "x: disconnect e; reset e | ctl: epfree e" },

	/* An EVD is freed with notifications to acknowledge. */
	{ "evdfree/after-ep", "a=cq,private e=all.a,recvs2",
	    "hw: rx e; rx e | app: wait a 1 100 | ctl: epfree e; free a" },
	{ "evdfree/upcall", "a=cq,single e=all.a,recvs2",
	    "hw: rx e; rx e | ctl: epfree e; free a" },
	{ "evdfree/in-use", "a=cq,single e=all.a,recvs1", "hw: rx e | ctl: free a" },
	{ "evdfree/other", "a=cq,single b=sw,single e=all.a,recvs1",
	    "hw: rx e | p: post b 2 | ctl: free b" },

	/* Overflows, and the events of the device. */
	{ "overflow/queue", "a=cq,single b=async,single e=all.a,recvs1",
	    "hw: cqerror a; rx e | ctl: disconnect e" },
	{ "overflow/refused", "a=sw,q2 b=async,single",
	    "x: post a 5; dequeue a; dequeue a; dequeue a" },
	{ "overflow/graceful", "a=cq,single b=async,single e=all.a,recvs1,sends1",
	    "hw: cqerror a | x: graceful e" },
	{ "overflow/none", "a=cq,single b=async,single e=all.a,recvs1,sends1 faults=poll,2",
	    "hw: rx e; tx e | x: graceful e" },
	{ "overflow/twice", "a=cq,private b=async,private e=all.a,recvs1",
	    "hw: cqerror a; cqerror a | app: wait b 1 100; drain b" },
	{ "overflow/free", "a=cq,single b=async,single e=all.a,recvs1",
	    "hw: cqerror a | ctl: epfree e; free a" },
	{ "async/fatal", "a=cq,single b=async,single e=all.a,recvs1,sends1",
	    "hw: qpfatal e; devfatal | ctl: disconnect e" },

	/* A queue that changes its length. */
	{ "resize/upcall", "a=cq,single e=all.a,recvs3",
	    "hw: rx e 3 | ctl: resize a 70; resize a 4" },
	{ "resize/wait", "a=cq,private e=all.a,recvs2",
	    "hw: rx e 2 | app: wait a 2 100; drain a | ctl: resize a 70" },
	{ "resize/barrier", "a=cq,single e=all.a,recvs2,sends1",
	    "hw: rx e; down e | ctl: resize a 70" },
	{ "resize/barrier-shrink", "a=cq,single e=all.a,recvs2,sends1",
	    "hw: rx e; down e | ctl: resize a 70; resize a 4" },
	{ "resize/inside", "a=cq,single e=all.a,recvs3",
	    "hw: rx e 3 | up.a: resize a 70; resize a 2" },
	{ "resize/two", "a=cq,single e=all.a,recvs2",
	    "hw: rx e 2 | x: resize a 70 | y: resize a 4" },
	{ "resize/free", "a=cq,single e=all.a,recvs1",
	    "hw: rx e | x: resize a 70 | y: epfree e; free a" },
	{ "resize/free-posts", "a=sw,single", "p: post a 2 | x: resize a 70 | y: free a" },
	/* On a device that cannot. */
	{ "resize/fixed", "a=cq,single e=all.a,recvs3 fixed",
	    "hw: rx e 3 | ctl: resize a 70; resize a 4" },
	{ "resize/fixed-wait", "a=cq,private e=all.a,recvs2 fixed",
	    "hw: rx e 2 | app: wait a 2 100; drain a | ctl: resize a 70" },
	{ "resize/fixed-barrier", "a=cq,single e=all.a,recvs2,sends1 fixed",
	    "hw: rx e; down e | ctl: resize a 70; resize a 4" },

	/* CNOs: attached, exchanged and freed while events come. */
	{ "cno/serve", "a=cq,n e=all.a,recvs2 n", "hw: rx e 2 | srv: serve n 2" },
	{ "cno/disconnect", "a=cq,n e=all.a,recvs2,sends1 n",
	    "hw: tx e; rx e | cm: down e | srv: serve n 4" },
	{ "cno/move", "a=cq,n e=all.a,recvs2 n o",
	    "hw: rx e 2 | ctl: attach a o | srv: cwait n 100 | srv2: cwait o 200" },
	{ "cno/movers", "a=cq,n e=all.a,recvs1 n o",
	    "hw: rx e | x: attach a o | y: detach a | srv: cwait n 100" },
	{ "cno/move-free", "a=sw,n n o",
	    "p: post a 2 | x: attach a o | y: free a | srv: cwait n 100" },
	{ "cno/move-cfree", "a=sw,n n o", "p: post a | x: attach a o; cfree n | srv: cwait n 100" },
	{ "cno/attach-cfree", "a=sw n",
	    "p: post a | x: attach a n | y: cfree n | srv: cwait n 100" },
	{ "cno/last-evd", "a=sw,n n",
	    "p: post a | x: free a; cfree n | srv: cwait n 100; cwait n 100" },
	{ "cno/off", "a=sw,n n", "x: unwaitable a; on a; waitable a; off a" },
	{ "cno/policy", "a=cq,single e=all.a,recvs2 n",
	    "hw: rx e 2 | up.a: attach a n; disable a | srv: cwait n 100" },
};

static void
make_room(unsigned int n)
{
	scenarios = realloc(scenarios, (n_scenarios + n) * sizeof *scenarios);
	if (!scenarios)
		abort();
}

static void
add_one(const struct scenario_text *text)
{
	struct scenario *s = &scenarios[n_scenarios++];

	scenario_parse(s, text);
	s->setup = strdup(text->setup);
	s->text = strdup(text->actors);
}

static void
add(const struct scenario_text *texts, unsigned int n)
{
	make_room(n);
	for (unsigned int i = 0; i < n; i++)
		add_one(&texts[i]);
}

/* One for each way in which a request, or a receive, fails. */
static void
add_failures(void)
{
	char name[24], actors[40];

	make_room(RNIC_FAILURES);
	for (int way = 1; way <= RNIC_FAILURES; way++) {
		snprintf(name, sizeof name, "fails/%d", way);
		snprintf(actors, sizeof actors, "hw: fail e %d; rxfail f %d", way, way);
		add_one(&(struct scenario_text){
		    name, "a=cq,single e=all.a,sends1 f=all.a,recvs1", actors });
	}
}

static void
add_chance(void)
{
	make_room(table_chance_n);
	for (unsigned int i = 0; i < table_chance_n; i++) {
		const struct scenario_text text =
		    table_chance_draw(scenario_draw * table_chance_n + i);

		add_one(&text);
		scenarios[n_scenarios - 1].chance = true;
	}
}

void
scenario_load(void)
{
	add(table_life, table_life_n);
	add(table, sizeof table / sizeof *table);
	add_failures();
	add_chance();
}
