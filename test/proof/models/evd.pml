/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd.pml -- one EVD with its device.  The models core, wait, many and pump include it.
 *
 * Every lock section of evd/ is one atomic step, except where the device matters: evd_poll_and_arm() and
 * policy_enable() poll, arm and poll again in three steps with the lock held, and the device acts
 * between these steps.  A completion first becomes visible; in a later step the device decides whether to
 * send a notification for it.  So the search covers notifications that come early, late or coalesced.
 *
 * Sizes: N completions, M posted events.  A model may define others before it includes this file.
 * Each actor of the environment may stop early.  Otherwise a later action, which a program need not take,
 * could deliver an event that the dispatcher had lost.
 *
 * These rules keep the searches small and lose no error:
 *   - A thread that needs the lock makes no step until the lock is FREE.  A thread that waits for the lock
 *     cannot be distinguished from one that did not call yet.
 *   - At most one notification was read and not yet passed to evd_notified() (I3, asserted where the model
 *     arms).  Where a request may be widened there can be two, and the reader then acts for two threads.
 *     At most one thread has the job (asserted where the job is queued).  So one process that reads and one
 *     that runs jobs reach every state that two or more loop threads can reach.
 *   - Equal processes take work in the order of their numbers (ORDERED).
 *   - A model that never reads `unseen` or `watched` leaves them out.
 */
#ifndef N
#define N 3
#endif
#ifndef M
#define M 2
#endif
#ifndef BATCH
#define BATCH 2 /* completions per ibv_poll_cq() */
#endif
#ifndef QLEN
#define QLEN (N + M + 1) /* length of the queue: never full, unless a claim makes it small */
#endif
#ifdef ROOM
byte length = QLEN; /* it changes */
#else
#define ROOM QLEN
#endif
#if defined(SOLICITED) && !defined(CHOICES)
#define CHOICES 2
#endif
#ifdef NO_I1
#define MAY_STOP true
#else
#define MAY_STOP false
#endif
#ifndef ARM_FAILURES
#define ARM_FAILURES 0
#endif

mtype = { NEW, ANY, done, refused, arm_failed } /* to print */

/* ---- the device ---- */

byte cq;	/* completions visible and not polled */
byte undecided;	/* visible completions for which the device has not decided about a notification */
byte to_make = N;
byte hw_armed;	/* UNARMED, ARMED_SOLICITED or ARMED_ALL */
#ifdef SOLICITED
byte cq_solicited, undecided_solicited; /* the solicited ones among cq; those that are undecided */
byte unsolicited; /* unsolicited completions in the queue: they need not be reported */
bit unseen_due;	/* an event that was not reported to the sink must be reported */
byte tmp2;	/* within a step only */
bit crossed;	/* a request was widened after the device sent its notification: there may be two */
#endif
byte channel;	/* notifications in the channel */
byte unbooked;	/* notifications that were read; evd_notified() was not called yet */
byte arm_failures = ARM_FAILURES;

/* ---- struct evd ---- */

#define OFF 0 /* DISABLE, and after TEARDOWN */
#define SINGLE 1
#define MANY 2
#define NORIFY 3

/* enum evd_job_state; DEFERRED is pump.pml's */
#define IDLE 0
#define READY 1
#define BACKOFF 2
#define RUNNING 3
#define CALLING 4

/* enum evd_armed */
#define UNARMED 0
#define ARMED_SOLICITED 1
#define ARMED_ALL 2
#define ARMED_EMPTY 3 /* for all, and the device queue was seen empty since then */

bit lock;
byte job = IDLE;
byte armed;
#ifdef SOLICITED
bit solicited_only;
#define WISH (solicited_only -> ARMED_SOLICITED : ARMED_ALL)
#else
#define WISH ARMED_ALL
#endif
/* enum evd_attention, reduced to two bits */
bit unseen;	/* an event was queued that was not reported to the sink */
bit no_room;	/* the ring was full at a poll */
byte queued;	/* completions polled and events posted; order.pml models their order */
byte policy = OFF;
byte in_progress;
byte exempt;
byte tearing;
bit waiting;
byte threshold = 1;
bit asleep;	/* the waiter is in park_sleep() */
bit wake;	/* the eventfd of its park */
byte sleeper;	/* the thread that is parked: a thread does not wake itself */
bit watched;	/* a private channel: the loop reads it, not the waiter */
bit cno;	/* a listener is attached */
bit cno_enabled = 1;

/* ---- counters for the assertions; the code has none of them ---- */

