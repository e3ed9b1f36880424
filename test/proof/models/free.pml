/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * free.pml -- evd_free() from outside, from an upcall of the EVD and from an upcall of another EVD on the same
 * loop, while notifications are unread, read but not passed to evd_notified(), or not acknowledged yet
 *
 * EVD a is in a slot, which may be used for another EVD when a was destroyed.  As ibv_destroy_cq() does, the
 * device destroys the CQ only when every notification that was read is acknowledged.
 * There are D loop threads, N completions with a notification each (core.pml models arming), STALE calls that
 * post to a, and up to three calls that free it.
 * PRIVATE: a has a channel of its own, which the loop reads.  WAITER: there are no upcalls; a thread is blocked
 * in evd_wait() and reads the private channel itself.  ADOPTED: inside the upcall that has freed a, the program
 * destroys the CQ.
 */
#ifndef N
#define N 3
#endif
#ifndef D
#define D 2
#endif
#ifndef STALE
#define STALE 2 /* calls with a handle that may be stale */
#endif
#define ACK_BATCH 2
#define SIZES N/STALE/D/3

/* the CQ and its channel */
bit cq_exists = 1;
bit channel_exists = 1;
byte to_make = N;
byte channel;	/* notifications unread */
byte gotten;	/* read */
byte acked;	/* read and acknowledged */

/* the slot */
bit lock, lock_made = 1;
bit alive = 1, freed, free_on_return, owned;
byte generation = 1;	/* which EVD is in the slot */
byte ready, queued, in_progress, exempt, pins, unacked;
bit waiting, wake;
bit calls;		/* 1: the policy is MANY; 0: off */

bit b_job = 1;		/* an upcall of EVD b is due; it frees a */
byte to_free = 1;	/* calls from outside that free a */
byte to_free_inside = 1;
bit recycled;

#define QUIESCENT_BUT_OWNED (in_progress == 0 && pins == 0 && !waiting)
#if defined(LEAVES_QUEUED)
#define QUIESCENT QUIESCENT_BUT_OWNED
#elif defined(NO_PINS)
#define QUIESCENT (in_progress == 0 && !owned)
#else
#define QUIESCENT (QUIESCENT_BUT_OWNED && !owned)
#endif

inline enter() { assert(lock_made); lock == 0 -> lock = 1 }

/* evd_leave(): the last thread that leaves destroys an EVD that was freed from inside */
inline leave(last_)
{
	if
	:: freed && free_on_return && QUIESCENT -> free_on_return = 0; last_ = 1
	:: else
	fi;
	lock = 0
}

inline ack(n_)
{
	assert(cq_exists); /* acknowledgements end before the CQ is destroyed */
	acked = acked + n_;
	assert(acked <= gotten)
}

inline wake_sink()
{
	if
	:: waiting -> wake = 1
#ifdef WAKES_DEAD
	:: !waiting && !owned -> owned = 1; ready++
#else
	:: calls && alive && !owned -> owned = 1; ready++
#endif
	:: else
	fi
}

/* evd_destroy() and ibv_destroy_cq(), which blocks */
inline destroy()
{
#ifdef ACKS_AT_THE_END
	atomic { enter(); ack(unacked); unacked = 0; lock = 0 }
#else
	atomic { enter(); assert(unacked == 0); lock = 0 }
#endif
	atomic { acked == gotten -> cq_exists = 0; channel = 0; printf("| ibv_destroy_cq() returns\n") }
	atomic {
		channel_exists = 0;
		/* I7, and no thread is inside */
		assert(in_progress == 0 && ready == 0 && !owned && !waiting && acked == gotten);
#ifdef LOCK_DESTROYED
		lock_made = 0;
#endif
		recycled = 1;
		printf("| the slot is free\n")
	}
}

