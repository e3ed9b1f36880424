/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * close.pml -- dapl_ia_close() while objects of the adapter are being freed and its callbacks run
 *
 * The adapter has an EVD a and a CNO c; a is attached to c.  EVD a has EVENTS events for upcalls: those of
 * SINGLE run on the thread of the adapter's loop, those of MANY on two threads of its pool.  The loop thread
 * also calls the agent of c.  A second adapter has a loop thread too.  It makes a callback of that adapter and
 * reads the channel of its EVD b; an upcall of a may wait for the event of b.
 *
 * Each of these callbacks may free a, free c and close the adapter, in this order; it may leave some out.
 * OUTSIDERS threads that are in no callback may do the same.  The first call that closes a handle succeeds,
 * the others return DAT_INVALID_HANDLE.  One thread closes the adapter.
 *
 * Each lock section is one step.  A thread that waits until no callback uses an EVD or a CNO continues as soon
 * as this is true (many.pml and free.pml model how it is woken).  The closing thread sleeps until it is woken.
 */
#ifndef EVENTS
#define EVENTS 2
#endif
#ifdef SINGLE_ONLY
#define MAY_BE_MANY 0
#else
#define MAY_BE_MANY 1
#endif
#ifndef OUTSIDERS
#define OUTSIDERS 2
#endif
#define SIZES 0/EVENTS/4/1

#define IDLE 0
#define READY 1
#define RUNNING 2
#define CALLING 3

/* The kinds of threads: the loop of the adapter (upcalls of SINGLE, the agent), its pool (upcalls of MANY), the
* loop of the other adapter (reads the channel of b, makes one callback), a thread of the consumer. */
#define LOOP 0
#define POOL 1
#define OTHER_LOOP 2
#define OUTSIDER 3

/* the adapter */
bit handle = 1, device = 1, returned;
byte bases = 3;		/* references to the device: one of the adapter, one per object */
bit listed;		/* the closing thread is on the list of threads to wake */
bit woken;		/* its eventfd */
bit closing;		/* waits have ended */

/* the EVD */
bit a_handle = 1, a_listed = 1, a_alive = 1, a_freed, a_free_on_return;
bit a_many;
byte a_events = EVENTS, a_job = READY, a_in_progress, a_closers, a_exempt, a_tearing;

/* the CNO */
bit c_handle = 1, c_listed = 1, c_alive = 1, c_freed, c_free_on_return;
bit c_job = 1, c_in_agent, c_closer, c_awaiting, c_waiting, c_refs = 1;

/* the other adapter's EVD */
bit b_channel = 1, b_event;

#define QUIESCENT_A (a_in_progress == 0 && a_job == IDLE && a_tearing == 0)
#define ONLY_CLOSERS_A (a_closers > 0 && a_in_progress == a_closers)
#define QUIESCENT_C (!c_in_agent && !c_job && !c_awaiting && !c_waiting)
#define ONLY_A_CLOSER_C (c_in_agent && c_closer)

inline wake_closer() { woken = (woken || listed) }

/* dapl_parent_put_locked() */
inline put_base()
{
	bases--;
	wake_closer();
	if
	:: bases == 0 -> device = 0; printf("| the device is closed\n")
	:: else
	fi
}

/* An agent of c that frees a and an upcall of a that frees c would wait for each other.  This is an error of the
* program, so only one of them may do it: */
bit agent_frees;

/* ---- leaving the objects: the last thread that leaves a freed object destroys it ---- */

inline leave_a()
{
	if
	:: a_freed && a_free_on_return && QUIESCENT_A -> a_free_on_return = 0; last_a = 1
	:: else
	fi
}

inline leave_c()
{
	if
	:: c_freed && c_free_on_return && QUIESCENT_C -> c_free_on_return = 0; last_c = 1
	:: else
	fi
}

#ifdef NOT_COUNTED
#define UNLIST(flag) skip /* it was unlisted when its handle was closed */
#else
#define UNLIST(flag) flag = 0
#endif

