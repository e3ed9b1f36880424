/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trywait.pml -- threads that sleep on the descriptor of a CNO, and take one event of an EVD at a time
 *
 * Two EVDs get POSTS events together.  How an EVD gets a completion is modelled in core.pml and wait.pml; here
 * every event is unreported at once, and a run of a loop reports it.  R threads call cno_trywait() until it
 * returns no EVD, take one event of each EVD that it returns, and then sleep until the descriptor is readable:
 * that is while an EVD is triggered.  EVDs are detached and attached K times.
 *
 * The lock of the CNO is handed inside the trigger lock, and both sections are one step.  Which of the triggered
 * EVDs is the oldest does not matter here.
 */
#define E 2
#ifndef N
#define N 0
#endif
#ifndef M
#define M 4
#endif
#define POSTS (N + M)
#define SIZES N/M/R/K
#ifndef R
#define R 2
#endif
#ifndef K
#define K 2
#endif

/* the part of struct evd that concerns its listener */
byte queued[E];
bit attached[E] = 1, unreported[E], owned[E];

/* struct cno */
bit triggered[E], handed[E];

byte posts = POSTS, toggles = K;

/* the descriptor is readable */
#define TRIGGERED (triggered[0] || triggered[1])

inline notify(which)
{
	triggered[which] = 1;
	printf("| triggers the CNO for evd %d\n", which)
}

/* evd_wake_sink() if the sink is the CNO */
inline wake_sink(which)
{
	if
	:: attached[which] -> owned[which] = 1
	:: else
	fi
}

/* cno_pop() */
inline pop(which)
{
	triggered[which] = 0;
#ifndef HANDED_FORGOTTEN
	handed[which] = 1;
#endif
	printf("| takes the trigger of evd %d\n", which)
}

inline report_again(which)
{
	if
#ifdef ONLY_UNREPORTED
	:: attached[which] && unreported[which] -> unreported[which] = 0; notify(which)
#else
	:: attached[which] && queued[which] > 0 -> unreported[which] = 0; notify(which)
#endif
	:: else
	fi
}

proctype reader()
{
	byte which;
again:
	atomic {
		if
		:: triggered[0] -> which = 0; pop(which); goto take
		:: triggered[1] -> which = 1; pop(which); goto take
		:: !TRIGGERED && handed[0] -> which = 0
		:: !TRIGGERED && handed[1] -> which = 1
		:: !TRIGGERED && !handed[0] && !handed[1] -> printf("| sleeps\n"); goto end_asleep
		fi;
#ifndef REMOVED_LATE
		handed[which] = 0
#endif
	}
	atomic { report_again(which) }
#ifdef REMOVED_LATE
	handed[which] = 0;
#endif
	goto again;
take:
	atomic {
		if
		:: queued[which] > 0 -> queued[which]--; printf("| takes an event of evd %d\n", which)
		:: else
		fi;
		goto again
	}
end_asleep:
	TRIGGERED -> goto again
}

/* evd_run_report() */
proctype loop_thread()
{
end:
	do
	:: atomic { owned[0] -> owned[0] = 0; if :: attached[0] && unreported[0] -> unreported[0] = 0; notify(0) :: else fi }
	:: atomic { owned[1] -> owned[1] = 0; if :: attached[1] && unreported[1] -> unreported[1] = 0; notify(1) :: else fi }
	od
}

proctype poster()
{
	byte to;
end:
	do
	:: atomic {
		posts > 0 ->
		if :: to = 0 :: to = 1 fi;
		posts--;
		queued[to]++; unreported[to] = 1;
		printf("| evd_post(%d)\n", to);
		wake_sink(to);
		to = 0
	   }
	od
}

proctype controller()
{
	byte which;
end:
	do
	:: atomic {
		toggles > 0 ->
		if :: which = 0 :: which = 1 fi;
		toggles--;
		if
		:: attached[which] ->
			attached[which] = 0; triggered[which] = 0; handed[which] = 0;
			printf("| detaches evd %d\n", which)
		:: else ->
			attached[which] = 1; unreported[which] = (queued[which] > 0);
			printf("| attaches evd %d\n", which);
			wake_sink(which)
		fi;
		which = 0
	   }
	od
}

proctype rest()
{
	timeout ->
	atomic {
		/* all threads sleep: no event is left that they could get */
		assert(!attached[0] || queued[0] == 0);
		assert(!attached[1] || queued[1] == 0)
	}
}

init {
	byte i;
	atomic {
		do :: i < R -> run reader(); i++ :: else -> i = 0; break od;
		run loop_thread(); run poster(); run controller(); run rest()
	}
}