/* evd_notified() */
inline notified()
{
	atomic {
		enter();
		if
#ifndef WAKES_DEAD
		:: !alive -> late = 1; lock = 0; printf("| evd_notified(): dead\n")
#endif
		:: else ->
			unacked++;
			if
			:: unacked == ACK_BATCH -> ack(unacked); unacked = 0
			:: else
			fi;
			queued++; /* its completion */
			wake_sink();
			lock = 0;
			printf("| evd_notified()\n")
		fi
	}
	if
	:: late ->
#ifdef ACK_BATCHED_PAST_FREE
		atomic { late = 0; unacked++ }
#else
		atomic { late = 0; ack(1); printf("| acknowledges at once\n") }
#endif
	:: else
	fi
}

/* ibv_get_cq_event(); the reader calls evd_notified() before it does anything else */
inline get_event() { channel--; gotten++; printf("| reads a notification\n") }

/* evd_mark_dead() */
inline acknowledge()
{
#ifndef ACKS_AT_THE_END
	ack(unacked);
	unacked = 0
#else
	skip
#endif
}

/* evd_free() on a thread that is not inside an upcall of a */
inline free_outside(pumps_)
{
	atomic {
		enter();
		if
		:: !alive || generation != 1 -> lock = 0; r_ = 0; printf("| evd_free(): already gone\n")
		:: else ->
			alive = 0; freed = 1; calls = 0; wake = 1; r_ = 1;
			acknowledge();
#if !defined(WAITS_FOR_IDLE) && !defined(LEAVES_QUEUED)
			if
			:: owned && ready > 0 -> ready--; owned = 0 /* loop_unready() */
			:: else
			fi;
#endif
			lock = 0;
			printf("| evd_free() from outside\n")
		fi
	}
	if
	:: r_ ->
		do
		:: atomic { lock == 0 && QUIESCENT -> break }
#ifndef PRIVATE /* the private channel of a dead EVD is not read: loop_forget() */
		:: atomic { pumps_ && channel > 0 -> get_event() }
		   notified()
#endif
		od;
		destroy();
		r_ = 0
	:: else
	fi
}

/* evd_free() from an upcall of a */
inline free_inside()
{
	atomic {
		enter();
		if
		:: !alive -> lock = 0
		:: else ->
			alive = 0; freed = 1; calls = 0; free_on_return = 1; r_ = 1;
			acknowledge();
			if
			:: owned && ready > 0 -> ready--; owned = 0
			:: else
			fi;
			lock = 0;
			printf("| evd_free() from inside\n")
		fi
	}
#ifdef ADOPTED
	if
	:: r_ -> atomic { acked == gotten -> cq_exists = 0; channel = 0; printf("| the program destroys the CQ\n") }
	:: else
	fi;
#endif
	r_ = 0;
#ifdef WAITS_FOR_ITSELF
	atomic { lock == 0 && (alive || in_progress == 0) -> skip }
#endif
}

/* evd_run() and evd_make_upcall() under MANY: the job is queued again while an upcall runs */
inline serve_job()
{
	atomic {
		enter();
		assert(generation == 1 && !recycled); /* the EVD was not destroyed */
		if
		:: !alive || !calls || queued == 0 ->
			owned = 0; r_ = 0;
			leave(last)
		:: else ->
			queued--; in_progress++; ready++; r_ = 1;
			printf("| upcall of a\n");
			lock = 0
		fi
	}
	if
	:: r_ ->
		r_ = 0;
		if
		:: true
		:: atomic { to_free_inside > 0 -> to_free_inside-- };
		   free_inside()
		fi;
		atomic {
			enter();
			in_progress--;
			if :: in_progress == 0 -> wake_sink() :: else fi;
			printf("| the upcall of a returned\n");
			leave(last)
		}
	:: else
	fi;
	if
	:: last -> last = 0; destroy()
	:: else
	fi
}

