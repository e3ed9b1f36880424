/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lead.pml -- a thread that waits for a CNO reads the channel that EVDs share
 *
 * Two EVDs share a channel; each has its own CNO.  They get N and M completions.  How the device is polled and
 * armed is modelled in core.pml; here the section of a notification is one step, which leaves the EVD armed and
 * its device queue empty.  The section of a CNO is one step, too, but what it does to the lead is another one,
 * because threads that wait for the other CNO see it.
 *
 * Two threads call cno_wait(), S times together, for one of the CNOs: they sleep, or only look (POLLS times).
 * EXPIRIES of their sleeps time out.  A thread that got an EVD drains it.  A loop thread reads the channel while
 * the loop watches it, and runs jobs.  K times an EVD gets an upcall policy, or loses it.
 */
#ifndef N
#define N 2
#endif
#ifndef M
#define M 2
#endif
#ifndef S
#define S 4
#endif
#ifndef POLLS
#define POLLS 1
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef K
#define K 2
#endif
#define SIZES N/M/1/K

/* enum lead_state */
#define FREE 0
#define TAKEN 1
#define OVER 2

byte lead;
bit watched;	/* by the loop */
chan channel = [2] of { byte };
byte raised[2], booked[2];

/* the device and struct evd */
byte to_make[2], cq[2], queued[2];
bit armed[2] = 1, upcalls[2], job[2];

/* struct cno */
bit triggered[2];
bit on[4];	/* its list of waiters: which thread is on it */
#define ON(thread_, cno_) on[2 * thread_ + cno_]

bit wake[2], asleep[2];
byte waits = S, polls = POLLS, expiries = EXPIRIES, toggles = K;

/* park_list_wake_first(): any of those that wait may be the first; a thread does not wake itself */
inline wake_first(which_)
{
	if
	:: ON(0, which_) -> wake[0] = (wake[0] || _pid != thread[0])
	:: ON(1, which_) -> wake[1] = (wake[1] || _pid != thread[1])
	:: !ON(0, which_) && !ON(1, which_)
	fi
}
byte thread[2];
bit inside;	/* the first thread is in cno_wait(): the second one calls only then, because they are equal */

/* evd_wake_sink(), or what the job does for a CNO */
inline wake_sink(which_)
{
	if
	:: queued[which_] > 0 && upcalls[which_] -> job[which_] = 1
	:: queued[which_] > 0 && !upcalls[which_] ->
		triggered[which_] = 1; wake_first(which_); printf("| CNO %d is triggered\n", which_)
	:: else
	fi
}

/* evd_notified(), and evd_run(); or evd_notified_to_report() */
inline notified(which_)
{
	booked[which_]++;
	queued[which_] = queued[which_] + cq[which_]; cq[which_] = 0;
	armed[which_] = 1;
	printf("| evd_notified(%d)\n", which_);
	wake_sink(which_)
}

/* channel_read_lead(), in two steps: mine = the EVD, or NONE.  Another reader may have been faster. */
#define NONE 2
inline take_one(mine_)
{
	if
	:: channel?mine_ -> printf("| reads a notification of evd %d\n", mine_)
	:: else -> mine_ = NONE
	fi
}

inline book(mine_)
{
	if
	:: atomic { mine_ != NONE -> notified(mine_); mine_ = NONE }
	:: else
	fi
}

/* lead_give_up(): two steps */
inline give_up()
{
	atomic {
		if
		:: lead != OVER ->
#ifdef LEADER_READS_ON
			late = (lead == FREE); /* the thread that leads goes on */
#else
			late = 1;
#endif
			lead = OVER; printf("| gives the lead up\n")
		:: else
		fi
	}
	if
	:: late -> atomic { watched = 1; late = 0; printf("| the loop watches the channel\n") }
	:: else
	fi
}

