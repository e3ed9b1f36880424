/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.pml -- a thread blocked in evd_wait(), a CNO on the same EVD, a channel that changes readers, a
 * queue that overflows or gets another length
 *
 * One thread waits W times, for 1 or THRESHOLD events; EXPIRIES of its waits may time out.  The CNO is
 * attached, detached, enabled and disabled K times; its user drains the EVD after every trigger, or
 * takes just what is queued then (TAKES_WHAT_IS_THERE).  Two loop threads, see evd.pml.
 * OVERFLOWS: the EVD may be marked as overflowed once.  RESIZES: how often its queue gets another length,
 * SMALL or QLEN.  PRIVATE: the EVD has a channel of its own, which the waiter reads when the loop does not.
 */
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
#ifndef RESIZES
#define RESIZES 0
#endif
#ifndef SMALL
#define SMALL THRESHOLD
#endif
#if RESIZES > 0
#define ROOM length
#endif
#ifdef PRIVATE
#define LOOP_READS watched
#define WAITER_READS (!watched)
#else
#define LOOP_READS true
#define WAITER_READS false
#endif

#include "evd.pml"

#define SIZES N/M/2/K

byte waits = W;
byte expiries = EXPIRIES;
byte toggles = K;
byte overflows = OVERFLOWS;
byte resizes = RESIZES;
bit overflowed;
bit triggered;	/* the EVD is on the CNO's list */

/* A taker that is told: evd_run() and notify() */
inline serve()
{
	assert(SINK_CNO);
	NEWS(0) triggered = 1;
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
	:: mine -> atomic { FREE -> notified(); mine = 0; printf("| evd_notified()\n") }
	:: else
	fi
}

#ifdef PRIVATE
/* The loop thread that reads; the fact that the channel is readable may be old. */
proctype private_reader()
{
	bit mine;
end:
	do
	:: channel > 0 && LOOP_READS -> handle_channel()
	od
}
#define reader private_reader
#endif

proctype runner()
{
	bit mine, again;
end:
	do
	:: atomic {
		(job == READY || again) && FREE ->
		if :: again -> again = 0 :: else -> job = RUNNING fi;
		first_poll()
	   }
	   repoll();
served:	   again = 1;
idle:	   skip
	od
}

/* The end of evd_wait(): the waiter leaves, for whatever reason, in the section that decided so. */
inline leave_wait()
{
	waiting = 0; threshold = 1;
#ifdef WAITER_OWNS
	job = IDLE;
#endif
#ifndef LEAVE_NO_KICK
	sink_changed();
#endif
	leave()
}

proctype waiter()
{
	bit expired, mine, exact;
	byte wanted, ignored;
end:
	do
	:: atomic {
		waits > 0 && FREE -> waits--;
		if :: wanted = 1 :: wanted = THRESHOLD fi;
		enter();
		poll(wanted);
		if
		:: SIGNALLED >= wanted ->
			take(); poll(N + M); wanted = 0; printf("| evd_wait(): takes one at once\n");
			leave(); goto next
		:: SIGNALLED < wanted && overflowed ->
			wanted = 0; printf("| evd_wait(): overflowed\n"); leave(); goto next
		:: else ->
			waiting = 1; sleeper = _pid; threshold = wanted; wanted = 0; settle();
#ifdef WAITER_OWNS
			job = RUNNING;
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
	   /* Awake but without the lock looks like asleep and woken. */
end_asleep:
	   if
	   :: atomic { wake && FREE -> asleep = 0; lock = 1; printf("| is woken\n"); goto look }
	   :: atomic { expiries > 0 && FREE -> expiries--; expired = 1; asleep = 0; lock = 1; printf("| its time is up\n"); goto look }
	   :: atomic { channel > 0 && WAITER_READS -> asleep = 0 }
	      handle_channel()
#ifdef NO_REARM
	      ; if
	      :: atomic { queued < threshold && !expired -> asleep = 1; printf("| sleeps on\n"); goto end_asleep }
	      :: else
	      fi
#endif
	   fi;
	   atomic { FREE -> lock = 1; goto look }
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
		told > 0 && FREE ->
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
proctype controllers()
{
end:
	do
	:: atomic {
		toggles > 0 && FREE -> toggles--;
		enter();
		if
		:: cno -> cno = 0; triggered = 0; printf("| detaches the CNO\n")
		:: !cno -> cno = 1; printf("| attaches the CNO\n")
		:: cno_enabled -> cno_enabled = 0; printf("| disables the EVD\n")
		:: !cno_enabled -> cno_enabled = 1; printf("| enables the EVD\n")
		fi;
		sink_changed();
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
		overflows > 0 && FREE -> overflows--;
		enter();
		overflowed = 1; printf("| the EVD overflowed\n");
#ifndef OVERFLOW_UNHEARD
		wake_sink();
#endif
		leave()
	   }
	:: MAY_STOP -> break
	od
}

#if RESIZES > 0
/*
 * evd_resize(): the device's entries are queued first, then the queue gets its new length, and what the
 * old one had no room for is polled.  The device queue itself keeps its entries and stays armed.
 */
proctype resizer()
{
	byte to;
end:
	do
	:: atomic {
		resizes > 0 && FREE -> resizes--;
		if :: to = SMALL :: to = QLEN fi;
		enter();
		if
#ifndef RESIZE_UNDER_WAITER
		:: waiting -> printf("| evd_resize(): a waiter is blocked\n")
#endif
		:: else ->
			poll(N + M);
			if
			:: queued <= to ->
				length = to; poll(N + M); printf("| evd_resize(): %d\n", to);
#ifdef DEVICE_FORGETS_ARM
				hw_armed = 0;
#endif
#ifdef RESIZE_CUTS
			:: else -> length = to; queued = to; printf("| evd_resize(): %d, and the rest is gone\n", to)
#else
			:: else -> printf("| evd_resize(): more than %d are queued\n", to)
#endif
			fi;
			wake_sink()
		fi;
		to = 0;
		leave()
	   }
	:: MAY_STOP -> break
	od
}
#endif

init {
	atomic {
		if
		:: K > 0 -> cno = 1; armed = WISH; hw_armed = WISH;
#ifdef PRIVATE
			watched = 1
#endif
		:: true
		fi;
		run reader(); run runner(); run waiter(); run cno_user(); run controllers(); run device(); run poster();
#ifdef SOLICITED
		run chooser();
#endif
#if OVERFLOWS > 0
		run overflower();
#endif
#if RESIZES > 0
		run resizer();
#endif
		run rest()
	}
}

proctype rest()
{
	timeout ->
	assert(lock == 0 && job == IDLE && !triggered && I2);
	assert(!waiting || (DUE < threshold && NOTHING_LEFT)); /* a waiter sleeps only for what is not there */
	assert(!waiting || !overflowed);
	assert(!SINK_CNO || (DUE == 0 && NOTHING_LEFT))
}
