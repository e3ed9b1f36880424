/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot.pml -- a slot that is used for one object after another, and calls that come too late
 *
 * The slot of an EVD, CNO or endpoint is used OBJECTS times, again as soon as its object was destroyed.  Each
 * object has a channel of its own (PRIVATE) or uses the shared one.  A late call has the serial number of its
 * object, and the lock section that acts compares it.  A dequeue compares it with a copy that is cleared by the
 * free (direct), and then looks at nothing else.  Late calls are those of the consumer, of the connection
 * manager and of the effects of completions (process caller), a job on the list of a loop (the run of an EVD,
 * the agent of a CNO, the timer of an endpoint), the handler of a private channel, and a notification of the
 * shared channel.
 *
 * Each of them may begin with any object and act when any later object is in the slot.  Nothing keeps the
 * slot from being used again.  There are two loop threads.
 */
#ifndef OBJECTS
#define OBJECTS 3
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define SIZES OBJECTS/CALLS/2/1

/* the slot */
bit alive, freed, returned, here; /* here: the slot is in use, until the object is destroyed */
byte serial, pins;
byte direct;	/* the serial number while the object is alive, else 0 */
bit private;
byte job_serial, job;	/* IDLE, READY, or TAKEN off the list by a thread that will run it */
#define IDLE 0
#define READY 1
#define TAKEN 2

/* one notification per object; gotten: read and not acknowledged */
bit sent, unread, gotten, booked;

/* the table of descriptors of the loop: one entry, which is used again when it is not busy */
bit listed, busy;
byte ticket, handler_serial;

#ifdef BY_ALIVE
#define IS(mine) alive
#else
#define IS(mine) (alive && serial == (mine))
#endif
#define QUIESCENT (pins == 0 && job == IDLE)

/* A call that acts on the slot means the object that is in it. */
inline acts(mine) { assert(alive && here && serial == (mine)) }

inline queue_job() { if :: job == IDLE -> job = READY; job_serial = serial :: else fi }

/* evd_create(), cno_create() or the creation of an endpoint; then evd_list_new_channel() */
proctype owner()
{
end:
	do
	:: atomic {
		serial < OBJECTS && !here ->
		serial++; here = 1; alive = 1; direct = serial; freed = 0; returned = 0;
		sent = 0; booked = 0;
		if :: private = 1 :: private = 0 fi;
		printf("| object %d is created, private channel: %d\n", serial, private)
	   }
	   if
	   :: private ->
		atomic { !busy -> listed = 1; ticket++; handler_serial = serial } /* loop_source_slot() */
	   :: else
	   fi
	   /* it is alive */
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
#ifndef DIRECT_KEPT
		direct = 0;
#endif
		if :: private -> listed = 0 :: else fi;
#ifdef CANCELS_TAKEN
		job = IDLE;
#else
		if :: job == READY -> job = IDLE :: else fi;
#endif
		printf("| object %d is freed\n", serial)
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

/* A call that got the serial number, and enters its lock section later */
proctype caller()
{
	byte mine, calls = CALLS;
end:
	do
	:: atomic { calls > 0 && alive -> calls--; mine = serial }
	   atomic {
		if
		:: IS(mine) -> acts(mine); queue_job()
		:: direct == mine -> acts(mine); printf("| takes an event directly\n")
		:: else -> printf("| DAT_INVALID_HANDLE\n")
		fi;
		mine = 0
	   }
	od
}

/* evd_notified(): the shared channel delivers the serial number with the context of the queue */
inline notified(mine_)
{
	atomic {
#ifdef BOOKS_BY_ALIVE
		if
		:: alive ->
#else
		if
		:: serial != mine_ -> skip
		:: serial == mine_ && alive ->
#endif
			acts(mine_);
			booked = 1; gotten = 0; queue_job();
			printf("| evd_notified()\n")
#ifdef BOOKS_BY_ALIVE
		:: !alive ->
#else
		:: serial == mine_ && !alive ->
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
	/* a job: taken off the list, then run with its serial number */
	:: atomic { job == READY -> job = TAKEN; mine = job_serial }
	   atomic {
		if
		:: serial != mine -> skip /* evd_run(): the job of another object */
		:: else -> assert(job == TAKEN && here); job = IDLE
		fi;
		mine = 0
	   }
	/* the shared channel */
	:: atomic { unread && here && !private -> unread = 0; gotten = 1; mine = serial; printf("| reads the shared channel\n") }
	   notified(mine);
	   mine = 0
	/* a private channel: epoll_wait(), loop_serve(), evd_channel_readable() */
	:: atomic { listed && unread && private -> event = ticket }
	   atomic {
		if
		:: listed && ticket == event && !busy -> busy = 1; mine = handler_serial
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
		assert(here && private && serial == mine); /* it is the right descriptor */
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
	assert(!here && !alive && pins == 0 && !gotten && !busy && job == IDLE && serial == OBJECTS)
}
