/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ready.pml -- the descriptor of a list of events and the threads that read it (softverbs/device/ready.h)
 *
 * EVENTS events are added to a list, which may be emptied once in between, as when a queue is destroyed.  READERS
 * threads ask for an event ASKS times each and sleep in read(), where CANCELS of them may be cancelled: before the
 * kernel has emptied the descriptor for the thread, or after it.  A signal ends a read() like a descriptor that
 * does not block.  A system call that is made with the lock held is a step of its own, because a read() does not
 * take the lock.
 *
 * When nothing moves any more, the descriptor is readable if, and only if, there are events; so no thread sleeps while there are.
 */
#ifndef EVENTS
#define EVENTS 3
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef ASKS
#define ASKS 2
#endif
#ifndef CANCELS
#define CANCELS 1
#endif
#define SIZES EVENTS/READERS/ASKS/CANCELS

bit lock;
byte events;
bit rung, filled;
byte writes;
byte count; /* of the eventfd */
byte cancels = CANCELS;

inline enter() { atomic { lock == 0 -> lock = 1 } }
inline leave() { lock = 0 }

/* soft_ready_update() */
inline update()
{
	if
	:: events && !rung ->
		atomic { filled = 1; writes++; }
		atomic { count++; printf("| writes\n") }
	:: !events && filled ->
		filled = 0;
		atomic { count = 0; printf("| empties\n") }
	:: else
	fi;
#ifdef RUNG_FOR_EVER
	rung = rung || events
#else
	rung = events > 0
#endif
}

/* soft_ready_end() */
inline end_wait(taken, before)
{
	atomic {
		if
		:: taken ->
#ifndef NOT_AGAIN
			rung = 0;
#endif
			if
#ifdef EMPTIED_IN_PART
			:: true -> filled = 0
#else
			:: taken == writes - before -> filled = 0
#endif
			:: else
			fi
		:: else
		fi
	}
}

proctype reader()
{
	byte asks = ASKS, taken, before;
	bit got;

	do
	:: asks == 0 -> break
	:: asks > 0 ->
		asks--; taken = 0; before = 0;
		do
		:: enter();
		   end_wait(taken, before);
		   atomic { got = events > 0; events = events - got };
		   update();
		   atomic { taken = 0; before = writes; leave() }
		   if
		   :: got -> printf("| takes an event\n"); break
		   :: !got
		   fi;
end_asleep:	   if
		   :: atomic { count > 0 -> taken = count; count = 0; printf("| reads the descriptor\n") }
		   :: break /* a signal, or a descriptor that does not block */
		   :: atomic { cancels > 0 -> cancels--; goto cancelled }
		   fi;
		   if
		   :: true
		   :: atomic { cancels > 0 -> cancels--; printf("| is cancelled\n"); goto cancelled }
		   fi
		od;
		got = 0
	od;
	goto out;
cancelled:
#ifndef CANCELLED_UNHEARD
	enter();
	end_wait(taken, before);
	update();
	leave();
#endif
out:
	skip
}

proctype producer()
{
	byte left = EVENTS;

	do
	:: left == 0 -> break
	:: left > 0 ->
		left--;
		enter();
		events++;
		update();
		leave()
	od
}

/* soft_channel_detach() */
proctype destroyer()
{
	if
	:: enter();
	   events = 0;
	   update();
	   leave()
	:: true
	fi
}

init {
	atomic {
		run producer(); run destroyer();
		run reader();
#if READERS > 1
		run reader();
#endif
		run rest()
	}
}

proctype rest()
{
	timeout -> assert(!lock && (events > 0) == (count > 0))
}
