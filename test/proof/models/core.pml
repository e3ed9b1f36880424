/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.pml -- the upcall face: SINGLE_INSTANCE and NORIFY, enabled and disabled from outside and from
 * inside the upcall, with posters and a thread that dequeues
 *
 * Two loop threads, see evd.pml; two controllers with R calls between them, Q dequeues from outside, U
 * upcalls that switch their own policy.
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
#define NO_NEWS
#endif

#include "evd.pml"

#define SIZES N/M/2/R

/*
 * SPLIT: the look in three sections instead of one.  It needs a mark that a kick found the job RUNNING,
 * and with that it holds; the variants that only make sense between sections are built on it.
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

/* call_out(), up to the upcall: claim in the section that saw it wanted */
inline claim()
{
	assert(CALLS);				/* I6: nothing starts under an off policy */
	assert(running == 0);			/* I5 */
	if
	:: policy == NORIFY -> NEWS(0) drains = 1
	:: else -> take()
	fi;
	in_progress++; running++;
	job = CALLING;
	leave();
	printf("| claims, calls out\n")
}

/*
 * The upcall returns, at any time once it has taken what it was told of; or it DISABLEs, drains and
 * ENABLEs for new events, the classic pattern, and drains on when it is refused.
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
		if :: !WANTED -> poll_enough() :: else fi;
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
			job = BACKOFF; /* back_off(): it comes back, after a time or when it is hastened */
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
			printf("| the device queue is empty, says the arm: IDLE\n");
			leave();
			goto idle
		:: else
		fi;
#endif
		result = 0;
#if defined(POLL_THEN_ARM) || defined(NO_SECOND_POLL)
		exact_hint = 0;
#else
		if
		:: exact_hint -> exact_hint = 0
		:: else -> poll_enough()
		fi;
#endif
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
		in_progress--; running--;
		assert(job == CALLING);
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
		atomic { seen = (job != IDLE); printf("| somebody has the job: %d\n", seen) }
		atomic {
			enter();
			posts--; queued++; NEWS(1)
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

/* kcreate with an enabling policy, or without */
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

/* Every schedule ends here: with nothing to do, a policy that calls must have nothing left. */
proctype rest()
{
	timeout ->
	assert(lock == 0 && running == 0 && in_progress == 0);
	assert(!CALLS || (NOTHING_LEFT && (DUE == 0 || (policy == NORIFY && !unseen))))
}