byte running;	/* upcalls on some thread's stack */
byte taken;	/* events that were delivered */
byte posts = M;	/* to come */
byte tmp;	/* within a step only */
bit rerun;	/* see SPLIT */
bit exact_hint;	/* valid from an arm to the end of its section */

#define FREE (lock == 0)

#ifdef NO_UNSEEN
#define SET_UNSEEN(x)
#define UNSEEN_POLLED
#elif defined(SOLICITED)
#define SET_UNSEEN(x) unseen = (x); unseen_due = unseen;
#define UNSEEN_POLLED unseen = 1; unseen_due = (unseen_due || !solicited_only || tmp2); tmp2 = 0;
#else
#define SET_UNSEEN(x) unseen = (x);
#define UNSEEN_POLLED SET_UNSEEN(1)
#endif

#define CALLS (policy != OFF)
#define SINK_UPCALL (!waiting && CALLS)
#define SINK_CNO (!waiting && !CALLS && cno && cno_enabled)
#define SINK (waiting || CALLS || (cno && cno_enabled))

/*
 * evd_queue_signalled(): the number of events that wake a sink.  UNSIGNALLED: any completion may be one
 * that does not wake; a full ring always wakes.  (Use M=0: then all queued events are in the ring.)
 */
#ifdef UNSIGNALLED
byte unsignalled;
#ifdef FULL_IS_UNSIGNALLED
#define SIGNALLED (queued - unsignalled)
#else
#define SIGNALLED (queued - (queued < ROOM -> unsignalled : 0))
#endif
inline keep(n_)
{
	leave_device(n_); queued = queued + n_;
	if
	:: unsignalled = unsignalled + n_
	:: SET_UNSEEN(1) skip
	:: n_ == 2 -> unsignalled++; SET_UNSEEN(1) skip
	fi;
	if :: unsignalled > 0 && SIGNALLED == queued -> SET_UNSEEN(1) skip :: else fi
}
#else
#define SIGNALLED queued
inline keep(n_)
{
	leave_device(n_); queued = queued + n_;
	UNSEEN_POLLED
}
#endif

#ifdef SOLICITED
/* Takes n_ completions; any of them may be solicited. */
inline leave_device(n_)
{
	cq = cq - n_;
	if
	:: cq_solicited <= cq -> tmp2 = 0
	:: cq_solicited > 0 && cq_solicited - 1 <= cq -> tmp2 = 1
	:: n_ == 2 && cq_solicited > 1 -> tmp2 = 2
	fi;
	cq_solicited = cq_solicited - tmp2; unsolicited = unsolicited + n_ - tmp2
}
#else
inline leave_device(n_) { cq = cq - n_ }
#endif

/* evd_wanted() */
#ifndef MANY_TO_SINGLE_AT_ONCE
#define ALONE (in_progress == 0)
#else
#define ALONE true
#endif
#define WANTED ( \
	(waiting && SIGNALLED >= threshold) || \
	(!waiting && policy == MANY && SIGNALLED > 0) || \
	(!waiting && policy == SINGLE && ALONE && SIGNALLED > 0) || \
	(!waiting && policy == NORIFY && ALONE && unseen) || \
	(SINK_CNO && unseen))

/* The notification is on its way: it is in the channel, or was read and not passed to evd_notified()
* yet, or the device will send it for a completion that is already visible. */
#ifdef SOLICITED
#define ALL_DECIDED (undecided + undecided_solicited == 0)
#define WILL_FIRE ((hw_armed == ARMED_ALL && undecided > 0) || (hw_armed != UNARMED && undecided_solicited > 0))
#define NONE_DUE_IN_CQ (armed == ARMED_SOLICITED -> cq_solicited == 0 : cq == 0)
#else
#define ALL_DECIDED (undecided == 0)
#define WILL_FIRE (hw_armed != UNARMED && undecided > 0)
#define NONE_DUE_IN_CQ (cq == 0)
#endif
#define ON_ITS_WAY (channel + unbooked > 0 || WILL_FIRE)

/*
 * NOTHING_LEFT: no completion remains that must be reported when no process can move.  DUE: the events
 * that must be delivered then.  If only solicited completions are requested, the others are delivered
 * together with the next solicited one.
 */
#ifdef SOLICITED
#define NOTHING_LEFT (cq == 0 || (solicited_only && cq_solicited == 0))
#define DUE (queued - (solicited_only -> unsolicited : 0))
#define DUE_UNSEEN (unseen && (unseen_due || !solicited_only))
#else
#define NOTHING_LEFT (cq == 0)
#define DUE SIGNALLED
#define DUE_UNSEEN unseen
#endif
#define WANTED_NOW ( \
	(waiting && DUE >= threshold) || \
	(!waiting && policy == MANY && DUE > 0) || \
	(!waiting && policy == SINGLE && ALONE && DUE > 0) || \
	(!waiting && policy == NORIFY && ALONE && DUE_UNSEEN) || \
	(SINK_CNO && DUE_UNSEEN))

