/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.pml -- evd_run() for the models wait and many
 *
 * One pass: polls, arms and polls again, then serves the sink or goes IDLE.  The model defines serve(), which
 * is entered with the lock held and drops it, and the labels `served` and `idle`.  A CNO gets one report of all,
 * after the poll that follows the arm, and the run goes IDLE in that section: the model defines report().  It may
 * arm without a poll before.
 */

/* The end of an atomic step that took the job, or that ended an upcall, and that left the lock FREE: no
* other process runs in between. */
bit polled_;	/* by a run for a CNO, before the arm */
inline first_poll()
{
	enter();
	if
	:: !(SINK_UPCALL || SINK_CNO) ->
		job = IDLE; printf("| no sink for the loop to serve, IDLE\n");
		leave();
		goto idle
	:: SINK_CNO -> poll_all(); polled_ = 1 /* keeps the lock */
	:: SINK_CNO -> polled_ = 0 /* evd_arms_before_poll() */
	:: SINK_UPCALL ->
		if :: !WANTED && !WATCHED -> poll_enough() :: else fi;
		if
		:: WANTED -> serve(); goto served
		:: else /* keeps the lock */
		fi
	fi
}

inline repoll()
{
	atomic { arm(mine, exact_hint); printf("| nothing wanted, arms\n") }
	atomic {
		if
		:: !exact_hint && !mine && (polled_ || !SINK_CNO) /* it was armed before the poll */
		:: exact_hint && (polled_ || !SINK_CNO) ->
			exact_hint = 0;
			if :: !SINK_CNO -> note_empty() :: else fi
#ifndef ARMS_FIRST_NO_POLL
		:: SINK_CNO && !polled_ -> exact_hint = 0; poll_all()
#else
		:: SINK_CNO && !polled_ -> exact_hint = 0; if :: mine -> poll_all() :: else fi
#endif
#ifndef REPORTS_NO_REPOLL
		:: !exact_hint && mine && SINK_CNO && polled_ -> poll_all()
#else
		:: !exact_hint && mine && SINK_CNO && polled_
#endif
		:: !exact_hint && mine && !SINK_CNO -> poll_enough(); note_empty()
		fi;
		mine = 0; polled_ = 0;
		if
		:: SINK_CNO ->
			if :: WANTED -> report() :: else fi;
			job = IDLE; printf("| IDLE\n"); leave(); goto idle
		:: !SINK_CNO && WANTED -> serve(); goto served
		:: !SINK_CNO && !WANTED -> job = IDLE; printf("| IDLE\n"); leave(); goto idle
		fi
	}
}

/* evd_poll_to_report() */
inline poll_all() { poll(N + M) }
