/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pump.pml -- an upcall that waits for an event which the thread it runs on would have to deliver
 *
 * There are two threads: the loop thread, which reads the sources, and a thread of the pool, which runs upcalls
 * of MANY.  The upcall of EVD a calls evd_wait() on EVD b, whose notifications this loop reads, or cno_wait()
 * on a CNO whose EVD e is served by a job of this loop.  An upcall of e on the pool thread may call cno_wait()
 * too.  evd.pml models b.  EVD e has no device.  Its sink is an upcall of SINGLE or MANY, or the CNO; a
 * controller changes the sink K times.  BEHIND: a third EVD f has the CNO as its sink, and its job may be
 * queued behind the job of e.
 *
 * The doorbell is modelled too: threads asleep = sleeping + tokens in the eventfd.
 */
#ifndef E
#define E 2 /* events posted to e */
#endif
#ifndef K
#define K 1 /* changes of the sink of e */
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

#define NO_UNSEEN
#define reader no_reader /* the loop thread reads, when it can */
#include "evd.pml"

#define SIZES N/M/2/K

/* More states of a job: deferred until the loop thread returns from its callback; ready on the pool. */
#define DEFERRED 5
#define ON_POOL 6

byte sleeping, doorbell;
byte a_job = READY, a_events = WAITS;
byte e_job = IDLE, e_queued, e_in_progress;
bit e_unseen;
byte e_policy;	/* OFF: the sink is the CNO */
bit triggered;	/* e is on the CNO's list */
bit in_cno_wait;
bit cno_wanted = 1; /* one of the upcalls of a may still wait on the CNO */
bit pool_waits = 1; /* one of the upcalls of e may still wait on the CNO */
byte depth;	/* callbacks on the stack of the loop thread */
byte toggles = K;
byte e_posts = E;
#ifdef BEHIND
bit f_job, f_posts = 1;
bit f_first;	/* f is before e on the ready list */
#define F_READY f_job
#else
#define F_READY false
#endif

/* loop_wake_locked() */
inline ring()
{
	if
	:: sleeping > 0 && doorbell == 0 -> sleeping--; doorbell++
	:: else
	fi
}

/* loop_awake_locked() */
inline rise()
{
	if
	:: doorbell > 0 -> doorbell--
	:: else -> assert(sleeping > 0); sleeping--
	fi
}

#ifdef BEHIND
#define BEHIND_F f_first = f_job;
#else
#define BEHIND_F
#endif

/* loop_ready() of evd_serving_loop() */
inline e_ready()
{
	if
	:: e_policy == MANY -> e_job = ON_POOL
	:: else -> e_job = READY; BEHIND_F ring()
	fi
}

/* evd_wake_sink() of e; without a device e never backs off */
inline e_wake_sink()
{
	if
	:: e_job == IDLE -> e_ready()
#ifndef NO_HASTEN
	:: e_job == DEFERRED && e_policy == OFF -> e_job = READY; BEHIND_F ring() /* loop_hasten() */
#endif
#ifndef NO_MOVE
	:: e_job == ON_POOL && e_policy != MANY -> e_ready()
	:: (e_job == READY || e_job == DEFERRED) && e_policy == MANY -> e_ready()
#endif
	:: else
	fi
}

#ifdef BEHIND
/* evd_run() of f, which makes no callback */
inline f_run()
{
	f_job = 0; f_first = 0;
	triggered = 1;
	printf("| notifies the CNO of f\n")
}

proctype f_poster()
{
end:
	do
	:: atomic {
		f_posts > 0 -> f_posts--;
		f_job = 1; f_first = (e_job != READY && e_job != DEFERRED); ring();
		printf("| evd_post(f)\n")
	   }
	:: MAY_STOP -> break
	od
}
#endif

/* loop_sleep_begin(): the list is empty, or has deferred jobs only */
#ifdef REST_CHECKS_FIRST_ONLY
#define NOTHING_TO_RUN (e_job != READY && (!F_READY || (e_job == DEFERRED && !f_first)))
#else
#define NOTHING_TO_RUN (e_job != READY && !F_READY)
#endif

/* evd_run() of e: every pass is one section, for e has no device.  Under MANY the upcall starts next. */
inline e_run(by_, pumping_)
{
	e_job = IDLE;
	do
	:: e_policy == OFF && e_unseen ->
		/* cno_notify(): a thread does not wake itself; it checks again anyway */
		e_unseen = 0; triggered = 1;
		if :: in_cno_wait && by_ == ON_POOL -> wake = 1 :: else fi;
		printf("| notifies the CNO of e\n")
	:: e_policy == OFF && !e_unseen -> break
	:: e_policy != OFF && (e_queued == 0 || (e_policy == SINGLE && e_in_progress > 0)) -> break
	:: e_policy != OFF && e_queued > 0 && !(e_policy == SINGLE && e_in_progress > 0) ->
		if
		:: (by_ == ON_POOL) != (e_policy == MANY) -> e_ready(); printf("| leaves e to the other thread\n"); break
#ifndef UPCALL_WHILE_PUMPING
		:: by_ == READY && e_policy == SINGLE && pumping_ -> e_job = DEFERRED; BEHIND_F printf("| defers e\n"); break
		:: by_ == READY && e_policy == SINGLE && !pumping_ ->
#else
		:: by_ == READY && e_policy == SINGLE ->
#endif
			assert(depth == 0); /* no callback inside another one */
			e_queued--;
			printf("| upcall of e\n")
		:: by_ == ON_POOL && e_policy == MANY ->
			e_queued--; e_in_progress++; e_ready();
			printf("| upcall of e\n");
			break
		fi
	od
}

