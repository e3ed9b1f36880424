/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.pml -- upcalls of SINGLE_INSTANCE and NORIFY, enabled and disabled from outside and from inside
 * the upcall, with posters and a thread that dequeues
 *
 * There are two loop threads (see evd.pml) and two controllers, which make R calls together.  Q events are
 * dequeued from outside.  U upcalls change their own policy.
 */
#ifndef R
#define R 2
#endif
#ifndef Q
#define Q 0
#endif
#ifndef U
#define U 1
#endif
#ifndef POLICY
#define POLICY SINGLE
#define NO_UNSEEN
#endif

bit changed;	/* since the first claim of the upcall that runs */
#define NOTE_CHANGE changed = 1;

#include "evd.pml"

#define SIZES N/M/2/R

/*
 * SPLIT: poll_and_arm in three lock sections instead of one.  It needs a mark that a wake found the job
 * RUNNING; with the mark it is correct.  Some wrong variants are possible between sections only; they are
 * built on SPLIT.
 */
#ifdef SPLIT
#define LOCK_IF_SPLIT enter();
#define UNLOCK_IF_SPLIT ; lock = 0
#define RESET_RERUN rerun = 0;
#else
#define LOCK_IF_SPLIT
#define UNLOCK_IF_SPLIT
#define RESET_RERUN
#endif

byte calls = R;
byte inside = U;
byte dequeues = Q;

/* The next event may be claimed at once: it wakes the sink, and nothing that the claim depends on has changed. */
#ifdef SERIES_UNCHECKED
#define UNCHANGED true
#else
#define UNCHANGED (!changed)
#endif
#define NEXT_AT_ONCE (UNCHANGED && SIGNALLED > 0)

/* ARRAY: an upcall gets up to two events.  They are claimed together. */
inline take_some()
{
	take();
#ifdef ARRAY
	if
	:: queued > 0 -> take()
	:: true
	fi
#endif
}

/* evd_make_upcalls(), up to the first upcall: the section that saw the EVD wanted also claims */
inline claim()
{
	changed = 0;
	assert(CALLS);				/* I6: no upcall starts when the policy is off */
	assert(running == 0);			/* I5 */
	if
	:: policy == NORIFY -> SET_UNSEEN(0) drains = 1
	:: else -> take_some()
	fi;
	in_progress++; running++;
	job = CALLING;
	leave();
	printf("| claims, makes the upcall\n")
}

/*
 * The upcall takes the event it was called for and returns at any time after that; or it DISABLEs, drains
 * and ENABLEs with INVOC_NEW, as applications do, and drains again while ENABLE is refused.
 */
inline upcall()
{
	do
	:: atomic { FREE && !drains -> off = 0; break }
	:: atomic { FREE && !off && !drains && inside > 0 -> inside--; off = 1; disable(); printf("| DISABLE\n") }
	:: atomic {
		FREE && (off || drains) -> dequeue(got);
		if
		:: got -> got = 0; goto again
		:: !got && drains -> drains = 0; goto again
		:: else
		fi
	   }
	   enable(true, 0, POLICY, true, result);
	   if
	   :: result == REFUSED -> result = DONE
	   :: else -> result = DONE; off = 0
	   fi;
again:
	   skip
	od
}

/* The queue was armed when this lock section polled it: no second poll. */
#ifdef SPLIT
#define ARMED_BEFORE_POLL false
#else
#define ARMED_BEFORE_POLL (result == 0)
#endif

