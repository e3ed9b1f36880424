/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.pml -- evd_run() as the faces other than core.pml use it
 *
 * One pass: take stock, look, serve or go IDLE.  The face defines serve(), which is entered with the
 * lock held and leaves.  outcome_: SERVED, or ENDED when the EVD is no longer this thread's.
 */
#define ENDED 0
#define SERVED 1
#define ARMING 2

inline pass(outcome_)
{
	atomic {
		enter();
		if
		:: !(TAKER_UPCALL || TAKER_CNO) ->
			owned = 0; outcome_ = ENDED; printf("| nobody for the loop to serve, IDLE\n");
			leave()
		:: else ->
			if :: !WANTED -> poll_enough() :: else fi;
			if
			:: WANTED -> outcome_ = SERVED; serve()
			:: else -> outcome_ = ARMING /* with the lock */
			fi
		fi
	}
	if
	:: outcome_ == ARMING ->
		atomic { arm(outcome_, exact_hint); printf("| looks: not wanted, armed\n") }
		atomic {
			if
			:: exact_hint -> exact_hint = 0
			:: else -> poll_enough()
			fi;
			if
			:: WANTED -> outcome_ = SERVED; serve()
			:: else -> owned = 0; outcome_ = ENDED; printf("| IDLE\n"); leave()
			fi
		}
	:: else
	fi
}
