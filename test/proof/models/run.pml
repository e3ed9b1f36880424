/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.pml -- evd_run() as the faces other than core.pml use it
 *
 * One pass: take stock, look, serve or go IDLE.  The face defines serve(), which is entered with the lock
 * held and leaves, and its labels `served` and `idle`.
 */

/* The end of an atomic step that took the job, or ended a call-out, and left the lock FREE: nothing comes
 * in between. */
inline first_poll()
{
	enter();
	if
	:: !(SINK_UPCALL || SINK_CNO) ->
		job = IDLE; printf("| nobody for the loop to serve, IDLE\n");
		leave();
		goto idle
	:: else ->
		if :: !WANTED -> poll_enough() :: else fi;
		if
		:: WANTED -> serve(); goto served
		:: else /* with the lock */
		fi
	fi
}

inline repoll()
{
	atomic { arm(mine, exact_hint); mine = 0; printf("| looks: not wanted, armed\n") }
	atomic {
		if
		:: exact_hint -> exact_hint = 0
		:: else -> poll_enough()
		fi;
		if
		:: WANTED -> serve(); goto served
		:: else -> job = IDLE; printf("| IDLE\n"); leave(); goto idle
		fi
	}
}