/*
 * I1: when the trigger lock is free and the EVD has a sink, then either the sink is served (a loop has the
 * job, or the waiter is awake or about to wake), or the device queue is armed as the sink needs it and no
 * event that the sink waits for is queued.
 */
#ifdef NO_I1
#define I1 true
#else
#define SETTLED (armed >= WISH && ((NONE_DUE_IN_CQ && !WANTED_NOW) || ON_ITS_WAY || no_room))
#define I1 ((!(SINK_UPCALL || SINK_CNO) || job != IDLE || !ALONE || SETTLED) && (!asleep || wake || SETTLED))
#endif

/* I2: every event is in exactly one place, or was delivered exactly once. */
#ifdef NO_I1
#define I2 (taken + queued + cq + to_make + posts <= N + M)
#else
#define I2 (taken + queued + cq + to_make + posts == N + M)
#endif

inline enter() { lock == 0 -> lock = 1 }

inline leave()
{
	assert(I1);
	assert(I2);
	lock = 0
}

/* The rules of evd_job() that queue: a job is on at most one list. */
inline queue_job()
{
	assert(job != READY && job != BACKOFF);
	job = READY
}

/* evd_wake_sink() */
inline wake_sink()
{
	if
#ifdef WAITER_OWNS
	:: waiting && job != IDLE
#else
	:: waiting && _pid != sleeper -> wake = 1
#endif
	:: (SINK_UPCALL || SINK_CNO) && job == IDLE -> queue_job()
	:: (SINK_UPCALL || SINK_CNO) && job == BACKOFF -> job = READY /* hastened */
#ifndef CALLER_KEEPS
	:: job == CALLING && (SINK_CNO || (SINK_UPCALL && policy == MANY)) ->
		queue_job() /* the thread in the upcall no longer has the job */
#endif
#ifdef SPLIT
	:: (SINK_UPCALL || SINK_CNO) && job != IDLE -> rerun = 1
#endif
	:: else
	fi
}

/* The `enough` of evd_poll(): a waiter needs `threshold` events, an upcall that gets an event needs one.  A CNO and
* NORIFY get a report only: the queued events are reported already, so they need one more. */
inline poll_enough()
{
	if
	:: waiting -> tmp = threshold
	:: !waiting && (policy == SINGLE || policy == MANY) -> tmp = 1
	:: else -> tmp = SIGNALLED + 1
	fi;
	poll_to_tmp()
}

inline poll(enough_)
{
	tmp = enough_;
	poll_to_tmp()
}

/* The end of evd_arm_and_repoll(): if nothing is queued, the device queue was empty. */
inline note_empty()
{
	if
	:: armed == ARMED_ALL && queued == 0 -> armed = ARMED_EMPTY
	:: else
	fi
}

/* evd_is_watched(): no poll is needed, because a notification will report what the device queue has. */
#ifdef WATCHED_IF_ARMED
#define WATCHED (armed != UNARMED && queued == 0)
#else
#define WATCHED (armed == ARMED_EMPTY && queued == 0)
#endif

/* evd_poll(): until `enough` signalled events are queued, the device queue is empty or the ring is full */
inline poll_to_tmp()
{
	do
#ifndef FULL_UNNOTICED
	:: SIGNALLED < tmp && queued >= ROOM -> no_room = 1; break
#endif
	:: SIGNALLED < tmp && cq > 0 && queued < ROOM ->
		if
		:: cq >= BATCH && queued + BATCH <= ROOM -> keep(BATCH)
		:: else -> keep(1)
		fi;
		/* no notification reports what the poll of another thread finds here */
		if :: no_room || job == BACKOFF -> no_room = 0; wake_sink() :: else fi
	:: else -> break
	od;
	tmp = 0
}

/* evd_report_refill() */
inline report_refill()
{
	if
	:: no_room && queued == 0 -> no_room = 0; wake_sink()
	:: else
	fi
}

/*
 * evd_arm(): mine = 1 if it armed, 0 if the queue was armed already, or FAILED.  exact = the device
 * reported that its queue was empty at that moment.  An armed queue is armed again only to widen the
 * request.
 */
