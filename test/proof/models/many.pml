/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many.pml -- MANY, its changes to and from SINGLE_INSTANCE, and TEARDOWN from outside and inside
 *
 * D threads run upcalls at once, one reads the channel; two controllers make R calls between them; upcalls
 * call the dispatcher from inside U times.
 *
 * A claim and the entry of its upcall are two steps, with other threads in between: claims are in the order
 * of the events, entries need not be.  So what TEARDOWN waits for, and what SINGLE may not have beside it,
 * are claims.
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
#define NO_NEWS

#ifdef REENABLE
#define ENABLE_ALLOWED true
#endif

#include "evd.pml"

#define SIZES N/M/D/R

byte calls = R;
byte inside = U;
byte insiders;	/* upcalls that wait in a TEARDOWN or have returned from one: what exempt should be */
bit busy[3];	/* ORDERED: a runner takes a job when those before it have one */
bit tears_down;	/* ORDERED: the second controller calls while the first is in a TEARDOWN */

#define MY_TURN(me) ((me < 1 || busy[0]) && (me < 2 || busy[1]))

/* call_out(): claim; under MANY the EVD goes back on the list before the upcall is entered */
inline serve()
{
	assert(CALLS);				/* I6 */
	assert(policy == MANY || in_progress == 0);	/* I5 */
	take();
	in_progress++;
	if :: policy == MANY -> queue_job() :: else -> job = CALLING fi;
	printf("| claims; %d claims, %d run\n", in_progress, running);
	leave()
}

#include "run.pml"

/* evd_await_upcalls() from outside: for all */
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

/* The same from inside an upcall of the EVD: for all but those who call it as well */
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

/* One process for each thread that runs upcalls */
proctype runner(byte me)
{
	bit got, exempted, off, mine;
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
	   atomic {
#ifdef ONE_AT_A_TIME
		assert(running == 0);
#endif
		running++; printf("| enters the upcall; %d run\n", running)
	   }
inside_it: /* it returns whenever it likes */
	   do
	   :: atomic { FREE -> off = 0; break }
	   :: teardown_inside()
#ifdef BESIDE
	   :: atomic { inside > 0 -> inside-- }; /* waits for what upcalls beside it would do */
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
		in_progress--; running--;
		if :: exempted -> exempted = 0; exempt--; insiders-- :: else fi;
		printf("| the upcall returned, %d run\n", running);
		if
		:: job == CALLING ->
			assert(in_progress == 0); /* it is this call's: none beside it may keep the job */
			job = RUNNING; leave(); goto turn
		:: else /* another thread has, or had, the EVD: this one leaves it */
		fi;
#ifndef NO_KICK_AT_ZERO
		if :: in_progress == 0 -> wake_sink() :: else fi;
#endif
		leave()
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
