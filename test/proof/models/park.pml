/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * park.pml -- the flag and the event on which a thread sleeps
 *
 * One thread checks a condition under a lock and sleeps S times, on the flag alone or on descriptors.  Its
 * sleeps may time out, and another descriptor may be readable, E times together.  Two threads make the
 * condition true and wake it, under the lock, W times together.
 */
#ifndef S
#define S 4
#endif
#ifndef W
#define W 3
#endif
#ifndef E
#define E 2
#endif
#define SIZES S/W/E/0

/* the value of the flag */
#define AWAKE 0
#define WOKEN 1
#define ASLEEP 2
#define POLLS 3

bit lock;
byte flag;
bit in_futex;	/* the kernel has put the thread to sleep */
byte event;	/* the eventfd */
bit due;	/* the condition became true since the last check */
bit asleep;	/* the thread is in a system call that does not end by itself */
byte sleeps = S, wakes = W, ends = E;

proctype sleeper()
{
end:
	do
	:: atomic { sleeps > 0 && lock == 0 -> sleeps--;
#ifndef RESET_LATE
		if :: flag == WOKEN -> flag = AWAKE :: else fi;
#endif
		due = 0; printf("| checks\n") }
#ifdef RESET_LATE
	   atomic { if :: flag == WOKEN -> flag = AWAKE :: else fi }
#endif
	   if
	   :: true -> /* park_sleep_alone() */
		atomic {
#ifdef NOT_COMPARED
			flag = ASLEEP
#else
			if :: flag == AWAKE -> flag = ASLEEP :: else -> goto over fi
#endif
		}
#ifdef KERNEL_NOT_COMPARED
		atomic { in_futex = 1; asleep = 1 }
#else
		atomic { if :: flag == ASLEEP -> in_futex = 1; asleep = 1 :: else fi }
#endif
end_futex:	if
		:: atomic { in_futex == 0 -> asleep = 0 }
		:: atomic { in_futex == 1 && ends > 0 -> ends--; in_futex = 0; asleep = 0; printf("| times out\n") }
		fi;
		atomic { if :: flag == ASLEEP -> flag = AWAKE :: else fi }
	   :: true -> /* park_poll() */
		atomic { if :: flag == AWAKE -> flag = POLLS :: else -> goto over fi }
		asleep = 1;
end_poll:	if
		:: atomic { event > 0 -> asleep = 0 }
		:: atomic { ends > 0 -> ends--; asleep = 0; printf("| its descriptor is readable\n") }
		fi;
		atomic { if :: flag == POLLS -> flag = AWAKE :: else fi }
		atomic { if :: event > 0 -> event = 0 :: else fi }
	   fi;
over:	   skip
	od
}

proctype waker()
{
	byte was;
end:
	do
	:: atomic { wakes > 0 && lock == 0 -> wakes--; lock = 1; due = 1;
		was = flag; flag = WOKEN; printf("| wakes\n") }
	   if
	   :: was == ASLEEP -> in_futex = 0
	   :: was == POLLS -> event++
	   :: else
	   fi;
	   atomic { was = 0; lock = 0 }
	od
}

init { atomic { run sleeper(); run waker(); run waker(); run rest() } }

proctype rest()
{
	timeout ->
	assert(!asleep || !due)	/* it does not sleep when there is something to check */
}
