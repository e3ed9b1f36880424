/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * annotate -- which lock a function needs, takes or must not hold, as clang checks it
 *
 * A build with clang and -Wthread-safety checks every call and every access to a guarded member
 * against these annotations.  Other compilers ignore them.  They have the names of those in evd/,
 * of which softverbs includes nothing.  A lock is named by its class, not by its object: no thread
 * holds two locks of one class.
 *
 *     REQUIRES(lock)         the caller holds the lock, and holds it on return
 *     REQUIRES_SHARED(lock)  the same, or the caller shares it with other readers
 *     ACQUIRE(lock)          the function returns with the lock held
 *     TRY_ACQUIRE(v, lock)   the same if it returns v
 *     ACQUIRE_SHARED(lock)   the same, shared with other readers
 *     RELEASE(lock)          the caller holds the lock, and does not hold it on return
 *     RELEASE_SHARED(lock)   the same for a lock that is shared
 *     EXCLUDES(lock)         the caller must not hold the lock
 *     GUARDED_BY(lock)       a variable, or a member, that is accessed with the lock held
 *     UNCHECKED              the body is not checked: it locks or unlocks as the annotation
 *                            describes, or no other thread knows the object
 */
#ifndef SOFT_ANNOTATE_H
#define SOFT_ANNOTATE_H

#ifdef __clang__
#define ANNOTATE(x) __attribute__((x))
#else
#define ANNOTATE(x)
#endif

#define CAPABILITY(name) ANNOTATE(capability(name))
#define REQUIRES(...) ANNOTATE(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) ANNOTATE(requires_shared_capability(__VA_ARGS__))
#define ACQUIRE(...) ANNOTATE(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) ANNOTATE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) ANNOTATE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) ANNOTATE(release_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) ANNOTATE(locks_excluded(__VA_ARGS__))
#define GUARDED_BY(lock) ANNOTATE(guarded_by(lock))
#define UNCHECKED ANNOTATE(no_thread_safety_analysis)

/* A class of locks.  It is declared for the annotations and exists nowhere. */
struct CAPABILITY("lock") soft_lock_class {
	char unused;
};

/*
 * The locks of softverbs, in their order: a thread that holds one takes only those after it.  No
 * lock but the first three is held over a blocking call or a cancellation point: descriptors are
 * written and drained by syscall(2).  The memory of another process is read by a thread that holds
 * none of them; who wants it waits for a bounded time, with locks up to `fetch` (wire/fetch.h).
 */
extern struct soft_locks {
	struct soft_lock_class shared;	/* of the context that all rdma ids share: cm/shared.c */
	struct soft_lock_class context; /* of the references to a context */
	struct soft_lock_class runtime; /* of contexts, slot, and start and stop of the threads */
	struct soft_lock_class input; /* held by the thread that reads what other processes sent */
	struct soft_lock_class cm;    /* of every rdma id, service and event channel */
	struct soft_lock_class send;  /* of the send queue and requester of a queue pair */
	struct soft_lock_class receive; /* of the receive queue and responder of a queue pair */
	struct soft_lock_class srq;	/* of a shared receive queue */
	struct soft_lock_class fetch; /* of the thread that reads other processes, and its bytes */
	struct soft_lock_class keys;  /* shared by copies; else by registration and binds */
	struct soft_lock_class cq;    /* of the entries and the armed state of a CQ */
	struct soft_lock_class channels; /* of the completion channels of a context */
	struct soft_lock_class channel;	 /* of a completion channel */
	struct soft_lock_class async;	 /* of the asynchronous events of a context */
	struct soft_lock_class peers;	 /* of the list of links to other processes */
	struct soft_lock_class link;	 /* of the frames to be sent on a link */
	/* A thread that holds one of the following takes no other lock: */
	struct soft_lock_class table;	/* of the queue pairs by number */
	struct soft_lock_class changes; /* of why messages do not pass */
	struct soft_lock_class timers;	/* of the queue of timers */
	struct soft_lock_class turns;	/* of the turns in the lists of all links */
	struct soft_lock_class watches; /* of the descriptors that the progress thread watches */
	struct soft_lock_class teller;	/* of what is to be reported to the user of the program */
	/* of the counts of acknowledged events in verbs' objects */
	struct soft_lock_class completed;
} soft_locks;

/*
 * What a function excludes that takes a lock of this class or calls one that does: the class and
 * those after it.
 */
#define SOFT_NO_LEAF_LOCK \
	EXCLUDES(soft_locks.table, soft_locks.changes, soft_locks.timers, soft_locks.turns, \
	    soft_locks.watches, soft_locks.teller, soft_locks.completed)
#define SOFT_NO_LINK_LOCK EXCLUDES(soft_locks.link) SOFT_NO_LEAF_LOCK
#define SOFT_NO_PEERS_LOCK EXCLUDES(soft_locks.peers) SOFT_NO_LINK_LOCK
#define SOFT_NO_EVENT_LOCK \
	EXCLUDES(soft_locks.channels, soft_locks.channel, soft_locks.async) SOFT_NO_PEERS_LOCK
#define SOFT_NO_CQ_LOCK EXCLUDES(soft_locks.cq) SOFT_NO_EVENT_LOCK
#define SOFT_NO_KEYS_LOCK EXCLUDES(soft_locks.keys) SOFT_NO_CQ_LOCK
#define SOFT_NO_FETCH_LOCK EXCLUDES(soft_locks.fetch) SOFT_NO_KEYS_LOCK
#define SOFT_NO_SRQ_LOCK EXCLUDES(soft_locks.srq) SOFT_NO_FETCH_LOCK
#define SOFT_NO_RECEIVE_LOCK EXCLUDES(soft_locks.receive) SOFT_NO_SRQ_LOCK
#define SOFT_NO_SEND_LOCK EXCLUDES(soft_locks.send) SOFT_NO_RECEIVE_LOCK
#define SOFT_NO_CM_LOCK EXCLUDES(soft_locks.cm) SOFT_NO_SEND_LOCK
#define SOFT_NO_INPUT_LOCK EXCLUDES(soft_locks.input) SOFT_NO_CM_LOCK
#define SOFT_NO_RUNTIME_LOCK EXCLUDES(soft_locks.runtime) SOFT_NO_INPUT_LOCK
#define SOFT_NO_CONTEXT_LOCK EXCLUDES(soft_locks.context) SOFT_NO_RUNTIME_LOCK
#define SOFT_NO_LOCK EXCLUDES(soft_locks.shared) SOFT_NO_CONTEXT_LOCK

#endif