#define FAILED 2
#ifdef NO_WIDENING
#define STANDS (armed != UNARMED)
#else
#define STANDS (armed >= WISH)
#endif
inline arm(mine_, exact_)
{
	mine_ = 0; exact_ = 0;
	if
	:: STANDS
	:: !STANDS && arm_failures > 0 -> arm_failures--; mine_ = FAILED
	:: !STANDS ->
#ifdef WIDEN_NO_POLL
		exact_ = (armed == ARMED_SOLICITED);
#endif
		request();
		armed = WISH; mine_ = 1;
#ifdef EXACT
		exact_ = (cq == 0);
#endif
	fi
}

/*
 * ibv_req_notify_cq().  I3: from an arm until its notification was read the dispatcher does not arm again,
 * except to widen the request.  The device may have sent the notification of the narrower request already.
 * Then it may ignore the wider one, or send a second notification.
 */
#ifdef SOLICITED
inline request()
{
	assert(armed == ARMED_SOLICITED || crossed || (hw_armed == UNARMED && channel + unbooked == 0));
	assert(channel + unbooked <= 2);
	if
	:: channel + unbooked > 0 -> crossed = 1 /* ignored */
	:: hw_armed = (hw_armed > WISH -> hw_armed : WISH);
		if :: channel + unbooked > 0 -> crossed = 1 :: else fi
	fi
}
#else
inline request()
{
	assert(hw_armed == UNARMED && channel + unbooked == 0);
	hw_armed = ARMED_ALL
}
#endif

/* evd->changes: what a series of upcalls depends on has changed. */
#ifndef NOTE_CHANGE
#define NOTE_CHANGE
#endif

/* evd_sink_settle() */
inline settle()
{
	NOTE_CHANGE
#if defined(PRIVATE) && !defined(UNWATCHED)
	watched = (SINK_UPCALL || SINK_CNO || (watched && !waiting));
#endif
#ifndef UNSEEN_FORGOTTEN
	SET_UNSEEN(SIGNALLED > 0)
#endif
	skip
}

/* evd_sink_changed() */
inline sink_changed()
{
	settle();
#ifndef SINK_NO_WAKE
	wake_sink()
#endif
}

/* evd_notified(), from ibv_get_cq_event() on */
inline read_channel()
{
	channel--; unbooked++
}

inline notified()
{
	enter();
	unbooked--;
#if defined(CLEAR_NEVER) || defined(CLEAR_BY_RUN)
#elif defined(CLEAR_IF_ENABLED)
	if :: SINK -> armed = UNARMED :: else fi;
#else
	armed = UNARMED;
#endif
#ifdef SOLICITED
	if :: hw_armed == UNARMED && channel + unbooked == 0 -> crossed = 0 :: else fi;
#endif
	NOTE_CHANGE
	wake_sink();
	leave()
}

/* evd_post() */
inline post()
{
	enter();
	queued++; SET_UNSEEN(1)
	wake_sink();
	leave()
}

/*
 * dat_evd_dequeue(): got = 1, or 0 if the queue is empty or a thread waits on the EVD.  It may take the
 * oldest event directly: without a poll, and without a report that the ring has room again.  It does not
 * take the last one so, if there was no room for all.
 */
#ifdef UNSIGNALLED
#define IS_PLAIN (queued > unsignalled)
#else
#define IS_PLAIN true
#endif
#ifndef DIRECT_LAST
#define DIRECT (!waiting && (queued > 1 || queued == 1 && !no_room) && IS_PLAIN)
#else
#define DIRECT (!waiting && queued > 0 && IS_PLAIN)
#endif
inline dequeue(got_)
{
	enter();
	got_ = 0;
	if
	:: DIRECT -> take_direct(); got_ = 1
	:: !waiting ->
		if :: queued == 0 -> poll(1) :: else fi;
		if
		:: queued > 0 -> take(); got_ = 1
		:: else
		fi
	:: else
	fi;
	leave()
}

/* evd_take_direct(): the event is a completion that wakes the sink */
inline take_direct()
{
	assert(queued > 0);
#ifdef SOLICITED
	if
	:: unsolicited > 0 -> unsolicited--
	:: queued > unsolicited
	fi;
#endif
	queued--; taken++
}

/* evd_take() */
inline take()
{
	assert(queued > 0);
#ifdef UNSIGNALLED
	if /* any of them may be the oldest */
	:: unsignalled > 0 -> unsignalled--
	:: queued > unsignalled
	fi;
#endif
#ifdef SOLICITED
	if
	:: unsolicited > 0 -> unsolicited--
	:: queued > unsolicited
	fi;
#endif
	queued--; taken++;
	report_refill()
}

