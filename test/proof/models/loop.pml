/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.pml -- how the threads of a loop sleep, wake, take jobs and read sources
 *
 * A pool: T threads, each takes one job at a time.  P jobs are made ready from outside, and A jobs by the jobs
 * themselves, as an upcall of MANY does before it begins.  B jobs block until another job has begun, as upcalls
 * of MANY may.  No thread may sleep while a job is ready.
 *
 * READS: a loop with one thread and one source, which is readable.  A busy job is ready again after each run
 * until the handler of the source has run.
 *
 * Threads asleep = sleeping + tokens in the doorbell.
 */
#ifndef T
#define T 3
#endif
#ifndef P
#define P 3
#endif
#ifndef A
#define A 2
#endif
#ifndef B
#define B 2
#endif
#ifndef SPAN
#define SPAN 3
#endif
#define SIZES P/A/T/B

byte ready, sleeping, tokens;
byte posts = P, again = A, blocks = B;
byte begun;	/* jobs */
bit readable, handled;

/* loop_wake_locked() */
inline wake()
{
	if
#ifdef EACH_RINGS
	:: sleeping > 0 -> sleeping--; tokens++
#else
	:: sleeping > 0 && tokens == 0 -> sleeping--; tokens++
#endif
	:: else
	fi
}

/* loop_ready() */
inline make_ready()
{
	ready++;
	wake()
}

/* loop_awake_locked() */
inline rise()
{
	if
	:: tokens > 0 -> tokens--
	:: else -> assert(sleeping > 0); sleeping--
	fi
}

/* loop_run_next() of a pool */
inline take()
{
	ready--; begun++;
#ifndef NO_PASS_ON
	if :: ready > 0 -> wake() :: else fi
#endif
}

proctype pool_thread()
{
	bit got;
	byte since;
turn:
	/* The section in which the last job ended. */
	atomic {
		if
		:: ready > 0 -> take(); got = 1
		:: else
#ifndef SLEEPING_LATE
			-> sleeping++
#endif
		fi
	}
	if
	:: !got ->
#ifdef SLEEPING_LATE
		sleeping++;
#endif
end_asleep:
		tokens > 0;	/* level-triggered: several may see one token */
		atomic {
			rise();
			if
			:: ready > 0 -> take(); got = 1; printf("| is woken and takes a job\n")
			:: else -> printf("| is woken for nothing\n"); goto turn
			fi
		}
	:: else -> printf("| takes a job\n")
	fi;
	got = 0;
	if
	:: atomic { again > 0 -> again--; make_ready(); printf("| the job makes one ready\n") }
	:: true
	fi;
	if
	:: atomic { blocks > 0 -> blocks--; since = begun; printf("| the job blocks\n") }
end_blocked:
		atomic { begun != since -> since = 0; printf("| another job has begun\n") }
	:: true
	fi;
	goto turn
}

proctype poster()
{
end:
	do
	:: atomic { posts > 0 -> posts--; make_ready(); printf("| makes a job ready\n") }
	od
}

#ifdef NEVER_WHILE_READY
#define MUST_READ false
#else
#define MUST_READ (spent >= SPAN)
#endif

proctype loop_thread()
{
	bit asleep;
	byte spent;
turn:
	atomic {
		asleep = (ready == 0);
		if :: asleep -> sleeping++ :: else fi
	}
	if
	:: asleep ->
end_asleep:
		tokens > 0 || readable;
		atomic { rise(); asleep = 0 }
		goto reads
	:: !asleep && MUST_READ ->
reads:
		atomic {
			spent = 0;
			if :: readable -> readable = 0; handled = 1; printf("| reads the source\n") :: else fi
		}
	:: else
	fi;
	if
	:: atomic {
		ready > 0 -> ready--;
		if :: spent < SPAN -> spent++ :: else fi;
		printf("| runs the busy job\n");
		if :: !handled -> make_ready() :: else fi
	   }
	:: ready == 0
	fi;
	goto turn
}

init {
	byte i;
	atomic {
#ifdef READS
		readable = 1;
		if :: ready = 1 :: true fi;
		run loop_thread();
#else
		for (i : 1 .. T) { run pool_thread() }
		i = 0;
		run poster();
#endif
		run rest()
	}
}

proctype rest()
{
	timeout ->
	assert(ready == 0 || sleeping + tokens == 0);	/* no thread sleeps while a job is ready */
#ifdef READS
	assert(handled)
#endif
}