inline destroy_a()
{
	if
	:: last_a ->
		last_a = 0;
		assert(device && QUIESCENT_A); /* a call of the device */
		atomic { UNLIST(a_listed); printf("| a is destroyed\n"); put_base() }
	:: else
	fi
}

inline destroy_c()
{
	if
	:: last_c ->
		last_c = 0;
		assert(device && QUIESCENT_C);
		atomic { UNLIST(c_listed); printf("| c is destroyed\n"); put_base() }
	:: else
	fi
}

/* mark_dead(), evd/life.c and cno/cno.c */
inline mark_a_dead()
{
	a_alive = 0; a_freed = 1;
	if :: a_job == READY -> a_job = IDLE :: else fi
}

inline mark_c_dead()
{
	c_alive = 0; c_freed = 1;
	c_job = 0
}

/* park_sleep() pumps the loop of the thread: here it reads the channel of b */
#ifdef NO_PUMP
#define CAN_PUMP false
#else
#define CAN_PUMP (kind == OTHER_LOOP && b_channel)
#endif
inline read_b() { b_channel = 0; b_event = 1; printf("| reads a notification of b\n") }

/* ---- free ---- */

/* dapl/evd/evd_object.c: the reference to the CNO is dropped before the wait for upcalls */
inline detach_c() { atomic { c_refs = 0; wake_closer() } }

inline close_a_handle()
{
	a_handle = 0;
#ifdef NOT_COUNTED
	a_listed = 0
#endif
}

inline close_c_handle()
{
	c_handle = 0;
#ifdef NOT_COUNTED
	c_listed = 0
#endif
}

/* dat_evd_free() */
inline free_a()
{
	atomic { a_handle && (!in_c || agent_frees) -> close_a_handle(); printf("| evd_free(a)\n") }
#ifndef DETACH_LATE
	detach_c();
#endif
	atomic {
		mark_a_dead();
		if
		:: in_a && !exempt -> exempt = 1; a_exempt++
		:: else
		fi
	}
	do
	:: atomic { in_a || QUIESCENT_A || (in_callback && ONLY_CLOSERS_A) -> break }
	:: atomic { !in_a && CAN_PUMP -> read_b() }
	od;
	atomic { a_free_on_return = 1; printf("| evd_free(a) returns\n"); leave_a() }
	destroy_a();
#ifdef DETACH_LATE
	detach_c()
#endif
}

/* dat_cno_free() */
inline free_c()
{
	atomic { c_handle && !c_refs && !c_waiting && (!in_a || !agent_frees) -> close_c_handle(); printf("| cno_free(c)\n") }
	atomic { mark_c_dead() }
	do
	:: atomic { in_c || QUIESCENT_C || (in_callback && ONLY_A_CLOSER_C) -> break }
	:: atomic { !in_c && CAN_PUMP -> read_b() }
	od;
	atomic { c_free_on_return = 1; printf("| cno_free(c) returns\n"); leave_c() }
	destroy_c()
}

/* ---- close ---- */

#ifdef SPINS
#define SLEEPS false
#else
#define SLEEPS true
#endif
#ifdef FRAMES_COUNT
#define LEFT_A false
#define LEFT_C false
#else
#define LEFT_A (!a_handle && !a_alive && ONLY_CLOSERS_A)
#define LEFT_C (!c_handle && !c_alive && ONLY_A_CLOSER_C)
#endif
#ifdef NOT_COUNTED
#define ALONE true
#else
#define ALONE (bases == 1 + (a_listed && LEFT_A) + (c_listed && LEFT_C))
#endif
#define REST_A (a_listed && !LEFT_A)
#define REST_C (c_listed && !LEFT_C && !REST_A) /* children before parents */
#define OTHERS_A (a_alive || a_in_progress > a_closers)
#define NO_OTHER_AGENT (!c_alive && (!c_in_agent || c_closer))