proctype waiter(bit me)
{
	bit leads, expired, late, which;
	byte mine = NONE, before;
	thread[me] = _pid;
end:
	do
	:: atomic {
		waits > 0 && (me == 0 || inside) -> waits--; inside = inside || me == 0;
		if :: which = 0 :: which = 1 fi;
		if
		:: triggered[which] -> triggered[which] = 0; printf("| cno_wait(%d): at once\n", which); goto got
		:: else
		fi;
		if
		:: polls > 0 -> polls--; before = raised[which]; goto looks
		:: ON(me, which) = 1; wake[me] = 0; printf("| cno_wait(%d): blocks\n", which)
		fi
	   }
	   /* lead_begin() */
	   atomic {
		if
		:: lead == FREE -> lead = TAKEN; leads = 1; asleep[me] = 1; printf("| leads\n"); goto end_asleep
		:: else
		fi
	   }
#ifndef SECOND_ONLY_SLEEPS
	   give_up();
#endif
	   asleep[me] = 1;
end_asleep:
	   if
	   :: atomic { wake[me] -> asleep[me] = 0; printf("| is woken\n") }
	   :: atomic { leads && len(channel) > 0 -> asleep[me] = 0; take_one(mine) } book(mine)
#ifdef READS_ONCE
		; leads = 0
#endif
	   :: atomic { expiries > 0 -> expiries--; expired = 1; asleep[me] = 0; printf("| times out\n") }
	   fi;
	   atomic {
		wake[me] = 0;
		if
		:: triggered[which] -> triggered[which] = 0; expired = 0; ON(me, which) = 0; printf("| cno_wait(%d) returns\n", which)
		:: !triggered[which] && expired -> ON(me, which) = 0; expired = 0; goto ends
		:: else -> asleep[me] = 1; goto end_asleep
		fi
	   }
	   atomic { if :: leads && lead == TAKEN -> lead = FREE :: else fi; leads = 0 } /* lead_end() */
got:
	   atomic { queued[which] = 0; cq[which] = 0; printf("| drains evd %d\n", which); goto next }
ends:
	   atomic { if :: leads && lead == TAKEN -> lead = FREE :: else fi; leads = 0; goto next }
looks:
#ifndef POLL_READS_NOTHING
	   if
	   :: lead != OVER -> /* lead_read_all() */
		do
		:: atomic { len(channel) > 0 -> take_one(mine) } book(mine)
		:: len(channel) == 0 -> break
		od
	   :: lead == OVER
	   fi;
#endif
	   atomic {
		if
		:: triggered[which] -> triggered[which] = 0; before = 0; printf("| cno_wait(%d) without timeout: triggered\n", which); goto got
		:: else ->
			/* what was raised before the call was read, or the loop is going to read it */
			assert(!(channel??[eval(which)]) || booked[which] >= before || lead == OVER);
			before = 0
		fi
	   }
next:
	   atomic { which = 0; inside = inside && me == 1 }
	od
}

proctype loop_thread()
{
	byte mine = NONE;
end:
	do
	:: atomic { watched && len(channel) > 0 -> take_one(mine) } book(mine)
	:: atomic { job[0] -> job[0] = 0; if :: upcalls[0] -> queued[0] = 0; cq[0] = 0 :: else -> wake_sink(0) fi }
	:: atomic { job[1] -> job[1] = 0; if :: upcalls[1] -> queued[1] = 0; cq[1] = 0 :: else -> wake_sink(1) fi }
	od
}

proctype device()
{
	byte to;
end:
	do
	:: atomic {
		if
		:: to_make[0] > 0 -> to = 0
		:: to_make[1] > 0 -> to = 1
		fi;
		to_make[to]--; cq[to]++; printf("| a completion of evd %d\n", to);
		if :: armed[to] -> armed[to] = 0; raised[to]++; channel!to :: else fi;
		to = 0
	   }
	od
}

/* evd_modify_upcall() */
proctype controller()
{
	bit late, which;
end:
	do
	:: atomic {
		toggles > 0 -> toggles--;
		if :: which = 0 :: which = 1 fi;
		upcalls[which] = !upcalls[which];
		printf("| upcalls of evd %d: %d\n", which, upcalls[which])
	   }
#ifndef POLICY_NO_GIVE_UP
	   if
	   :: upcalls[which] -> give_up()
	   :: else
	   fi;
#endif
	   atomic { wake_sink(which); which = 0 }
	od
}

init {
	atomic {
		to_make[0] = N; to_make[1] = M;
		run waiter(0); run waiter(1); run loop_thread(); run device(); run controller(); run rest()
	}
}

#define UNREPORTED(cno_) (triggered[cno_] || (!upcalls[cno_] && cq[cno_] > 0))

proctype rest()
{
	timeout ->
	atomic {
		/* no thread sleeps while there is something for it */
		assert(!(asleep[0] && ON(0, 0)) || !UNREPORTED(0));
		assert(!(asleep[0] && ON(0, 1)) || !UNREPORTED(1));
		assert(!(asleep[1] && ON(1, 0)) || !UNREPORTED(0));
		assert(!(asleep[1] && ON(1, 1)) || !UNREPORTED(1));
		/* and every event of an upcall policy was delivered */
		assert(!upcalls[0] || (queued[0] == 0 && cq[0] == 0));
		assert(!upcalls[1] || (queued[1] == 0 && cq[1] == 0));
		assert(lead == OVER || !watched)
	}
}
