/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many.pml -- upcalls of MANY, changes between MANY and SINGLE_INSTANCE, and TEARDOWN from outside and inside
 *
 * D threads run upcalls at the same time, one more reads the channel.  Two controllers make R calls
 * together; upcalls call the dispatcher from inside U times.
 *
 * A claim and the start of its upcall are two steps; other threads may run in between.  Events are claimed in
 * order; their upcalls may start in another order.  Therefore TEARDOWN waits for claims, and SINGLE_INSTANCE
 * claims nothing while there is another claim.
 */
#ifndef D
#define D 3
#endif
#ifndef R
#define R 2
#endif
#ifndef U
#define U 2
#endif
#define NO_UNSEEN

#ifdef REENABLE
#define ENABLE_ALLOWED true
#endif

bit changed[3] = 1; /* since the first claim of a runner's upcall; 1 if it makes none */
#define NOTE_CHANGE changed[0] = 1; changed[1] = 1; changed[2] = 1;
#ifdef SERIES_UNCHECKED
#define UNCHANGED(me) true
#else
#define UNCHANGED(me) (!changed[me])
#endif

#include "evd.pml"

#define SIZES N/M/D/R

byte calls = R;
byte inside = U;
byte insiders;	/* upcalls that called TEARDOWN from inside: `exempt` must equal it */
bit busy[3];	/* ORDERED: a runner takes a job only if those before it have one */
bit tears_down;	/* ORDERED: the second controller calls only while the first is in a TEARDOWN */

#define MY_TURN(me) ((me < 1 || busy[0]) && (me < 2 || busy[1]))

/*
 * evd_make_upcalls(): claims.  Under MANY the job is queued again before the upcall starts.  If there is no
 * other event this thread keeps the lock, arms and polls instead, and the job becomes IDLE (evd_share_job()).
 */
inline serve()
{
	assert(CALLS);				/* I6 */
	assert(policy == MANY || in_progress == 0);	/* I5 */
	changed[me] = 0;
	take();
	in_progress++;
	printf("| claims; %d claims, %d run\n", in_progress, running);
	if
	:: policy == MANY && WANTED -> queue_job(); leave()
	:: policy == MANY && !WANTED -> shares = 1
	:: else -> job = CALLING; leave()
	fi
}

/* No CNO here. */
inline report() { assert(false) }

#include "run.pml"

/* evd_await_upcalls() from outside waits for all upcalls */
inline teardown()
{
	atomic {
		calls > 0 && FREE && (!second || tears_down) ->
		calls--;
		if :: !second -> tears_down = 1 :: else fi;
		enter();
		policy = OFF;
		sink_changed();
		tearing++;
		printf("| TEARDOWN begins, %d run\n", running);
		leave()
	}
	atomic {
#ifdef ENTRIES_COUNT
		FREE && running == 0 ->
#else
		FREE && in_progress == 0 ->
#endif
		tearing--;
		if :: !second -> tears_down = 0 :: else fi;
		printf("| TEARDOWN returns\n");
		assert(in_progress == 0 && policy == OFF) /* I6 */
	}
}

/* From inside an upcall of the EVD it waits for all upcalls but those that also called it */
inline teardown_inside()
{
	atomic {
		inside > 0 && FREE ->
		inside--;
		enter();
		policy = OFF;
		sink_changed();
		if :: !exempted -> exempted = 1; exempt++; insiders++ :: else fi;
		tearing++;
		printf("| TEARDOWN begins, from inside\n");
		leave()
	}
	atomic {
#ifdef INSIDERS_COUNT
		FREE && in_progress == 1 ->
#else
		FREE && in_progress <= exempt ->
#endif
		tearing--;
		printf("| TEARDOWN returns, inside\n");
		assert(in_progress == running && running <= insiders && policy == OFF) /* I6 */
	}
}

