/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.pml -- the frames that another process writes, who reads them, and who is notified (softverbs/wire)
 *
 * The other process writes FRAMES frames into a ring that holds SIZE of them.  In this process the progress
 * thread reads them, and THREADS threads of the program, which make ACTIONS calls each: a poll of a completion
 * queue, a request for notification, or a wait in ibv_get_cq_event(), which SIGNALS signals may end.  After
 * that the program does nothing more.  The last frame is a message of the connection manager, which only
 * the progress thread handles, if CM is 1.
 *
 * A reader handles one frame in a turn.  Each leaves an acknowledgement for the other process, which must be
 * notified of it (owed).  Each may raise events that end a wait.  A thread that waits does not make the descriptor
 * readable for an event that it reads itself, but for those that it leaves.
 *
 * A lease that ends while another thread has the lock is put off; here it ends later.
 *
 * No frame stays unread, no acknowledgement unnoticed, and no writer waits for room that is there.  If events are left,
 * the descriptor is readable.
 */
#ifndef FRAMES
#define FRAMES 2
#endif
#ifndef SIZE
#define SIZE 2
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifndef ACTIONS
#define ACTIONS 2
#endif
#ifndef SIGNALS
#define SIGNALS 1
#endif
#ifndef CM
#define CM 1
#endif
#define SIZES FRAMES/SIZE/THREADS/ACTIONS

/* in shared memory */
byte written, read;
byte alarm;
#define NONE 0
#define PROGRESS 1
#define WAITER 2
bit want_room; /* `full` */

bit byte_sent, bell; /* what notifies the progress thread, and the threads that wait */
bit room;	     /* what notifies the other process of room */

/* of this process */
bit lock;	   /* the input lock */
bit leased, timer; /* timer: a lease runs, and ends at any time */
bit busy;	   /* `activity` is not `seen` */
byte waiting;
bit owed;
byte events; /* of a completion channel */
bit event;   /* its descriptor is readable */
byte signals = SIGNALS;

#define NOTHING 0
#define SOME 1
#define LEFT_TO_PROGRESS 2

inline enter() { atomic { lock == 0 -> lock = 1 } }
inline leave() { lock = 0 }

/* input_start_lease() */
inline start_lease() { leased = 1; timer = 1 }

/* input_ensure_lease() */
inline ensure_lease()
{
	busy = 1;
	atomic {
		if
		:: !leased -> start_lease()
		:: else
		fi
	}
}

/* soft_peers_arm() */
inline arm(keep_)
{
	atomic {
		if
		:: keep_ && alarm == WAITER
		:: else -> alarm = PROGRESS; printf("| arms for the progress thread\n")
		fi
	}
}

/* soft_ring_next(): the writer waits for room, and half of the ring is free */
inline give_room(more)
{
	atomic {
		if
		:: want_room && written - read - more <= SIZE / 2 -> want_room = 0; room = 1
		:: else
		fi
	}
}

/* input_read() with soft_link_read_ring(): one of the frames that are there */
inline read_ring(result, by_progress, for_itself)
{
	atomic {
		owed = 0; /* soft_link_notify() */
		if
		:: written == read -> result = NOTHING
		:: written != read && CM && read == FRAMES - 1 && !by_progress ->
			result = LEFT_TO_PROGRESS
		:: else -> result = SOME; printf("| reads a frame\n")
		fi
	}
	if
	:: result == SOME ->
#ifdef ROOM_FIRST
		give_room(1);
#endif
		atomic {
			read++;
			owed = !by_progress;
			if
			:: events++
			:: events = events + 2 /* of two queues */
			:: true
			fi;
			if
			:: events && !for_itself -> event = 1
			:: else
			fi
		}
#ifndef ROOM_FIRST
		give_room(0)
#endif
	:: else
	fi
}

/* input_read_some() */
inline read_some(result, for_itself)
{
	read_ring(result, 0, for_itself);
	if
	:: result == LEFT_TO_PROGRESS ->
		atomic { start_lease() }
	:: result == SOME ->
#ifndef READ_NO_LEASE
		ensure_lease()
#endif
	:: else
	fi
}

