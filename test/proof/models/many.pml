/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many.pml -- MANY, its changes to and from SINGLE_INSTANCE, and TEARDOWN from outside and inside
 *
 * D threads run upcalls at once; C controllers with R calls between them; U upcalls that call the
 * dispatcher from inside.
 */
#ifndef D
#define D 3
#endif
#ifndef C
#define C 2
#endif
#ifndef R
#define R 2
#endif
#ifndef U
#define U 2
#endif
#ifndef M
#define M 0
#endif

#ifdef REENABLE
#define ENABLE_ALLOWED true
#endif

#include "evd.pml"

byte calls = R;
byte inside = U;
byte insiders;	/* upcalls that wait in a TEARDOWN or have returned from one: what exempt should be */

/* call_out(): claim; under MANY the EVD goes back on the list before the upcall is entered */
inline serve()
{
	assert(CALLS);				/* I6 */
	assert(policy == MANY || running == 0);	/* I5 */
#ifdef ONE_AT_A_TIME
	assert(running == 0);
#endif
	take();
	in_progress++; running++;
	many = (policy == MANY);
	if :: many -> make_ready() :: else -> caller = _pid fi;
	printf("| claims, calls out; %d run\n", running);
	leave()
}

#include "run.pml"

/* evd_await_upcalls() from outside: for all */
inline teardown()
{
	atomic {
		enter();
		policy = OFF;
		taker_changed();
		tearing++;
		printf("| TEARDOWN begins, %d run\n", running);
		leave()
	}
	atomic {
		lock == 0 && in_progress == 0 ->
		tearing--;
		printf("| TEARDOWN returns\n");
		assert(running == 0 && policy == OFF) /* I6 */
	}
}

/* The same from inside an upcall of the EVD: for all but those who call it as well */
inline teardown_inside()
{
	atomic {
		enter();
		policy = OFF;
		taker_changed();
		insiders++;
		if :: !exempted -> exempted = 1; exempt++ :: else fi;
		tearing++;
		printf("| TEARDOWN begins, from inside\n");
		leave()
	}
	atomic {
#ifdef INSIDERS_COUNT
		lock == 0 && in_progress == 1 ->
#else
		lock == 0 && in_progress <= exempt ->
#endif
		tearing--;
		printf("| TEARDOWN returns, inside\n");
		assert(running <= insiders && policy == OFF) /* I6 */
	}
}

inline upcall()
{
	if
	:: true
	:: atomic { inside > 0 -> inside-- };
	   teardown_inside()
#ifdef BESIDE
	:: atomic { inside > 0 -> inside-- }; /* waits for what upcalls beside it would do */
	   enable(MANY, false, result);
	   result = DONE;
	   atomic { lock == 0 && (policy != MANY || queued == 0); printf("| the others have run\n") }
#endif
	:: atomic { inside > 0 -> inside--; disable(); printf("| DISABLE\n") }
	   do
	   :: do
	      :: atomic { dequeue(got); if :: got -> got = 0 :: else -> break fi }
	      od;
#ifdef TEARDOWN_REFUSES
	      if
	      :: tearing > 0 -> result = REFUSED
	      :: tearing == 0 -> enable(back_to, true, result)
	      fi;
#else
	      enable(back_to, true, result);
#endif
	      if
	      :: result == REFUSED -> result = DONE
	      :: else -> result = DONE; break
	      fi
	   od
	fi
}

proctype loop_thread()
{
	bit many, got, exempted;
	byte outcome, result, back_to = SINGLE;
end:
	do
	:: atomic { channel > 0 -> read_channel(); printf("| reads a notification\n") }
	   atomic { notified(); printf("| evd_notified()\n") }
	:: atomic { ready > 0 -> ready-- }
	   do
	   :: pass(outcome);
	      if
	      :: outcome == ENDED -> break
	      :: else -> outcome = ENDED
	      fi;
	      upcall();
	      atomic {
		enter();
		in_progress--; running--;
		if :: exempted -> exempted = 0; exempt--; insiders-- :: else fi;
		printf("| the upcall returned, %d run\n", running);
		if
		:: caller == _pid -> caller = 0
		:: else ->
			many = 1; /* another thread has, or had, the EVD: this one leaves it */
#ifndef NO_KICK_AT_ZERO
			if :: in_progress == 0 -> kick() :: else fi
#endif
		fi;
		leave();
		if :: many -> many = 0; break :: else fi
	      }
	   od
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

proctype controller()
{
	byte result;
end:
	do
	:: atomic { calls > 0 -> calls-- };
	   teardown()
	:: atomic { calls > 0 -> calls--; disable(); printf("| DISABLE\n") }
	:: atomic { calls > 0 -> calls-- };
	   enable(MANY, false, result);
	   result = DONE
	:: atomic { calls > 0 -> calls-- };
	   enable(SINGLE, false, result);
	   result = DONE
	:: MAY_STOP -> break
	od
}

init {
	byte i;
	atomic {
		policy = MANY; armed = 1; hw_armed = 1;
		do :: i < D -> run loop_thread(); i++ :: else -> i = 0; break od;
		do :: i < C -> run controller(); i++ :: else -> i = 0; break od;
		run device(); run poster(); run rest()
	}
}

proctype rest()
{
	timeout ->
	assert(lock == 0 && running == 0 && in_progress == 0 && tearing == 0 && exempt == 0);
	assert(!CALLS || (cq == 0 && queued == 0))
}
