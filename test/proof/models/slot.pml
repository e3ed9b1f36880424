/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot.pml -- memory that serves one object after another, and whoever comes too late
 *
 * A slot of an EVD, CNO or endpoint is opened LIVES times, the next time as soon as its object is gone; each
 * object has a channel of its own (PRIVATE) or uses the shared one, whichever it likes.  Who comes late
 * carries the life it means, and the section that acts compares it: calls of the consumer's, of the
 * connection manager and of completions' side effects (caller), a job on a loop's list (an EVD's run, a CNO's
 * agent, an endpoint's timer), the handler of a private channel, a notification of the shared one.
 *
 * Each may have been sent on its way in any life, and arrive in any later one.  No guard keeps a slot from
 * being opened again.  Two loop threads.
 */
#ifndef LIVES
#define LIVES 3
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define SIZES LIVES/CALLS/2/1

/* the slot */
bit alive, freed, returned, here; /* here: it is in use, until destroy() gives it back */
byte life, pins;
bit private;
byte job_life, job;	/* IDLE, READY, or taken off the list by a thread about to run it */
#define IDLE 0
#define READY 1
#define TAKEN 2

/* what the object's device sent: one notification a life; gotten: read and not acknowledged */
bit sent, unread, gotten, booked;

/* the loop's table of descriptors: one place, which may serve the next channel once it is not busy */
bit listed, busy;
byte ticket, handler_life;

#ifdef BY_ALIVE
#define IS(mine) alive
#else
#define IS(mine) (alive && life == (mine))
#endif
#define QUIESCENT (pins == 0 && job == IDLE)

/* Whatever acts on the slot means the object that is in it. */
inline acts(mine) { assert(alive && here && life == (mine)) }

inline queue_job() { if :: job == IDLE -> job = READY; job_life = life :: else fi }

/* evd_create(), cno_create(), create() of an endpoint; then evd_list_channel() */
proctype owner()
{
end:
	do
	:: atomic {
		life < LIVES && !here ->
		life++; here = 1; alive = 1; freed = 0; returned = 0;
		sent = 0; booked = 0;
		if :: private = 1 :: private = 0 fi;
		printf("| life %d begins, private channel: %d\n", life, private)
	   }
	   if
	   :: private ->
		atomic { !busy -> listed = 1; ticket++; handler_life = life } /* source_slot() */
	   :: else
	   fi
	   /* it lives */
	   if
	   :: true
	   :: atomic { sent == 0 -> sent = 1; unread = 1; printf("| a notification\n") }
	   fi;
	   if
	   :: true
	   :: atomic { booked || !sent -> skip }
	   fi;
	   /* evd_free(): dead, its source forgotten, its job cancelled */
	   atomic {
		alive = 0; freed = 1;
		if :: private -> listed = 0 :: else fi;
#ifdef CANCELS_TAKEN
		job = IDLE;
#else
		if :: job == READY -> job = IDLE :: else fi;
#endif
		printf("| life %d ends\n", life)
	   }
#ifdef NO_PINS
	   atomic { job == IDLE -> returned = 1 }
#else
	   atomic { QUIESCENT -> returned = 1 }
#endif
	   /* ibv_destroy_cq() waits for acknowledgements; what is unread goes with the queue */
#ifdef NO_ACK_WAIT
	   atomic { unread = 0; gotten = 0; here = 0; printf("| the slot is free\n") }
#else
	   atomic { !gotten -> unread = 0; here = 0; printf("| the slot is free\n") }
#endif
	od
}

/* A call that looked its handle up, and comes to the section later; whatever has the life in hand. */
proctype caller()
{
	byte mine, calls = CALLS;
end:
	do
	:: atomic { calls > 0 && alive -> calls--; mine = life }
	   atomic {
		if
		:: IS(mine) -> acts(mine); queue_job()
		:: else -> printf("| DAT_INVALID_HANDLE\n")
		fi;
		mine = 0
	   }
	od
}

/* evd_notified(): from the shared channel the life comes with the queue's context */
inline notified(mine_)
{
	atomic {
#ifdef BOOKS_BY_ALIVE
		if
		:: alive ->
#else
		if
		:: life != mine_ -> skip
		:: life == mine_ && alive ->
#endif
			acts(mine_);
			booked = 1; gotten = 0; queue_job();
			printf("| evd_notified()\n")
#ifdef BOOKS_BY_ALIVE
		:: !alive ->
#else
		:: life == mine_ && !alive ->
#endif
			assert(here && gotten); gotten = 0; printf("| evd_notified(): dead, acknowledges\n")
		fi
	}
}

proctype loop_thread()
{
	byte mine, event;
	bit got;
end:
	do
	/* a job: taken off the list, then run with the life it has */
	:: atomic { job == READY -> job = TAKEN; mine = job_life }
	   atomic {
		if
		:: life != mine -> skip /* evd_run(): another object's */
		:: else -> assert(job == TAKEN && here); job = IDLE
		fi;
		mine = 0
	   }
	/* the shared channel */
	:: atomic { unread && here && !private -> unread = 0; gotten = 1; mine = life; printf("| reads the shared channel\n") }
	   notified(mine);
	   mine = 0
	/* a private channel: epoll_wait(), loop_serve(), channel_readable() */
	:: atomic { listed && unread && private -> event = ticket }
	   atomic {
		if
		:: listed && ticket == event && !busy -> busy = 1; mine = handler_life
		:: else -> event = 0; goto next
		fi;
		event = 0
	   }
	   atomic {
		if
		:: IS(mine) -> acts(mine); pins++
		:: else -> busy = 0; mine = 0; goto next
		fi
	   }
	   atomic {
		assert(here && private && life == mine); /* the descriptor is the one meant */
		if
		:: unread -> unread = 0; gotten = 1; got = 1; printf("| reads the private channel\n")
		:: else
		fi
	   }
	   if
	   :: got -> got = 0; notified(mine)
	   :: else
	   fi;
	   atomic { pins--; busy = 0; mine = 0 }
next:
	   skip
	od
}

init {
	atomic { run owner(); run caller(); run caller(); run loop_thread(); run loop_thread(); run rest() }
}

proctype rest()
{
	timeout ->
	assert(!here && !alive && pins == 0 && !gotten && !busy && job == IDLE && life == LIVES)
}
