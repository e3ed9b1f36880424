/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.pml -- evd_run() for the models wait and many
 *
 * One pass: polls, arms and polls again, then serves the sink or goes IDLE.  The model defines serve(), which
 * is entered with the lock held and drops it, and the labels `served` and `idle`.
 */

/* The end of an atomic step that took the job, or that ended an upcall, and that left the lock FREE: no
* other process runs in between. */
inline first_poll()
{
	enter();
	if
	:: !(SINK_UPCALL || SINK_CNO) ->
		job = IDLE; printf("| no sink for the loop to serve, IDLE\n");
		leave();
		goto idle
	:: else ->
		if :: !WANTED -> poll_enough() :: else fi;
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
		:: exact_hint || !mine -> exact_hint = 0 /* or it was armed before the poll */
		:: else -> poll_enough()
		fi;
		mine = 0;
		if
		:: WANTED -> serve(); goto served
		:: else -> job = IDLE; printf("| IDLE\n"); leave(); goto idle
		fi
	}
}
