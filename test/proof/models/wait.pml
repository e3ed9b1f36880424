/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.pml -- a thread blocked in evd_wait(), a CNO on the same EVD, and a channel that changes readers
 *
 * One thread waits W times, for 1 or THRESHOLD events; EXPIRIES of its waits may time out.  The CNO is
 * attached, detached, enabled and disabled K times; its user drains the EVD after every trigger, or
 * takes just what is queued then (TAKES_WHAT_IS_THERE).
 * OVERFLOWS: the EVD may be marked as overflowed once.  PRIVATE: the EVD has a channel of its own, which the waiter reads when the loop does not.
 */
#ifndef D
#define D 1
#endif
#ifndef W
#define W 2
#endif
#ifndef THRESHOLD
#define THRESHOLD 2
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef K
#define K 2
#endif
#ifndef OVERFLOWS
#define OVERFLOWS 0
#endif
#ifdef PRIVATE
#define LOOP_READS watched
#define WAITER_READS (!watched)
#else
#define LOOP_READS true
#define WAITER_READS false
#endif

#include "evd.pml"

byte waits = W;
byte expiries = EXPIRIES;
byte toggles = K;
byte overflows = OVERFLOWS;
bit overflowed;
bit triggered;	/* the EVD is on the CNO's list */

/* A taker that is told: evd_run() and told() */
inline serve()
{
	assert(TAKER_CNO);
	news = 0; triggered = 1;
	printf("| tells the CNO\n");
	leave()
}

#include "run.pml"

/* channel_readable(): another reader may be faster */
inline handle_channel()
{
	atomic {
		if
		:: channel > 0 -> read_channel(); mine = 1; printf("| reads a notification\n")
		:: else -> printf("| finds no notification\n")
		fi
	}
	if
	:: mine -> atomic { notified(); mine = 0; printf("| evd_notified()\n") }
	:: else
	fi
}

proctype loop_thread()
{
	bit mine;
	byte outcome;
end:
	do
	:: channel > 0 && LOOP_READS -> handle_channel()
	:: atomic { ready > 0 -> ready-- }
	   do
	   :: pass(outcome);
	      if
	      :: outcome == ENDED -> break
	      :: else -> outcome = ENDED
	      fi
	   od
	od
}

/* The end of evd_wait(): the waiter leaves, for whatever reason, in the section that decided so. */
inline leave_wait()
{
	waiting = 0; threshold = 1;
#ifdef WAITER_OWNS
	owned = 0;
#endif
#ifndef LEAVE_NO_KICK
	taker_changed();
#endif
	leave()
}

proctype waiter()
{
	bit expired, mine, exact;
	byte wanted, ignored;
end:
	do
	:: atomic { waits > 0 -> waits--; if :: wanted = 1 :: wanted = THRESHOLD fi };
	   atomic {
		enter();
		poll(wanted);
		if
		:: queued >= wanted ->
			take(); poll(N + M); wanted = 0; printf("| evd_wait(): takes one at once\n");
			leave(); goto next
		:: queued < wanted && overflowed ->
			wanted = 0; printf("| evd_wait(): overflowed\n"); leave(); goto next
		:: else ->
			waiting = 1; sleeper = _pid; threshold = wanted; wanted = 0; settle();
#ifdef WAITER_OWNS
			owned = 1;
#endif
			printf("| evd_wait(): blocks for %d\n", threshold)
		fi
	   }
look:	   /* wait_locked(), with the lock */
	   atomic {
#ifndef RESET_LATE
		wake = 0; /* park_reset(), which may keep a wake that no sleep has seen */
#endif
		if :: !WANTED -> poll_enough() :: else fi
	   }
	   atomic { if :: !WANTED -> arm(ignored, exact); ignored = 0; exact = 0 :: else fi }
	   atomic {
		if :: !WANTED -> poll_enough() :: else fi;
		if
		:: WANTED ->
			take(); poll(N + M); printf("| evd_wait(): wakes with an event\n");
			expired = 0; leave_wait(); goto next
		:: !WANTED && (overflowed || expired) ->
			printf("| evd_wait(): overflowed, or timed out\n");
			expired = 0; leave_wait(); goto next
		:: else -> asleep = 1; printf("| sleeps\n"); leave()
		fi
	   }
#ifdef RESET_LATE
	   atomic { wake = 0 }
#endif
end_asleep:
	   if
	   :: atomic { wake -> asleep = 0; printf("| is woken\n") }
	   :: atomic { channel > 0 && WAITER_READS -> asleep = 0 }
	      handle_channel()
#ifdef NO_REARM
	      ; if
	      :: atomic { queued < threshold && !expired -> asleep = 1; printf("| sleeps on\n"); goto end_asleep }
	      :: else
	      fi
#endif
	   :: atomic { expiries > 0 -> expiries--; expired = 1; asleep = 0; printf("| its time is up\n") }
	   fi;
	   atomic { lock == 0 -> lock = 1; goto look }
next:
	   skip
	:: MAY_STOP -> break
	od
}

/* After every trigger it drains the EVD; a waiter may own it, then it returns to cno_wait(). */
proctype cno_user()
{
	bit got;
	byte told = N + M;
end:
	do
	:: atomic {
		triggered -> triggered = 0; printf("| cno_wait() returns\n");
#ifdef TAKES_WHAT_IS_THERE
		told = queued
#endif
	   }
	   do
	   :: told == 0 -> break
	   :: atomic {
		told > 0 ->
#ifdef TAKES_WHAT_IS_THERE
		told--;
#endif
		dequeue(got);
		if
		:: got -> got = 0; printf("| evd_dequeue(): an event\n")
		:: else -> printf("| evd_dequeue(): none for it\n"); break
		fi
	      }
	   od
	od
}

/* evd_set_listener() and evd_set_enabled() */
proctype controller()
{
end:
	do
	:: atomic {
		toggles > 0 -> toggles--;
		enter();
		if
		:: cno -> cno = 0; triggered = 0; printf("| detaches the CNO\n")
		:: !cno -> cno = 1; printf("| attaches the CNO\n")
		:: cno_enabled -> cno_enabled = 0; printf("| disables the EVD\n")
		:: !cno_enabled -> cno_enabled = 1; printf("| enables the EVD\n")
		fi;
		taker_changed();
		leave()
	   }
	:: MAY_STOP -> break
	od
}

/* evd_mark_overflow() */
proctype overflower()
{
end:
	do
	:: atomic {
		overflows > 0 -> overflows--;
		enter();
		overflowed = 1; printf("| the EVD overflowed\n");
#ifndef OVERFLOW_UNHEARD
		kick();
#endif
		leave()
	   }
	od
}

proctype poster()
{
	byte posts = M;
end:
	do
	:: atomic { posts > 0 -> posts--; post(); printf("| evd_post()\n") }
	:: MAY_STOP -> break
	od
}

init {
	byte i;
	atomic {
		if
		:: K > 0 -> cno = 1; watched = 1; armed = 1; hw_armed = 1
		:: true
		fi;
		do :: i < D -> run loop_thread(); i++ :: else -> i = 0; break od;
		run waiter(); run cno_user(); run controller(); run device(); run poster(); run overflower(); run rest()
	}
}

proctype rest()
{
	timeout ->
	assert(lock == 0 && ready == 0 && !triggered);
	assert(!waiting || (queued < threshold && cq == 0)); /* a waiter sleeps only for what is not there */
	assert(!waiting || !overflowed);
	assert(!TAKER_CNO || (queued == 0 && cq == 0))
}
