/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock -- the locks of dapl/ by their classes, for the annotations of evd/annotate.h
 *
 * A function that takes a lock, or that calls one that does, lists what its caller must not hold.
 * The lists follow the order of the locks: a lock is never taken by a thread that holds one which
 * comes after it.  doc/locking.md says what each lock guards.
 */
#ifndef REARM_DAPL_LOCK_H
#define REARM_DAPL_LOCK_H

#include "evd/annotate.h"

/*
 * The locks of dapl/, in their order.  Those of evd/ and cno/ come after `object`.  The last five
 * are taken for a few instructions, and no other lock is taken meanwhile.
 */
extern struct dapl_locks {
	struct lock_class members;  /* of the endpoints of an SRQ: struct dapl_srq */
	struct lock_class binds;    /* of an RMR: struct dapl_rmr */
	struct lock_class adapters; /* of the list of open adapters: ia.c */
	struct lock_class adapter;  /* of an adapter: struct dapl_ia and its struct dapl_parent */
	/*
	 * Of an object below an adapter: struct dapl_object in an endpoint, EVD, CNO, service
	 * point, connection request, memory region, protection zone, shared receive queue.  A
	 * thread never holds two.
	 */
	struct lock_class object;
	struct lock_class srq;	     /* of the entries of an SRQ; also taken under a trigger lock */
	struct lock_class cm;	     /* of an adapter: librdmacm reads an event */
	struct lock_class handles;   /* of the table of handles: handle.c */
	struct lock_class slab;	     /* of a slab: struct dapl_slab */
	struct lock_class providers; /* of the list of providers: provider.c */
} dapl_locks;

/* The caller may hold the lock of an adapter, and none after it. */
#define DAPL_NO_OBJECT_LOCK \
	EXCLUDES( \
	    dapl_locks.object, dapl_locks.srq, dapl_locks.cm, dapl_locks.handles, dapl_locks.slab) \
	NO_CORE_LOCK
/* The caller may hold the locks before that of an adapter, and none after it. */
#define DAPL_NO_ADAPTER_LOCK EXCLUDES(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK
/*
 * The caller may hold the lock of the members of an SRQ or of the binds of an RMR, and none after.
 */
#define DAPL_NO_LIST_LOCK EXCLUDES(dapl_locks.adapters, dapl_locks.providers) DAPL_NO_ADAPTER_LOCK
/* The caller holds no lock: the function may block, or call the consumer. */
#define DAPL_NO_LOCK EXCLUDES(dapl_locks.members, dapl_locks.binds) DAPL_NO_LIST_LOCK

#endif