/*
 * policy_enable(): poll, arm, poll, count.  The first poll may be left out: evd->drained, which decides, is
 * about an earlier poll, and completions may have come since then.
 * result_: REFUSED is -EAGAIN, FAULT is the error of the device; neither changes the policy.  It uses up
 * cost_ of the controllers' calls.
 */
#ifndef ENABLE_ALLOWED
#define ENABLE_ALLOWED (tearing == 0)
#endif
#define DONE 0
#define REFUSED 1
#define FAULT 2
bit enable_polled;	/* the section of enable() has polled */
inline enable(when_, cost_, to_, invoc_new_, result_)
{
	atomic {
		FREE && when_ && calls >= cost_ -> calls = calls - cost_;
		enter();
		result_ = DONE;
		if
		:: waiting -> result_ = REFUSED; leave()
		:: !waiting -> poll(1); enable_polled = 1
		:: !waiting -> enable_polled = 0
		fi
	}
	if
	:: result_ == DONE ->
		atomic { arm(result_, exact_hint) }
		atomic {
			if
			:: result_ == FAILED -> result_ = FAULT
			:: else ->
				if
				:: exact_hint -> exact_hint = 0; note_empty()
				:: !exact_hint && result_ == 0 && enable_polled /* it was armed before the poll */
#ifdef NO_SECOND_POLL_IN_ENABLE
				:: else
#elif defined(DRAINED_IS_EMPTY)
				:: !exact_hint && result_ != 0 && !enable_polled -> note_empty()
				:: else -> poll(1); note_empty()
#else
				:: else -> poll(1); note_empty()
#endif
				fi;
				result_ = (invoc_new_ && queued > 0 -> REFUSED : DONE)
			fi;
			enable_polled = 0;
			if
			:: result_ == DONE && ENABLE_ALLOWED ->
				policy = to_;
				settle();
#ifndef SINK_NO_WAKE
				if :: queued > 0 -> wake_sink() :: else fi
#endif
			:: else
			fi;
			printf("| ENABLE, INVOC_%e: %e\n", (invoc_new_ -> NEW : ANY),
			    (result_ == DONE -> done : (result_ == REFUSED -> refused : arm_failed)));
			leave()
		}
	:: else
	fi
}

/* policy_disable() */
inline disable()
{
	enter();
	policy = OFF;
	sink_changed();
	leave()
}

/* A loop thread that reads the shared channel, and calls evd_notified(). */
proctype reader()
{
end:
	do
	:: atomic { channel > 0 -> read_channel(); printf("| reads a notification\n") }
#ifdef SOLICITED
	:: atomic { unbooked > 0 && FREE -> notified(); printf("| evd_notified()\n") }
#else
	   atomic { FREE -> notified(); printf("| evd_notified()\n") }
#endif
	od
}

proctype poster()
{
end:
	do
	:: atomic { posts > 0 && FREE -> posts--; post(); printf("| evd_post()\n") }
	:: MAY_STOP -> break
	od
}

proctype device()
{
end:
	do
	:: atomic { to_make > 0 -> to_make--; cq++; undecided++; printf("| a completion is visible\n") }
	:: atomic {
		undecided > 0 ->
		undecided--;
		if
		:: hw_armed == ARMED_ALL -> hw_armed = UNARMED; channel++; printf("| armed: it sends a notification\n")
		:: else -> printf("| not armed: it sends none\n")
		fi
	   }
#ifdef SOLICITED
	:: atomic { to_make > 0 -> to_make--; cq_solicited++; cq++; undecided_solicited++; printf("| a solicited completion is visible\n") }
	:: atomic {
		undecided_solicited > 0 ->
		undecided_solicited--;
		if
		:: hw_armed != UNARMED -> hw_armed = UNARMED; channel++; printf("| armed: it sends a notification\n")
		:: else -> printf("| not armed: it sends none\n")
		fi
	   }
#endif
	:: atomic { MAY_STOP && ALL_DECIDED -> to_make = 0; break }
	od
}

#ifdef SOLICITED
/* evd_set_solicited(): the completions that the endpoints of the EVD want reported.  The thread that
* serves the sink widens a request that is too narrow. */
proctype chooser()
{
	byte choices = CHOICES;
end:
	do
	:: atomic {
		choices > 0 && FREE -> choices--;
		enter();
		solicited_only = !solicited_only;
		printf("| only solicited completions: %d\n", solicited_only);
#ifndef NO_WAKE_TO_WIDEN
		if :: armed == ARMED_SOLICITED && !solicited_only -> wake_sink() :: else fi;
#endif
		leave()
	   }
	:: MAY_STOP -> break
	od
}
#endif
