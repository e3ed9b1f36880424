/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cno.pml -- several EVDs on one CNO, several waiters, a proxy agent
 *
 * A thread or agent that gets an EVD drains this EVD and no other; a CNO may rely on no more.  Two EVDs get
 * N + M events together.  How an EVD gets a completion is modelled in core.pml and wait.pml; here every event
 * is unseen at once.  W threads wait, EXPIRIES of their waits may time out.  The agent is installed INSTALLS
 * times.  EVDs are attached and detached K times; the waiters are woken when the last one is detached.  Two
 * loop threads.
 *
 * The lock of the CNO is taken inside the trigger lock, and both sections are one step.  The EVDs are equal
 * until something happens to one of them; the model lets it happen to the first.  The second loop thread
 * takes a job only while the first one has a job.
 */
#define E 2
#ifndef N
#define N 3
#endif
#ifndef M
#define M 2
#endif
#define POSTS (N + M)
#define SIZES N/M/2/K
#ifndef W
#define W 2
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef INSTALLS
#define INSTALLS 0
#endif
#ifndef K
#define K 2
#endif
#define NONE 255

/* the part of struct evd that concerns its listener */
byte queued[E];
bit attached[E] = 1, unreported[E], owned[E], ready[E];

/* struct cno */
chan triggered = [E] of { byte };	/* oldest first */
bit on_list[E], unseen[E];		/* unseen: the agent was not called for it */
chan waiters = [W] of { byte };
bit wake[W];
byte evds = E, last_detaches;
bit installed, agent_due, job_queued, in_agent;

byte posts = POSTS, expiries = EXPIRIES, installs = INSTALLS, toggles = K;
bit agent_expected;	/* a trigger came while an agent was installed: the agent must be called */
byte w;	/* within a step only */
bit busy;	/* the first loop thread has a job */

#define ALIKE (posts == POSTS && toggles == K)
#define MY_TURN (!second || busy)

#ifdef ONE_HINT
#define ROOM (len(triggered) == 0)
#else
#define ROOM true
#endif

/* park_list_wake_first() */
inline wake_first()
{
	if
	:: len(waiters) > 0 -> waiters?<w>; wake[w] = 1; w = 0
	:: else
	fi
}

/* cno_first_unseen(); here it does not matter which EVD it returns */
#define ANY_UNSEEN (unseen[0] || unseen[E - 1])

inline queue_agent()
{
	if
	:: !job_queued && !in_agent && installed && (agent_due || ANY_UNSEEN) -> job_queued = 1
	:: else
	fi
}

inline notify(which)
{
	if
	:: !on_list[which] && ROOM -> on_list[which] = 1; triggered!which
	:: else
	fi;
	unseen[which] = on_list[which];
	if :: installed -> agent_expected = 1 :: else fi;
	wake_first();
	queue_agent();
	printf("| notifies the CNO of evd %d\n", which)
}

/* cno_detach() removes the EVD from the list */
inline detach(which)
{
	if
	:: on_list[which] -> triggered??eval(which); on_list[which] = 0; unseen[which] = 0;
		if :: !agent_due && !ANY_UNSEEN -> agent_expected = 0 :: else fi
	:: else
	fi
}

/* cno_pop(): found = the EVD, or NONE */
inline pop(found)
{
	if
	:: len(triggered) > 0 ->
		triggered?found;
		on_list[found] = 0;
#ifndef AGENT_FORGOTTEN
		if :: unseen[found] && installed -> agent_due = 1 :: else fi;
#endif
		unseen[found] = 0
	:: else -> found = NONE
	fi
}

/* evd_wake_sink() if the sink is the CNO */
inline wake_sink(which)
{
	if
	:: attached[which] && !owned[which] -> owned[which] = 1; ready[which] = 1
	:: else
	fi
}

inline drain(which)
{
	do
	:: atomic { queued[which] > 0 -> queued[which]--; printf("| takes an event of evd %d\n", which) }
	:: atomic { queued[which] == 0 -> break }
	od
}