/* One process per thread that runs upcalls */
proctype runner(byte me)
{
	bit got, exempted, off, mine, shares;
	byte result;
end:
	do
	:: atomic {
		job == READY && FREE && MY_TURN(me) -> job = RUNNING; busy[me] = 1;
turn:
		first_poll()
	   }
	   repoll();
served:
	   if
	   :: atomic { shares -> if :: !WATCHED -> poll_enough() :: else fi }
#ifndef SHARES_NO_ARM
	      atomic { if :: !WANTED -> arm(mine, exact_hint) :: else fi }
#endif
	      atomic {
		if
		:: !WANTED && mine ->
			if :: !exact_hint -> poll_enough() :: else fi;
			note_empty()
		:: else
		fi;
		mine = 0; exact_hint = 0; shares = 0;
		if :: WANTED -> queue_job() :: else -> job = IDLE; printf("| IDLE, before the upcall\n") fi;
		leave()
	      }
	   :: else
	   fi;
	   atomic {
#ifdef ONE_AT_A_TIME
		assert(running == 0);
#endif
		running++; printf("| enters the upcall; %d run\n", running)
	   }
inside_it: /* it may return at any time */
	   do
	   :: atomic { FREE -> off = 0; break }
	   :: teardown_inside()
#ifdef BESIDE
	   :: atomic { inside > 0 -> inside-- }; /* waits until other upcalls have taken the events */
	      enable(true, 0, MANY, false, result);
	      result = DONE;
	      atomic { FREE && (policy != MANY || queued == 0); printf("| the others have run\n") }
#endif
	   :: atomic { FREE && !off && inside > 0 -> inside--; off = 1; disable(); printf("| DISABLE\n") }
	   :: atomic { FREE && off -> dequeue(got); if :: got -> got = 0; goto inside_it :: else fi }
#ifdef TEARDOWN_REFUSES
	      if
	      :: tearing > 0 -> result = REFUSED
	      :: tearing == 0 -> enable(true, 0, SINGLE, true, result)
	      fi;
#else
	      enable(true, 0, SINGLE, true, result);
#endif
	      if
	      :: result == REFUSED -> result = DONE
	      :: else -> result = DONE; off = 0
	      fi
	   od;
	   atomic {
		FREE -> enter();
		running--;
		if :: UNCHANGED(me) && queued == 0 -> poll(1) :: else fi; /* evd_claim() */
		if
		:: UNCHANGED(me) && SIGNALLED > 0 -> /* whatever the state of the job */
			assert(CALLS);				/* I6 */
			assert(policy == MANY || in_progress == 1);	/* I5 */
			take();
			printf("| claims the next event at once; %d run\n", running);
			leave();
			goto served
		:: true /* a series has an end */
		fi;
		in_progress--;
		changed[me] = 1;
		if :: exempted -> exempted = 0; exempt--; insiders-- :: else fi;
		printf("| the upcall returned, %d run\n", running);
		if
		:: job == CALLING ->
			assert(in_progress == 0); /* this upcall has the job: no other one runs */
			job = RUNNING; leave(); goto turn
		:: else /* the job is queued, or another thread has or had it */
		fi;
#ifndef NO_WAKE_AT_ZERO
		if :: in_progress == 0 && policy != MANY -> wake_sink() :: else fi;
#endif
		if
		:: job == READY -> job = RUNNING; printf("| goes on with the job\n"); leave(); goto turn /* evd_take_back_job() */
		:: true -> leave() /* another thread takes it, or has it */
		fi
	   }
idle:
	   atomic { busy[me] = 0 }
	od
}

proctype controller(bit second)
{
	byte result;
end:
	do
	:: teardown()
	:: atomic { calls > 0 && FREE && (!second || tears_down) -> calls--; disable(); printf("| DISABLE\n") }
	:: enable((!second || tears_down), 1, MANY, false, result); result = DONE
	:: enable((!second || tears_down), 1, SINGLE, false, result); result = DONE
	:: MAY_STOP -> break
	od
}

init {
	byte i;
	atomic {
		policy = MANY; armed = ARMED_ALL; hw_armed = ARMED_ALL;
		do :: i < D -> run runner(i); i++ :: else -> i = 0; break od;
		run controller(0); run controller(1);
		run reader(); run device(); run poster(); run rest()
	}
}

proctype rest()
{
	timeout ->
	assert(lock == 0 && running == 0 && in_progress == 0 && tearing == 0 && exempt == 0);
	assert(!CALLS || (cq == 0 && queued == 0))
}