/* evd_channel_readable(), called because the descriptor was readable before */
inline handle_channel()
{
	atomic {
		enter();
		if
		:: alive && generation == 1 -> pins++; r_ = 1
		:: else
		fi;
		lock = 0
	}
	if
	:: r_ ->
		r_ = 0;
		atomic {
			assert(channel_exists); /* the descriptor is not closed under the reader */
			if
			:: channel > 0 -> get_event(); r_ = 1
			:: else
			fi
		}
		if
		:: r_ -> r_ = 0; notified()
		:: else
		fi;
		atomic { enter(); pins--; leave(last) }
		if
		:: last -> last = 0; destroy()
		:: else
		fi
	:: else
	fi
}

proctype loop_thread()
{
	bit late, r_, last;
end:
	do
#ifdef HOLDS_WHAT_IT_READ
	:: atomic { !waiting && channel > 0 -> get_event() }
	   if
	   :: atomic { b_job -> b_job = 0; printf("| upcall of b, before evd_notified()\n") }
	      free_outside(true)
	   :: true
	   fi;
	   notified()
#elif defined(PRIVATE)
	:: channel > 0 -> handle_channel()
#else
	:: atomic { !waiting && channel > 0 -> get_event() }
	   notified()
#endif
	:: atomic { ready > 0 -> ready-- }
	   serve_job()
	:: atomic { b_job -> b_job = 0; printf("| upcall of b\n") }
	   free_outside(true)
	od
}

proctype device()
{
end:
	do
	:: atomic { to_make > 0 && cq_exists -> to_make--; channel++; printf("| a notification\n") }
	:: true -> break
	od
}

/* A call with the handle of a: it must find a, or fail. */
proctype caller()
{
	byte calls_left = STALE;
	bit found;
end:
	do
	/* dapl_handle_object() reads without the lock; evd_enter() compares the serial number with the lock */
	:: atomic { calls_left > 0 -> calls_left--; found = (generation == 1 && !recycled) };
	   atomic {
		enter();
		if
#ifdef BY_ALIVE
		:: found && alive -> assert(generation == 1)
#else
		:: found && alive && generation == 1 -> queued++; wake_sink(); printf("| evd_post()\n")
#endif
		:: else
		fi;
		found = 0;
		lock = 0
	   }
	:: true -> break
	od
}

proctype user()
{
	bit late, r_;
	if
	:: atomic { to_free > 0 -> to_free-- };
	   free_outside(false)
	:: true
	fi
}

/* Another EVD is created in the slot. */
proctype creator()
{
end:
	atomic { recycled && lock == 0 -> recycled = 0; generation = 2; alive = 1; freed = 0; queued = 0 }
}

/* evd_wait() with a private channel, pinned while it sleeps */
proctype waiter()
{
	bit late, last;
	if
	:: atomic { alive && generation == 1 && lock == 0 -> waiting = 1; wake = 0; queued = 0; pins++ }
end_asleep:
	   do
	   :: atomic { wake -> break }
	   :: channel > 0 ->
		assert(channel_exists); /* the descriptor is not closed under the reader */
		atomic {
			if
			:: channel > 0 -> get_event(); late = 1
			:: else
			fi
		}
		if
		:: late -> late = 0; notified()
		:: else
		fi;
		break
	   od;
	   assert(channel_exists);
	   atomic { enter(); pins--; waiting = 0; printf("| evd_wait() returns\n"); leave(last) }
	:: atomic { !alive || generation != 1 }
	fi
}

init {
	byte i;
	atomic {
#ifdef WAITER
		b_job = 0; to_free_inside = 0;
		run waiter();
#else
		calls = 1;
#endif
		do :: i < D -> run loop_thread(); i++ :: else -> i = 0; break od;
		run device(); run caller(); run user(); run creator(); run rest()
	}
}

/* At the end every freed EVD was destroyed, and no thread or event is left. */
proctype rest()
{
	timeout ->
	assert(lock == 0);
	assert(!freed && (alive || recycled));
	assert(in_progress == 0 && (!waiting || alive))
}