/* What must still end before the adapter can close */
#define NOTHING 0
#define END_A 1		/* its handle is open */
#define AWAIT_A 2	/* another thread destroys it */
#define END_C 3
#define AWAIT_C 4
#define THE_REST (REST_A -> (a_handle -> END_A : AWAIT_A) : (REST_C -> (c_handle -> END_C : AWAIT_C) : NOTHING))
#ifdef LEFT_NOT_CHECKED
#define SAME true
#else
#define SAME (what == THE_REST)
#endif

/* dapl_ia_close() */
inline close()
{
	atomic { handle -> handle = 0; printf("| ia_close()\n") }
	atomic { /* evd_enter_close(), cno_enter_close() */
		if
		:: in_a -> a_closers++; if :: !exempt -> a_exempt++ :: else fi
		:: else
		fi;
		if :: in_c -> c_closer = 1 :: else fi
	}
#ifndef WAITERS_NOT_WOKEN
	closing = 1;
#endif
	do
	:: atomic { /* end_children() */
		woken = 0;
		what = THE_REST;
		if :: what == NOTHING && ALONE -> break :: else fi
	   }
	   /* advance() */
	   if
	   :: what == NOTHING
	   :: what == END_A -> /* dapl_evd_free_by_handle(), evd_free_nowait() */
		atomic {
			if
			:: a_handle -> close_a_handle(); advances = 1; printf("| destroys a\n")
			:: else /* another thread frees it */
			fi
		}
		if
		:: advances ->
			detach_c();
			atomic { mark_a_dead(); a_free_on_return = 1; leave_a() }
			destroy_a()
		:: else
		fi
	   :: what == AWAIT_A -> /* evd_await_others() */
		atomic {
			if
			:: a_listed && OTHERS_A -> a_tearing++; advances = 1; woken = 0
			:: else
			fi
		}
		if
		:: advances ->
			do
			:: atomic { !OTHERS_A -> break }
			:: atomic { OTHERS_A && CAN_PUMP -> read_b() }
			od;
			atomic { a_tearing--; leave_a() }
			destroy_a()
		:: else
		fi
	   :: what == END_C -> /* dapl_cno_free_by_handle(), cno_free_nowait() */
		atomic {
			if
			:: c_handle && !c_refs -> close_c_handle(); advances = 1; printf("| destroys c\n")
			:: else /* the thread that drops the last reference wakes this one */
			fi
		}
		if
		:: advances ->
			atomic { mark_c_dead(); c_free_on_return = 1; leave_c() }
			destroy_c()
		:: else
		fi
	   :: what == AWAIT_C -> /* cno_await_others() */
		atomic {
			if
			:: c_listed && !NO_OTHER_AGENT -> c_awaiting = 1; advances = 1; woken = 0
			:: else
			fi
		}
		if
		:: advances ->
			do
			:: atomic { NO_OTHER_AGENT -> break }
			:: atomic { !NO_OTHER_AGENT && CAN_PUMP -> read_b() }
			od;
			atomic { c_awaiting = 0; leave_c() }
			destroy_c()
		:: else
		fi
	   fi;
	   atomic {
		asleep = (!advances && SAME && listed && SLEEPS);
		if :: !advances && SAME -> listed = 1 :: else fi;
		advances = 0; what = 0
	   }
	   do
	   :: atomic { !asleep || woken -> asleep = 0; break }
	   :: atomic { asleep && CAN_PUMP -> read_b() }
	   od
	od;
	atomic {
		listed = 0;
		/* no callback of the adapter runs, except those that this thread is inside of */
		assert(a_in_progress == in_a && c_in_agent == in_c);
		returned = 1;
		printf("| ia_close() returns\n");
		if
		:: in_a -> a_closers--; if :: !exempt -> a_exempt-- :: else fi
		:: else
		fi;
		if :: in_c -> c_closer = 0 :: else fi;
		put_base()
	}
}

