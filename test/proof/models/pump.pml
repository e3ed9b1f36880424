/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pump.pml -- an upcall that waits on the thread of the loop which would have to wake it
 *
 * One loop, one thread.  The upcall of EVD a calls evd_wait() on EVD b, whose notifications this loop
 * reads, or cno_wait() on a CNO whose EVD e is served by jobs of this loop.  evd.pml models b.  EVD e
 * has no device: its taker is an upcall or the CNO, and a controller may change that.
 *
 * The doorbell stands here as well: threads asleep = sleeping + tokens in the eventfd.
 */
#ifndef E
#define E 2 /* events posted to e */
#endif
#ifndef K
#define K 1 /* changes of e's taker */
#endif
#ifndef WAITS
#define WAITS 2 /* upcalls of a, each waits once */
#endif

#if defined(NO_PUMP)
#define NO_REST
#define READABLE false
#elif defined(PUMP_NO_JOBS)
#define NO_REST
#define READABLE (channel > 0)
#else
#define READABLE (doorbell > 0 || channel > 0)
#endif

#include "evd.pml"

#define NOWHERE 0
#define READY 1
#define PUT_OFF 2

byte sleeping, doorbell;
byte a_job = READY, a_events = WAITS;
byte e_job, e_queued;
bit e_owned, e_news, e_cno;
bit triggered;	/* e is on the CNO's list */
bit in_cno_wait;
bit cno_wanted = 1; /* one of the upcalls may wait on the CNO, whichever it is */
byte depth;	/* call-outs on the thread's stack */
byte toggles = K;
byte e_posts = E;

/* ring_locked() */
inline ring()
{
	if
	:: sleeping > 0 -> sleeping--; doorbell++
	:: else
	fi
}

/* awake_locked() */
inline rise()
{
	if
	:: doorbell > 0 -> doorbell--
	:: else -> assert(sleeping > 0); sleeping--
	fi
}

/* evd_kick() of e */
inline e_kick()
{
	if
	:: !e_owned -> e_owned = 1; e_job = READY; ring()
#ifndef NO_HASTEN
	:: e_owned && e_cno && e_job == PUT_OFF -> e_job = READY; ring() /* loop_hasten() */
#endif
	:: else
	fi
}

/* evd_run() of e: every pass is one section, e has no device */
inline e_run(pumping_)
{
	atomic {
		e_job = NOWHERE;
		do
		:: e_cno && e_news ->
			/* told() */
			e_news = 0; triggered = 1; /* the thread that may wait is this one: it looks anyway */
			printf("| tells the CNO of e\n")
		:: e_cno && !e_news -> e_owned = 0; break
		:: !e_cno && e_queued == 0 -> e_owned = 0; break
#ifndef UPCALL_WHILE_PUMPING
		:: !e_cno && e_queued > 0 && pumping_ -> e_job = PUT_OFF; printf("| puts e off\n"); break
		:: !e_cno && e_queued > 0 && !pumping_ ->
#else
		:: !e_cno && e_queued > 0 ->
#endif
			assert(depth == 0); /* no call-out from inside another one */
			e_queued--;
			printf("| upcall of e\n")
		od
	}
}

/* serve(): every readable source */
inline serve()
{
	do
	:: atomic { channel > 0 -> read_channel(); printf("| reads a notification of b\n") }
	   atomic { notified(); printf("| evd_notified(b)\n") }
	:: atomic { channel == 0 -> break }
	od
}

/* loop_pump() */
inline pump()
{
	serve();
#ifndef PUMP_NO_JOBS
	if
	:: e_job != NOWHERE -> e_run(true)
	:: else
	fi
#endif
}

