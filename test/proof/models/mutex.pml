/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mutex.pml -- the locks of the device, made of a word and futex(2) (softverbs/device/mutex.h)
 *
 * THREADS threads take a lock TURNS times each; with WRITERS, so many of them take a lock for readers and writers for writing and
 * the others for reading.  Accesses are sequentially consistent.  futex(2) sleeps if the word still has the value, and wakes
 * without a reason, too, SPURIOUS times.
 *
 * Nothing but readers hold the lock at a time, and no thread sleeps when all that hold it have left.
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef WRITERS
#define WRITERS 0
#endif
#ifndef TURNS
#define TURNS 2
#endif
#ifndef SPURIOUS
#define SPURIOUS 1
#endif
#define SIZES THREADS/WRITERS/TURNS/SPURIOUS

#define FREE 0
#define HELD 1
#define WAITED_FOR 2

#define WRITER 16 /* SOFT_RWLOCK_WRITER; below it, the readers */

byte mutex, word; /* `word` of the lock of readers and writers, whose writers take `mutex` */
byte sleepers;
byte spurious = SPURIOUS;
byte reading, writing; /* that hold it */

/* what each thread sleeps at */
#define IDS 4
byte at[IDS];
#define AWAKE 0
#define MUTEX 1
#define WORD 2

inline futex_wait(which, value_now, value)
{
	if
	:: atomic { value_now == value -> at[id] = which }
	   if
	   :: at[id] == AWAKE
	   :: atomic { spurious > 0 -> spurious--; at[id] = AWAKE }
	   fi
	:: atomic { value_now != value -> skip }
	fi
}

inline wake_one()
{
	atomic {
		if
		:: at[0] == MUTEX -> at[0] = AWAKE
		:: at[1] == MUTEX -> at[1] = AWAKE
		:: at[2] == MUTEX -> at[2] = AWAKE
		:: at[3] == MUTEX -> at[3] = AWAKE
		:: else
		fi
	}
}

inline wake_all()
{
	d_step {
		if :: at[0] == WORD -> at[0] = AWAKE :: else fi;
		if :: at[1] == WORD -> at[1] = AWAKE :: else fi;
		if :: at[2] == WORD -> at[2] = AWAKE :: else fi;
		if :: at[3] == WORD -> at[3] = AWAKE :: else fi
	}
}

/* soft_mutex_lock() */
inline lock_mutex()
{
	if
	:: atomic { mutex == FREE -> mutex = HELD }
	:: atomic { mutex != FREE -> skip }
		do
		:: atomic {
#ifdef ONE_WAITER_ALONE
			if
			:: mutex == FREE -> old = FREE; mutex = HELD
			:: else -> old = mutex; mutex = WAITED_FOR
			fi
#else
			old = mutex; mutex = WAITED_FOR
#endif
		   }
		   if
		   :: old == FREE -> break
		   :: else -> futex_wait(MUTEX, mutex, WAITED_FOR)
		   fi
		od
	fi;
	old = 0
}

/* soft_mutex_unlock() */
inline unlock_mutex()
{
	atomic { old = mutex; mutex = FREE }
	if
	:: old == WAITED_FOR -> wake_one()
	:: else
	fi;
	old = 0
}

inline holds_alone() { atomic { assert(!reading && !writing); writing = 1 } writing = 0 }

proctype locker(byte id)
{
	byte turns = TURNS, old;

	do
	:: turns == 0 -> break
	:: else ->
		turns--;
		lock_mutex();
		holds_alone();
		unlock_mutex()
	od
}

/* soft_rwlock_unread() */
inline unread()
{
	atomic { old = word; word-- }
	if
	:: old == WRITER + 1 -> wake_all()
	:: else
	fi
}

/* soft_rwlock_read(), and step_back */
proctype reader(byte id)
{
	byte turns = TURNS, old;

	do
	:: turns == 0 -> break
	:: else ->
		turns--;
		do
		:: atomic { old = word; word++ }
		   if
		   :: old < WRITER -> break
		   :: else
		   fi;
		   unread();
#ifdef SLEEPS_UNCOUNTED
		   skip;
#else
		   sleepers++;
#endif
		   do
		   :: atomic { old = word }
		      if
		      :: old < WRITER -> break
		      :: else -> futex_wait(WORD, word, old)
		      fi
		   od;
#ifndef SLEEPS_UNCOUNTED
		   sleepers--
#endif
		od;
		atomic { assert(!writing); reading++ }
		reading--;
		unread();
		old = 0
	od
}

/* soft_rwlock_write() and soft_rwlock_unwrite() */
proctype writer(byte id)
{
	byte turns = TURNS, old;

	do
	:: turns == 0 -> break
	:: else ->
		turns--;
		lock_mutex();
		word = word + WRITER;
#ifndef WRITER_BESIDE_READERS
		do
		:: atomic { old = word }
		   if
		   :: old == WRITER -> break
		   :: else -> futex_wait(WORD, word, old)
		   fi
		od;
#endif
		holds_alone();
#ifdef LOOKS_FIRST
		old = sleepers;
		word = word - WRITER;
#else
		word = word - WRITER;
		old = sleepers;
#endif
		if
		:: old > 0 -> wake_all()
		:: else
		fi;
		unlock_mutex()
	od
}

proctype rest()
{
	timeout -> assert(mutex == FREE && word == 0 && sleepers == 0)
}

init {
	atomic {
#if WRITERS > 0
		run writer(0);
#if WRITERS > 1
		run writer(1);
#endif
		run reader(2);
#if THREADS - WRITERS > 1
		run reader(3);
#endif
#else
		run locker(0); run locker(1);
#if THREADS > 2
		run locker(2);
#endif
#endif
		run rest()
	}
}