/* cno_wait() */
proctype waiter(byte me)
{
	byte found = NONE, since;
	bit expired;
	do
	:: atomic {
		since = last_detaches;
		pop(found);
		if
		:: found != NONE -> printf("| cno_wait() at once: evd %d\n", found); goto got
		:: else -> waiters!me; printf("| cno_wait() sleeps\n")
		fi
	   }
end_asleep:
	   if
	   :: wake[me]
	   :: atomic { expiries > 0 -> expiries--; expired = 1; printf("| it times out\n") }
	   fi;
	   atomic {
		wake[me] = 0;
#ifdef EXPIRED_IS_EXPIRED
		if
		:: expired -> found = NONE
		:: else -> pop(found)
		fi;
#else
		pop(found);
#endif
		if
		:: found != NONE || last_detaches != since || expired ->
			waiters??eval(me);
#ifndef NO_PASS_ON
			if :: len(triggered) > 0 -> wake_first() :: else fi;
#endif
			printf("| cno_wait() returns\n")
		:: else -> goto end_asleep
		fi
	   }
got:
	   if
	   :: found != NONE -> drain(found); found = NONE
	   :: else
	   fi;
	   if
	   :: expired -> break
	   :: else
	   fi
	od
}

/* evd_run() for a CNO, and cno_run_agent() */
proctype loop_thread(bit second)
{
	byte which;
end:
	do
	:: atomic { ready[0] && MY_TURN -> ready[0] = 0; which = 0; busy = (busy || !second); goto serve }
	:: atomic { ready[E - 1] && MY_TURN -> ready[E - 1] = 0; which = E - 1; busy = (busy || !second); goto serve }
	:: atomic {
		job_queued && MY_TURN ->
		job_queued = 0; busy = (busy || !second);
		if
		:: installed && (agent_due || ANY_UNSEEN) ->
			installed = 0; agent_due = 0; agent_expected = 0;
			if
			:: unseen[0] -> unseen[0] = 0; which = 0
			:: !unseen[0] && unseen[E - 1] -> unseen[E - 1] = 0; which = E - 1
			:: else -> which = NONE
			fi;
			in_agent = 1;
			printf("| calls the agent\n")
		:: else -> busy = (busy && second); goto next
		fi
	   }
	   if
	   :: which != NONE -> drain(which)
	   :: else
	   fi;
	   if
	   :: atomic { installs > 0 -> installs--; installed = 1; queue_agent(); printf("| the agent installs itself again\n") }
	   :: true
	   fi;
	   atomic { in_agent = 0; which = 0; busy = (busy && second); queue_agent(); goto next }
serve:
	   atomic {
		if
		:: attached[which] && unreported[which] -> unreported[which] = 0; notify(which)
		:: else
		fi;
		owned[which] = 0; which = 0;
		busy = (busy && second)
	   }
next:
	   skip
	od
}

proctype poster()
{
	byte to;
end:
	do
	:: atomic {
		posts > 0 ->
		if :: to = 0 :: !ALIKE -> to = E - 1 fi;
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
		if :: which = 0 :: !ALIKE -> which = E - 1 fi;
		toggles--;
		if
		:: attached[which] ->
			detach(which); attached[which] = 0; printf("| detaches evd %d\n", which)
		:: else ->
			evds++; attached[which] = 1; printf("| attaches evd %d\n", which);
			unreported[which] = (queued[which] > 0);
			wake_sink(which);
			which = 0; goto next
		fi
	   }
	   atomic { /* cno_unref() */
		evds--;
		if
		:: evds == 0 ->
			last_detaches++;
			for (w : 0 .. W - 1) { wake[w] = 1 }
			w = 0
		:: else
		fi;
		which = 0
	   }
next:
	   skip
	:: atomic {
		installs > 0 && !installed -> installs--; installed = 1; printf("| installs the agent\n");
#ifndef INSTALLS_NOT_QUEUED
		queue_agent()
#endif
	   }
	od
}

init {
	byte i;
	atomic {
		do :: i < W -> run waiter(i); i++ :: else -> i = 0; break od;
		run loop_thread(0); run loop_thread(1);
		run poster(); run controller(); run rest()
	}
}

proctype rest()
{
	byte i;
	timeout ->
	atomic {
		assert(!in_agent && !job_queued);
		/* if a thread waits, no attached EVD has events left */
		do
		:: i < E ->
			assert(len(waiters) == 0 || !attached[i] || queued[i] == 0);
			i++
		:: else -> break
		od;
		/* an agent that is installed was called for every trigger */
		assert(!installed || (!agent_expected && !agent_due && !ANY_UNSEEN))
	}
}