proctype loop_thread()
{
	bit asleep_, idle, readable, exact;
	byte armed_;
turn:
	atomic {
		asleep_ = (a_job == NOWHERE && e_job == NOWHERE);
#ifndef SLEEPING_LATE
		if :: asleep_ -> sleeping++ :: else fi
#endif
	}
#ifdef SLEEPING_LATE
	if :: asleep_ -> sleeping++ :: else fi;
#endif
end_turn:
	!asleep_ || doorbell > 0 || channel > 0;
	atomic { if :: asleep_ -> rise(); asleep_ = 0 :: else fi }
	serve();
	if
	:: e_job != NOWHERE -> e_run(false)
	:: else
	fi;
	if
	:: a_job == NOWHERE -> goto turn
	:: else
	fi;

	/* the upcall of a */
	atomic { a_job = NOWHERE; a_events--; depth++ }
	if
	:: atomic { cno_wanted ->
		in_cno_wait = 1; printf("| upcall of a: cno_wait()\n");
		cno_wanted = 0 }
	:: atomic { enter(); waiting = 1; sleeper = _pid; threshold = 1; settle(); printf("| upcall of a: evd_wait(b)\n") }
	fi;
look:
	if
	:: in_cno_wait ->
		atomic {
			wake = 0;
			if
			:: triggered -> triggered = 0; in_cno_wait = 0; e_queued = 0; goto returned
			:: else
			fi
		}
	:: else ->
		atomic { wake = 0; if :: !WANTED -> poll_enough() :: else fi }
		atomic { if :: !WANTED -> arm(armed_, exact); armed_ = 0; exact = 0 :: else fi }
		atomic {
			if :: !WANTED -> poll_enough() :: else fi;
			if
			:: WANTED -> take(); waiting = 0; taker_changed(); leave(); goto returned
			:: else -> asleep = 1; leave()
			fi
		}
	fi;
	/* park_sleep() */
	atomic {
		idle = (a_job == NOWHERE && e_job != READY); /* loop_rest() */
#ifndef NO_REST
		if :: idle -> sleeping++ :: else fi
#endif
	}
	if
	:: idle ->
		printf("| sleeps, parked\n");
end_parked:
		atomic { wake || READABLE -> readable = READABLE; asleep = 0 }
#ifndef NO_REST
		atomic { rise() } /* loop_rise() */
#endif
	:: else -> readable = 1; asleep = 0
	fi;
	if
	:: readable -> pump(); readable = 0
	:: else
	fi;
	if
	:: in_cno_wait
	:: else -> atomic { lock == 0 -> lock = 1 }
	fi;
	goto look;
returned:
	atomic {
		depth--;
		printf("| the upcall of a returned\n");
		if :: a_events > 0 -> a_job = READY :: else fi;
		goto turn
	}
}

proctype poster()
{
	byte posts = M;
end:
	do
	:: atomic { posts > 0 -> posts--; post(); printf("| evd_post(b)\n") }
	:: MAY_STOP -> break
	od
}

proctype e_poster()
{
end:
	do
	:: atomic {
		e_posts > 0 -> e_posts--;
		e_queued++; e_news = 1;
		printf("| evd_post(e)\n");
		e_kick()
	   }
	:: MAY_STOP -> break
	od
}

proctype controller()
{
end:
	do
	:: atomic {
		toggles > 0 -> toggles--;
		e_cno = !e_cno;
		if
		:: e_cno -> printf("| e: upcall off, the CNO takes\n")
		:: else -> triggered = 0; printf("| e: upcall on\n")
		fi;
		e_news = (e_queued > 0);
		e_kick()
	   }
	:: MAY_STOP -> break
	od
}

init {
	atomic {
		if :: e_cno = 1 :: true fi;
		run loop_thread(); run device(); run poster(); run e_poster(); run controller(); run rest()
	}
}

proctype rest()
{
	timeout ->
	assert(lock == 0);
	assert(!waiting || (queued == 0 && cq == 0));
	assert(!in_cno_wait || !triggered);
	assert(!e_cno || !e_news);			/* the CNO is told, whoever sleeps */
	assert(e_cno || e_queued == 0 || depth > 0)	/* an upcall waits for the thread at most */
}
