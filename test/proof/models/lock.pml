/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.pml -- the lock of the shipped library (evd/lock.h)
 *
 * N threads take and drop the lock ROUNDS times each.  A thread takes it as os_lock() does, or tries once
 * (os_trylock()) and goes on without it.  Each access to the word is one step, and so is each call of the
 * kernel: a sleep compares the word and queues the thread in one step.  A sleep may end for no reason
 * (SPURIOUS times in all).  Memory is sequentially consistent: every access that decides is a locked
 * instruction, or an acquire or release of the same word.
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef SPURIOUS
#define SPURIOUS 1
#endif
#define SIZES N/ROUNDS/SPURIOUS

#define FREE 0
#define HELD 1
#define WAITED 2

byte word = FREE;
byte inside = 0;       /* threads that have the lock */
bool asleep[N];        /* queued in the kernel */
byte spurious = 0;

inline sleep_if_waited(me)
{
#ifdef SLEEPS_UNCHECKED
	asleep[me] = true;
#else
	atomic {
		if
		:: word == WAITED -> asleep[me] = true
		:: else
		fi
	}
#endif
	do
	:: !asleep[me] -> break
	:: atomic { asleep[me] && spurious < SPURIOUS -> asleep[me] = false; spurious++ }
	od
}

#if N > 2
#define NONE_ASLEEP (!asleep[0] && !asleep[1] && !asleep[2])
#else
#define NONE_ASLEEP (!asleep[0] && !asleep[1])
#endif

inline wake_one()
{
	atomic {
		if
		:: asleep[0] -> asleep[0] = false
		:: asleep[1] -> asleep[1] = false
#if N > 2
		:: asleep[2] -> asleep[2] = false
#endif
		:: NONE_ASLEEP
		fi
	}
}

/* lock_take_slowly(): what it reads first changes nothing, but it may take a free lock as HELD. */
inline take_slowly(me)
{
	if
	:: atomic { word == FREE -> word = HELD }
	:: true ->
		do
		:: atomic { old = word; word = WAITED }
		   if
		   :: old == FREE -> break
		   :: else -> sleep_if_waited(me)
		   fi
#ifdef TAKES_AS_HELD
		:: atomic { word == FREE -> word = HELD } -> break
#endif
		od
	fi
}

proctype thread(byte me)
{
	byte round = 0, old;
	bool has;

	do
	:: round < ROUNDS ->
		round++;
		has = false;
		atomic {
			if
			:: word == FREE -> word = HELD; has = true
			:: else
			fi
		}
		if
		:: has
		:: !has -> take_slowly(me); has = true
		:: !has /* os_trylock() failed */
		fi;
		if
		:: has ->
			inside++;
			assert(inside == 1);
			inside--;
			atomic { old = word; word = FREE }
#ifndef DROPS_SILENTLY
			if
			:: old == WAITED -> wake_one()
			:: else
			fi
#endif
		:: else
		fi
	:: else -> break
	od
}

init {
	atomic {
		run thread(0);
		run thread(1);
#if N > 2
		run thread(2);
#endif
	}
}