/* ---- threads ---- */

/* evd_make_upcall() */
inline enter_upcall()
{
	assert(!returned);
	a_events--; a_in_progress++;
	in_a = 1; in_callback = 1;
	printf("| upcall of a\n")
}

inline return_from_upcall()
{
	a_in_progress--; in_a = 0; in_callback = 0;
	if :: exempt -> exempt = 0; a_exempt-- :: else fi;
	printf("| the upcall returned\n")
}

proctype thread(byte kind)
{
	bit in_a, in_c, in_callback, exempt, last_a, last_c, advances, asleep, called;
	byte what;
end:
	do
	:: atomic {
		kind == (a_many -> POOL : LOOP) && a_job == READY -> a_job = RUNNING;
turn:
		if
		:: !a_alive || a_events == 0 -> a_job = IDLE; leave_a()
		:: else -> a_job = (a_many -> READY : CALLING); enter_upcall()
		fi
	   }
	   if
	   :: in_a && a_many && !b_event -> /* it may wait for b */
		if
		:: true -> b_event
		:: true
		fi
	   :: else
	   fi;
	   if
	   :: in_a && !handle -> closing || !c_alive /* the upcall is in cno_wait(), which the close ends */
	   :: true
	   fi;
	   if
	   :: in_a -> goto consumer
	   :: else -> goto destroy
	   fi
	:: atomic {
		kind == LOOP && c_job -> c_job = 0;
		if
		:: !c_alive -> leave_c()
		:: else ->
			assert(!returned);
			c_in_agent = 1; in_c = 1; in_callback = 1;
			printf("| the agent is called\n")
		fi
	   }
	   if
	   :: in_c -> goto consumer
	   :: else -> goto destroy
	   fi
	:: atomic { kind == OTHER_LOOP && b_channel -> read_b() }
	:: atomic { kind >= OTHER_LOOP && !called -> called = 1; in_callback = (kind == OTHER_LOOP); goto consumer }
	od;
consumer: /* the code of the consumer: it may make each call, or not */
	if
	:: free_a()
	:: true
	fi;
	if
	:: free_c()
	:: true
	fi;
	if
	:: close()
	:: true
	fi;
	atomic {
		if
		:: in_a ->
			return_from_upcall();
			if
			:: a_job == CALLING -> a_job = RUNNING; goto turn
			:: a_many && a_in_progress == 0 && a_alive && a_job == IDLE -> a_job = READY; leave_a()
			:: else -> leave_a()
			fi
		:: in_c ->
			c_in_agent = 0; in_c = 0; in_callback = 0;
			printf("| the agent returned\n");
			leave_c()
		:: !in_a && !in_c -> in_callback = 0
		fi
	}
destroy:
	destroy_a();
	destroy_c();
	goto end
}

/* A thread blocked in cno_wait() */
proctype waiter()
{
	bit last_c;
end:
	closing || !c_alive;
	atomic { c_waiting = 0; printf("| cno_wait() returns\n"); leave_c() }
	destroy_c()
}

init {
	atomic {
		if :: a_many = MAY_BE_MANY :: true fi;
		if :: agent_frees = 1 :: true fi;
		if :: c_waiting = 1; run waiter() :: true fi;
		run thread(LOOP);
		if
		:: a_many -> run thread(POOL); run thread(POOL)
		:: else
		fi;
		run thread(OTHER_LOOP);
		if :: OUTSIDERS > 0 -> run thread(OUTSIDER) :: else fi;
		if :: OUTSIDERS > 1 -> run thread(OUTSIDER) :: else fi;
		run rest()
	}
}

/* Everything that was closed is destroyed, and no thread waits. */
proctype rest()
{
	timeout ->
	assert(handle || (returned && !device && bases == 0));
	assert(a_alive == a_handle && c_alive == c_handle);
	assert(a_in_progress == 0 && !c_in_agent && a_closers == 0 && a_exempt == 0)
}