proctype runner()
{
	bit drains, off, got;
	byte result;
end:
	do
	:: atomic {
		(job == READY || job == BACKOFF) && FREE -> job = RUNNING; printf("| takes the job\n");
turn:
		enter();
		RESET_RERUN
		if
		:: !SINK_UPCALL ->
			printf("| sees the policy off, IDLE\n");
#ifdef SPLIT_IDLE
			leave();
			goto policy_off
#else
			job = IDLE;
			leave();
			goto idle
#endif
		:: else
		fi;
#ifdef CLEAR_BY_RUN
		armed = 0;
#endif
		if :: !WANTED && !WATCHED -> poll_enough() :: else fi;
#ifdef POLL_THEN_ARM
		if :: !WANTED -> poll_enough() :: else fi;
#endif
		if
		:: WANTED -> claim(); goto out
		:: else -> printf("| polls, nothing wanted\n") UNLOCK_IF_SPLIT
		fi
	   }
	   atomic { /* the lock is held: only the device moves in between */
		LOCK_IF_SPLIT
		arm(result, exact_hint);
		if
		:: result == FAILED ->
			printf("| the arm failed\n");
			result = 0;
#ifdef ARM_FAILURE_IDLE
			job = IDLE;
#else
			job = BACKOFF; /* evd_back_off(): it runs again after a time, or earlier when it is hastened */
#endif
			leave();
			goto idle
		:: result == 1 -> printf("| arms\n")
		:: result == 0 -> printf("| finds it armed\n")
		fi
		UNLOCK_IF_SPLIT
	   }
	   atomic {
		LOCK_IF_SPLIT
#ifdef HINT_FOREIGN
		if
		:: (result == 0 || exact_hint) && !rerun ->
			result = 0; exact_hint = 0; job = IDLE;
			printf("| the arm reports an empty device queue: IDLE\n");
			leave();
			goto idle
		:: else
		fi;
#endif
#if defined(POLL_THEN_ARM) || defined(NO_SECOND_POLL)
		exact_hint = 0;
#else
		if
		:: exact_hint -> exact_hint = 0; note_empty()
		:: !exact_hint && ARMED_BEFORE_POLL
		:: else -> poll_enough(); note_empty()
		fi;
#endif
		result = 0;
		if
		:: WANTED -> claim()
#if defined(SPLIT) && !defined(SPLIT_NO_RERUN)
		:: !WANTED && rerun -> leave(); goto turn
		:: !WANTED && !rerun ->
#else
		:: else ->
#endif
			job = IDLE; printf("| IDLE\n"); leave(); goto idle
		fi
	   }
out:
	   upcall();
	   atomic {
		FREE -> enter();
		assert(job == CALLING);
		/* evd_claim(): evd_poll_into() builds the events where the consumer gets them */
		if :: UNCHANGED && POLICY == SINGLE && queued == 0 -> poll(1) :: else fi;
		if
		:: NEXT_AT_ONCE && POLICY == SINGLE ->
			assert(CALLS);		/* I6 */
			take_some();
			printf("| claims the next event at once\n");
			leave();
			goto out
		:: true /* a series has an end */
		fi;
		in_progress--; running--;
		changed = 0;
		job = RUNNING;
		printf("| the upcall returned\n");
		leave();
		goto turn
	   }
#ifdef SPLIT_IDLE
policy_off:
	   atomic { enter(); job = IDLE; printf("| IDLE\n"); leave() }
#endif
idle:
	   skip
	od
}

#ifdef UNLOCKED_OWNER
proctype hasty_poster()
{
	bit seen;
end:
	do
	:: posts > 0 ->
		atomic { seen = (job != IDLE); printf("| a thread has the job: %d\n", seen) }
		atomic {
			enter();
			posts--; queued++; SET_UNSEEN(1)
			if
			:: SINK_UPCALL && !seen -> queue_job()
			:: else
			fi;
			seen = 0;
			printf("| evd_post()\n");
			lock = 0
		}
	:: MAY_STOP -> break
	od
}
#define poster hasty_poster
#endif

/* Each call is one section, so one process makes the calls of all controllers. */
proctype controllers()
{
	byte result;
end:
	do
	:: atomic { calls > 0 && FREE -> calls--; disable(); printf("| DISABLE\n") }
	:: enable(true, 1, POLICY, true, result); result = DONE
	:: enable(true, 1, POLICY, false, result); result = DONE
	:: MAY_STOP -> break
	od
}

proctype consumer()
{
	bit got;
end:
	do
	:: atomic { dequeues > 0 && FREE -> dequeues--; dequeue(got); got = 0 }
	:: MAY_STOP -> break
	od
}

/* dat_evd_kcreate() with a policy that makes upcalls, or without */
init {
	atomic {
#ifdef SOLICITED
		if :: solicited_only = 1 :: true fi;
#endif
		if
		:: policy = POLICY; armed = WISH; hw_armed = WISH
		:: true
		fi;
		run reader(); run runner(); run controllers();
		run device(); run poster(); run consumer(); run rest();
#ifdef SOLICITED
		run chooser()
#endif
	}
}

/* Every schedule ends here.  No thread can run: then a policy that makes upcalls has no event left. */
proctype rest()
{
	timeout ->
	assert(lock == 0 && running == 0 && in_progress == 0);
	assert(!CALLS || (NOTHING_LEFT && (DUE == 0 || (policy == NORIFY && !unseen))))
}