/* soft_input_attend() */
proctype progress()
{
	byte some;
	bit keep;
end:
	do
	:: atomic {
		if
		:: byte_sent -> byte_sent = 0
		:: timer -> timer = 0; printf("| the lease ends\n")
		fi
	   }
	   enter();
	   read_ring(some, 1, 0);
	   if
	   :: atomic { busy -> busy = 0; start_lease() }
	   :: atomic { !busy && some -> start_lease() }
	   :: atomic { !busy && !some -> leased = 0 }
		if
		:: atomic { busy -> start_lease(); goto out }
		:: !busy
		fi;
#ifdef KEEPS_ALWAYS
		keep = 1;
#else
		keep = waiting > 0;
#endif
#ifndef NO_ARM
		arm(keep);
#endif
#ifndef ARMS_LAST
		read_ring(some, 1, 0);
		if
		:: some -> atomic { start_lease() }
		:: else
		fi
#endif
	   fi;
out:
	   atomic { some = 0; keep = 0; leave() }
	od
}

proctype program()
{
	byte actions = ACTIONS, r;
	bit ended, keep;

	do
	:: actions > 0 ->
		actions--;
		if
		:: busy = 1; /* soft_input_poll() */
		   if
		   :: written == read && !owed
		   :: written != read || owed ->
			if
			:: atomic { lock == 0 -> lock = 1; printf("| polls\n") }
			   read_some(r, 0);
			   leave()
			:: lock != 0
			fi
		   fi
		:: enter(); /* soft_input_arm(): a thread that waits reads for this one, too */
		   keep = waiting > 0;
		   arm(keep);
		   read_some(r, 0);
		   leave()
		:: true; /* soft_input_wait(), until there is an event */
		   do
		   :: atomic { events -> events--;
#ifdef LEAVES_EVENTS
				if
				:: !events -> event = 0
				:: else
				fi;
#else
				event = events > 0;
#endif
				break }
		   :: ended -> ended = 0; break
		   :: else ->
			waiting++;
			enter();
			alarm = WAITER; printf("| arms for a waiting thread\n");
			read_some(r, 1);
			leave();
			if
			:: r != NOTHING
			:: r == NOTHING ->
end_asleep:			if
				:: event
				:: atomic { bell -> bell = 0; printf("| is woken\n") }
				   enter(); read_some(r, 1); leave()
				:: atomic { signals > 0 -> signals--; ended = 1; printf("| a signal\n") }
				fi
			fi;
			waiting--; /* input_leave() */
#ifndef LEAVES_NO_LEASE
			ensure_lease()
#endif
		   od
		fi;
		r = 0; keep = 0
	:: else -> break
	od
}

/* soft_link_send() of the other process */
proctype writer()
{
	byte at, taken;

	do
	:: at == FRAMES -> break
	:: at < FRAMES && at - read == SIZE ->
		want_room = 1; /* soft_ring_wait_for_room() */
		if
#ifndef NO_RECHECK_OF_ROOM
		:: at - read < SIZE
#endif
		:: else -> atomic { room -> room = 0; printf("| there is room\n") }
		fi
	:: at < FRAMES && at - read < SIZE ->
		at++;
#ifndef PUBLISHES_LATE
		written = at; printf("| writes frame %d\n", at);
#endif
		if
		:: read == at /* it is read already */
		:: read != at ->
			atomic { taken = alarm; alarm = NONE }
			atomic {
				if
				:: taken == WAITER -> bell = 1
				:: taken == PROGRESS -> byte_sent = 1
				:: else
				fi;
				taken = NONE
			}
		fi;
#ifdef PUBLISHES_LATE
		written = at; printf("| writes frame %d\n", at)
#endif
	od
}

init {
	atomic {
		alarm = PROGRESS;
		run progress(); run writer();
		run program();
#if THREADS > 1
		run program();
#endif
		run rest()
	}
}

proctype rest()
{
	timeout -> assert(!lock && written == FRAMES && read == FRAMES && !owed && (event || !events))
}