/* loop_serve(): handles every readable source */
inline serve()
{
	do
	:: atomic { channel > 0 -> read_channel(); printf("| reads a notification of b\n") }
	   atomic { FREE -> notified(); printf("| evd_notified(b)\n") }
	:: atomic { channel == 0 -> break }
	od
}

#ifdef BEHIND
inline f_turn() { atomic { if :: f_job -> f_run() :: else fi } }
#else
inline f_turn() { skip }
#endif

/* loop_pump() */
inline pump()
{
	serve();
#ifndef PUMP_NO_JOBS
	if
	:: atomic { e_job == READY || e_job == DEFERRED -> e_run(READY, true) }
	:: e_job == IDLE || e_job == ON_POOL
	fi;
	f_turn()
#endif
}

proctype loop_thread()
{
	bit asleep_, idle, readable, exact;
	byte armed_;
turn:
	atomic {
		asleep_ = (a_job == IDLE && (e_job == IDLE || e_job == ON_POOL) && !F_READY);
#ifndef SLEEPING_LATE
		if :: asleep_ -> sleeping++ :: else fi
#endif
	}
#ifdef SLEEPING_LATE
	if :: asleep_ -> sleeping++ :: else fi;
#endif
	if
	:: asleep_ ->
end_turn:
		doorbell > 0 || channel > 0;
		atomic { rise(); asleep_ = 0 }
		serve()
	:: !asleep_ -> serve()
	:: !asleep_ -> skip /* it reads the sources in a later turn, see loop.pml */
	fi;
	if
	:: atomic { e_job == READY || e_job == DEFERRED -> e_run(READY, false) }
	:: e_job == IDLE || e_job == ON_POOL
	fi;
	f_turn();
	if
	:: a_job == IDLE -> goto turn
	:: else
	fi;

	/* the upcall of a */
	if
	:: atomic { cno_wanted -> a_job = IDLE; a_events--; depth++;
		in_cno_wait = 1; printf("| upcall of a: cno_wait()\n");
		cno_wanted = 0 }
	:: atomic { FREE -> a_job = IDLE; a_events--; depth++; enter(); waiting = 1; sleeper = _pid; threshold = 1; settle(); printf("| upcall of a: evd_wait(b)\n") }
	fi;
check:
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
		atomic { if :: !WANTED -> arm(armed_, exact); exact = 0 :: else fi }
		atomic {
			if :: !WANTED && armed_ -> poll_enough() :: else fi;
			armed_ = 0;
			if
			:: WANTED -> take(); waiting = 0; sink_changed(); leave(); goto returned
			:: else -> asleep = 1; leave()
			fi
		}
	fi;
	/* park_sleep() */
	atomic {
		idle = (a_job == IDLE && NOTHING_TO_RUN); /* loop_sleep_begin() */
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
		atomic { rise() } /* loop_sleep_end() */
#endif
	:: else -> readable = 1; asleep = 0
	fi;
	if
	:: readable -> pump(); readable = 0
	:: else
	fi;
	if
	:: in_cno_wait
	:: else -> atomic { FREE -> lock = 1 }
	fi;
	goto check;
returned:
	atomic {
		depth--;
		printf("| the upcall of a returned\n");
		if :: a_events > 0 -> a_job = READY :: else fi;
		goto turn
	}
}

/* A pool thread does not pump when it waits. */
proctype pool_thread()
{
end:
	do
	:: atomic {
		e_job == ON_POOL -> e_run(ON_POOL, false);
		if :: e_job == ON_POOL && e_in_progress > 0 -> goto called :: else -> goto next fi
	   }
called:
	   if
	   :: true
	   :: pool_waits ->
		atomic { pool_waits = 0; printf("| upcall of e: cno_wait()\n") }
end_waits:
		atomic { triggered -> triggered = 0; e_queued = 0; printf("| takes e off the CNO's list, drains it\n") }
	   fi;
	   atomic {
		e_in_progress--;
		printf("| the upcall of e returned\n");
		if :: e_in_progress == 0 -> e_wake_sink() :: else fi
	   }
next:
	   skip
	od
}

proctype e_poster()
{
end:
	do
	:: atomic {
		e_posts > 0 -> e_posts--;
		e_queued++; e_unseen = 1;
		printf("| evd_post(e)\n");
		e_wake_sink()
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
		if
		:: e_policy != OFF -> e_policy = OFF; printf("| e: upcalls off, the sink is the CNO\n")
		:: e_policy != SINGLE -> e_policy = SINGLE; printf("| e: SINGLE\n")
		:: e_policy != MANY -> e_policy = MANY; printf("| e: MANY\n")
		fi;
		e_unseen = (e_queued > 0);
		e_wake_sink()
	   }
	:: MAY_STOP -> break
	od
}

init {
	atomic {
		if :: e_policy = OFF :: e_policy = SINGLE :: e_policy = MANY fi;
		run loop_thread(); run pool_thread(); run device(); run poster(); run e_poster(); run controller(); run rest();
#ifdef BEHIND
		run f_poster()
#endif
	}
}

proctype rest()
{
	timeout ->
	assert(lock == 0);
	assert(!waiting || (queued == 0 && cq == 0));
	assert(!in_cno_wait || !triggered);
	assert(!F_READY);				/* a job that makes no callback has run */
	assert(e_policy != OFF || !e_unseen);		/* the CNO was notified */
	assert(e_policy != SINGLE || e_queued == 0 || depth > 0 || e_in_progress > 0); /* waits only for the thread in an upcall */
	assert(e_policy != MANY || e_queued == 0 || e_in_progress > 0)
}
