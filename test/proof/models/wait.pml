/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.pml -- a thread blocked in evd_wait() and a CNO on the same EVD; the reader of the channel changes;
 * the queue overflows or is resized
 *
 * One thread waits W times, for 1 or THRESHOLD events; EXPIRIES of its waits may time out.  The CNO is
 * attached and detached, or the EVD enabled and disabled, K times together.  The user of the CNO drains the
 * EVD after every trigger, or takes the number of events that is queued then (TAKES_WHAT_IS_THERE).  Two
 * loop threads, see evd.pml.
 * OVERFLOWS: how often the EVD may be marked as overflowed.  RESIZES: how often its queue is resized to
 * SMALL or QLEN.  SPINS: how often a wait may poll before it arms, each time in a lock section of its own.  PRIVATE: the EVD has a channel of its own; the waiter reads it when the loop does not.
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
#ifndef SPINS
#define SPINS 0
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
#if SPINS > 0
byte spins = SPINS;
#endif
byte resizes = RESIZES;
bit overflowed;
bit triggered;	/* the EVD is on the CNO's list */

/* evd_run_report() and cno_on_notify() */
inline report()
{
	SET_UNSEEN(0) triggered = 1;
	printf("| notifies the CNO\n")
}

/* No upcalls here. */
inline serve() { assert(false) }

#include "run.pml"

/* evd_channel_readable(): another reader may be faster */
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
/* The loop thread that reads.  The channel was readable; another reader may have emptied it since. */
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

/*
 * The EVD has no other sink.  Then a wait may begin and end without a change of sink; it does so only if
 * evd->bare, which also says that the loop never had the channel, and other things that are left out here.
 */
#ifdef BARE_ALWAYS
#define BARE true
#else
#define BARE (!cno && !CALLS && !watched)
#endif

/* The end of evd_wait(): the section that decides to return also ends the wait. */
inline leave_wait()
{
	waiting = 0; threshold = 1;
#ifdef WAITER_OWNS
	job = IDLE;
#endif
#ifndef LEAVE_NO_WAKE
	if
	:: sink_changed()
	:: BARE
	fi;
#endif
	leave()
}

/* The lock section has polled before it came to the arm. */
#ifdef TRUSTS_AN_OLD_ARM
#define POLLED true
#else
#define POLLED polled
#endif

proctype waiter()
{
	bit expired, mine, exact, polled;
	byte wanted, armed_;
end:
	do
	:: atomic {
		waits > 0 && FREE -> waits--;
		if :: wanted = 1 :: wanted = THRESHOLD fi;
		enter();
		if
		:: poll(wanted); polled = 1
		:: true -> printf("| evd_wait(): does not poll before it arms\n") /* evd_is_usual_wait() */
		fi;
		if
		:: SIGNALLED >= wanted ->
			take(); wanted = 0; polled = 0; printf("| evd_wait(): takes one at once\n");
			leave(); goto next
		:: SIGNALLED < wanted && overflowed ->
			wanted = 0; polled = 0; printf("| evd_wait(): overflowed\n"); leave(); goto next
		:: else ->
			if
			:: waiting = 1; settle()
			:: BARE -> waiting = 1
			fi;
			sleeper = _pid; threshold = wanted; wanted = 0;
#if SPINS > 0
			if
			:: spins > 0 && !polled -> poll_enough() /* the first poll */
			:: spins > 0 && polled
			:: true -> goto begins
			fi;
			spins--; polled = 0;
			if
			:: WANTED ->
				take(); printf("| evd_wait(): spins, and finds an event\n");
				leave_wait(); goto next
			:: else -> leave(); goto spinning
			fi;
begins:
#endif
#ifdef WAITER_OWNS
			job = RUNNING;
#endif
			printf("| evd_wait(): blocks for %d\n", threshold);
#ifndef RESET_LATE
			wake = 0;
#endif
			goto arms
		fi
	   }
#if SPINS > 0
spinning:  /* evd_spin(), without the lock */
	   atomic {
		FREE -> lock = 1;
		if
		:: spins > 0 && !overflowed ->
			spins--;
			if :: !WANTED -> poll_enough() :: else fi;
			if
			:: WANTED ->
				take(); printf("| evd_wait(): spins, and finds an event\n");
				leave_wait(); goto next
			:: else -> leave(); goto spinning
			fi
#ifdef SPIN_SLEEPS
		:: asleep = 1; printf("| spins in vain, and sleeps\n"); leave(); goto end_asleep
#else
		:: printf("| spins in vain\n"); goto check
#endif
		fi
	   }
#endif
check:	   /* evd_wait_on(), with the lock */
	   atomic {
#ifndef RESET_LATE
		wake = 0; /* park_reset(), which may keep a wake that came before the sleep */
#endif
		if :: !WANTED -> poll_enough() :: else fi;
		polled = 1
	   }
arms:
	   atomic { if :: !WANTED -> arm(armed_, exact) :: else fi }
	   atomic {
		if
		:: !WANTED && !exact && (armed_ || !POLLED) -> poll_enough()
		:: else
		fi;
		armed_ = 0; exact = 0; polled = 0;
		if
		:: WANTED ->
			take(); printf("| evd_wait(): wakes with an event\n");
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
	   /* A thread that is awake without the lock cannot be distinguished from one that is asleep and woken. */
end_asleep:
	   if
	   :: atomic { wake && FREE -> asleep = 0; lock = 1; printf("| is woken\n"); goto check }
	   :: atomic { expiries > 0 && FREE -> expiries--; expired = 1; asleep = 0; lock = 1; printf("| it times out\n"); goto check }
	   :: atomic { channel > 0 && WAITER_READS -> asleep = 0 }
	      handle_channel()
#ifdef NO_REARM
	      ; if
	      :: atomic { queued < threshold && !expired -> asleep = 1; printf("| sleeps on\n"); goto end_asleep }
	      :: else
	      fi
#endif
	   fi;
	   atomic { FREE -> lock = 1; goto check }
next:
	   skip
	:: MAY_STOP -> break
	od
}

/* Drains the EVD after every trigger.  If a thread waits on the EVD, it returns to cno_wait(). */
proctype cno_user()
{
	bit got;
	byte reported = N + M;
end:
	do
	:: atomic {
		triggered -> triggered = 0; printf("| cno_wait() returns\n");
#ifdef TAKES_WHAT_IS_THERE
		reported = queued
#endif
	   }
	   do
	   :: reported == 0 -> break
	   :: atomic {
		reported > 0 && FREE ->
#ifdef TAKES_WHAT_IS_THERE
		reported--;
#endif
		dequeue(got);
		if
		:: got -> got = 0; printf("| evd_dequeue(): an event\n")
		:: else -> printf("| evd_dequeue(): it gets none\n"); break
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
#ifndef OVERFLOW_NO_WAKE
		wake_sink();
#endif
		leave()
	   }
	:: MAY_STOP -> break
	od
}

#if RESIZES > 0
/*
 * evd_resize(): polls the completions of the device into the queue, sets the new length, and polls what did
 * not fit before.  The device queue itself keeps its entries and stays armed.
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
			:: else -> length = to; queued = to; printf("| evd_resize(): %d, the rest is lost\n", to)
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
	assert(!waiting || (DUE < threshold && NOTHING_LEFT)); /* a waiter sleeps only if too few events are there */
	assert(!waiting || !overflowed);
	assert(!SINK_CNO || (DUE == 0 && NOTHING_LEFT))
}
