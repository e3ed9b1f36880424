/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.pml -- what a connection's consumer may rely on: ESTABLISHED (or whatever the outcome is) before
 * completions, completions before the one event of the end, nothing after ep_free returned
 *
 * One EVD merges completions, connection events and software events of one endpoint.  Numbers are given
 * when an item enters `queue`, so the queue is a FIFO here.  Every lock section is one step.  The
 * connection manager's thread, two threads that take events (a loop's or the consumer's own), two
 * calls: ep_disconnect() and ep_free().
 *
 * K receives; the device completes them in order, one of them perhaps with an error.  M posts.
 * RESIZES: how often the device queue becomes K or SMALL deep.  No more receives are outstanding than it
 * is deep: evd_cq_promise().
 * TRAILS: a queue pair that was put into the error state flushes one by one, later; the end of the
 * connection is then owed until all are polled.  Without it the flush is there at once and a barrier
 * does.
 */
#ifndef K
#define K 3
#endif
#ifndef M
#define M 2
#endif
#define BATCH 2
#define SIZES K/M/2/2
#ifndef CQE
#define CQE K
#endif
#ifndef RESIZES
#define RESIZES 0
#endif
#define SMALL 2
#if RESIZES > 0
byte posted, cqe = SMALL, depth = SMALL; /* depth: what the dispatcher knows of cqe */
#define POSTED posted
#define DEPTH depth
#else
#define POSTED K
#define DEPTH CQE
#endif

/* what an item is; receives are 1..K, FAILED is added to one that failed */
#define FAILED 32
#define ESTABLISHED 64
#define REJECTED 65
#define DISCONNECTED 66
#define BROKEN 67
#define SOFTWARE 128 /* and its number */
#define IS_RECV(x) ((x) < ESTABLISHED)
#define IS_CM(x) ((x) >= ESTABLISHED && (x) < SOFTWARE)

/* the device */
chan cq = [K] of { byte };
byte completed;
bit qp_err, qp_gone;

/* struct evd */
chan queue = [K + M + 4] of { byte };
chan closed = [M + 4] of { byte, bit, byte }; /* posted, without a number: item, barrier, mark */
chan held = [K] of { byte };
bit hold = 1;		/* evd_hold_begin(), before the connection can come about */
byte polled;

/* struct ep: PENDING -> UP -> DOWN, or PENDING -> DOWN */
#define PENDING 0
#define UP 1
#define DOWN 2
byte ep_state = PENDING, pins;
bit concluding;			/* the state tells the outcome, its event does not yet */
bit ep_alive = 1, ep_past;	/* ep_past: the generation moved on */
byte sorted;			/* completions that were polled: wr_ring_idle() when it is POSTED */
bit reborn;			/* another endpoint lives in the slot */

/* what the consumer saw */
bit outcome_seen, end_seen, free_returned;
byte last_recv, last_software;
byte x, n, i, mark; /* within a step only */
bit barrier, done_polling;

#ifdef HELD_BY_STATE
#define HOLDS (ep_state == PENDING)
#else
#define HOLDS hold
#endif

/* open_posted() */
inline open_closed(empty_)
{
	do
	:: len(closed) > 0 ->
		closed?<x, barrier, mark>;
		if
#ifndef NO_BARRIER
		:: barrier && !(empty_) && polled - mark < DEPTH -> break
#endif
		:: else -> closed?x, barrier, mark; queue!x
		fi
	:: else -> break
	od;
	x = 0; barrier = 0; mark = 0
}

/* evd_poll(), admit() and sort() */
inline poll(enough_)
{
	done_polling = 0;
	do
	:: len(queue) < (enough_) && !done_polling ->
		n = 0;
		do
		:: n < BATCH && len(cq) > 0 ->
			cq?x; n++;
			if
			:: ep_past -> skip /* EVD_DROP */
			:: !ep_past && HOLDS -> sorted++; held!x
			:: else -> sorted++; queue!x
			fi
		:: else -> break
		od;
		polled = polled + n;
		done_polling = (n < BATCH);
#ifdef BARRIER_AFTER_A_BATCH
		open_closed(true)
#else
		open_closed(done_polling)
#endif
	:: else -> break
	od;
	n = 0; x = 0; done_polling = 0
}

inline post(item_, barrier_)
{
	closed!item_, barrier_, polled;
	open_closed(false)
}

/* evd_queue_release() */
inline release()
{
	hold = 0;
	do
	:: len(held) > 0 -> held?x; queue!x
	:: else -> break
	od;
	x = 0
}

/* evd_post_release(): one section */
inline post_release(item_)
{
#ifdef RELEASE_FIRST
	release(); post(item_, false)
#else
	post(item_, false); release()
#endif
}

/* What the consumer may rely on when it is handed x. */
inline handed()
{
	if
	:: IS_RECV(x) ->
		printf("| gets receive %d\n", x % FAILED);
#ifdef CONVERT_BY_GENERATION
		assert(!ep_past); /* a conversion that finds no endpoint makes an event of nothing */
#endif
		assert(outcome_seen && !end_seen && !free_returned);
		assert(x % FAILED > last_recv);
		last_recv = x % FAILED;
		if :: x > FAILED && !ep_past -> broke = 1 :: else fi
	:: x == ESTABLISHED || x == REJECTED ->
		printf("| gets the outcome\n");
		assert(!outcome_seen && !free_returned);
		assert(ep_state != PENDING || !ep_alive);
		outcome_seen = 1
	:: x == DISCONNECTED || x == BROKEN ->
		printf("| gets the end of the connection\n");
		assert(outcome_seen && !end_seen && !free_returned);
		end_seen = 1
	:: x >= SOFTWARE ->
		assert(x == SOFTWARE + last_software + 1);
		last_software++
	fi;
	x = 0
}

/* end(), pay(): the queue pair to the error state, then the event once its completions were polled */
inline end_connection(item_)
{
#ifndef NO_ERROR_STATE
	qp_err = 1;
#endif
#ifndef END_OVERTAKES
	atomic { !concluding };
#endif
#if defined(TRAILS) && !defined(NOT_OWED)
	do
	:: atomic {
		len(cq) > 0 || sorted == POSTED; /* the timer looks again, until there is something to see */
		poll(K + M + 4);
		if :: sorted == POSTED -> break :: else fi
	   }
	od;
	atomic { post(item_, false); printf("| posts the end\n"); pins-- }
#else
	atomic { post(item_, true); printf("| posts the end, as a barrier\n"); pins-- }
#endif
}

proctype device()
{
end:
	do
	:: atomic { completed < POSTED && !qp_err && !qp_gone -> completed++; cq!completed }
	:: atomic { completed < POSTED && !qp_err && !qp_gone && ep_state == UP ->
		completed++; qp_err = 1; cq!completed + FAILED; printf("| a receive fails\n") }
#ifdef TRAILS
	:: atomic { completed < POSTED && qp_err && !qp_gone -> completed++; cq!completed }
#endif
	od
}

#ifdef TRAILS
#define FLUSH true
#else
/* The flush of a queue pair that goes to the error state is there before anything else happens. */
#define FLUSH (!qp_err || completed == POSTED || qp_gone)
proctype flusher()
{
end:
	do
	:: atomic { qp_err && completed < POSTED && !qp_gone -> completed++; cq!completed }
	od
}
#endif

/* The connection manager's events, in the order in which it may send them */
proctype cm()
{
	if
	:: atomic { ep_alive && !reborn ->
#ifdef STATE_AFTERWARDS
		pins++ }
	   atomic { post_release(ESTABLISHED); printf("| posts ESTABLISHED\n") }
	   atomic { ep_state = UP; pins-- }
#else
		ep_state = UP; concluding = 1; pins++; printf("| the endpoint is connected\n") }
	   atomic { post_release(ESTABLISHED); concluding = 0; printf("| posts ESTABLISHED\n"); pins-- }
#endif
	   if
	   :: atomic { FLUSH && ep_alive && !reborn && ep_state == UP -> ep_state = DOWN; pins++; printf("| the peer disconnects\n") }
	      end_connection(DISCONNECTED)
	   :: true
	   fi
	:: atomic { ep_alive && !reborn -> ep_state = DOWN; pins++; printf("| the peer rejects\n") }
	   atomic { qp_err = 1 }
#ifdef FAILURE_KEEPS_HOLD
	   atomic { post(REJECTED, false); pins-- }
#else
	   atomic { FLUSH -> post_release(REJECTED); printf("| posts REJECTED\n"); pins-- }
#endif
	:: true
	fi
}

/* ep_disconnect() */
proctype disconnecter()
{
end:
	if
	:: atomic { FLUSH && ep_alive && !reborn && ep_state == UP -> ep_state = DOWN; pins++; printf("| ep_disconnect()\n") }
	   end_connection(DISCONNECTED)
	:: true
	fi
}

#if RESIZES > 0
/* The consumer posts what evd_cq_promise() made room for. */
proctype receives()
{
end:
	do
	:: atomic { posted < K && posted - polled < cqe && !qp_err && !qp_gone -> posted++ }
	od
}

/* set_depth(), dapl/evd_cq.c: announced before the device queue grows, and after it shrank */
proctype resizer()
{
	byte resizes = RESIZES;
end:
	do
#ifdef DEPTH_LATE
	:: atomic { resizes > 0 && cqe < K && FLUSH -> resizes--; cqe = K; printf("| the device queue is deeper\n") }
	   atomic { depth = K; printf("| %d, announced\n", K) }
#else
	:: atomic { resizes > 0 && cqe < K && FLUSH -> resizes--; depth = K; printf("| %d, announced\n", K) }
	   atomic { cqe = K; printf("| the device queue is deeper\n") }
#endif
	:: atomic { resizes > 0 && cqe > SMALL && len(cq) <= SMALL && posted - polled <= SMALL && FLUSH ->
		resizes--; cqe = SMALL; printf("| the device queue is shallower\n") }
	   atomic {
		depth = SMALL;
#ifndef MARKS_KEPT
		i = len(closed);
		do
		:: i > 0 -> i--; closed?x, barrier, mark; mark = polled; closed!x, barrier, mark
		:: else -> break
		od;
		x = 0; barrier = 0; mark = 0;
#endif
		printf("| %d, announced\n", SMALL)
	   }
	od
}
#endif

proctype consumer()
{
	bit broke;
end:
	do
	:: atomic {
		FLUSH && (len(queue) > 0 || len(cq) > 0 || len(closed) > 0) ->
		poll(1);
		if
		:: len(queue) > 0 -> queue?x; handed()
		:: else
		fi
	   }
	   if
	   :: broke ->
		/* the effect: ep_broken(), with the generation that the completion was of */
		if
		:: atomic { FLUSH ->
			broke = 0;
#ifdef NO_REVALIDATION
			if
			:: ep_alive && ep_state == UP ->
				assert(!ep_past && !reborn); /* the wrong endpoint */
#else
			if
			:: ep_alive && ep_state == UP && !ep_past ->
#endif
				ep_state = DOWN; pins++; printf("| the connection broke\n")
			:: else -> goto next
			fi }
		   end_connection(BROKEN)
		fi
	   :: else
	   fi;
next:
	   skip
	od
}

proctype poster()
{
	byte posts;
end:
	do
	:: atomic { posts < M -> posts++; post(SOFTWARE + posts, false) }
	od
}

/* ep_destroy() */
proctype freer()
{
	if
	:: atomic { ep_alive = 0; printf("| ep_free()\n") }
#ifndef NO_EP_PINS
	   pins == 0;
#endif
	   atomic { ep_past = 1 };
	   atomic { qp_gone = 1 };
#ifndef NO_PURGE
	   atomic { /* purge_completions() */
		i = len(queue);
		do
		:: i > 0 -> i--; queue?x; if :: IS_RECV(x) -> skip :: else -> queue!x fi
		:: else -> break
		od;
		do
		:: len(held) > 0 -> held?x
		:: else -> break
		od;
		x = 0; hold = 0
	   }
	   atomic { /* purge_events() */
		i = len(queue);
		do
		:: i > 0 -> i--; queue?x; if :: IS_CM(x) -> skip :: else -> queue!x fi
		:: else -> break
		od;
		i = len(closed);
		do
		:: i > 0 -> i--; closed?x, barrier, mark; if :: IS_CM(x) -> skip :: else -> closed!x, barrier, mark fi
		:: else -> break
		od;
		x = 0; barrier = 0; mark = 0;
		open_closed(false)
	   }
#endif
	   atomic { free_returned = 1; printf("| ep_free() returns\n") }
	   if
	   :: atomic { reborn = 1; ep_alive = 1; ep_state = UP }
	   :: true
	   fi
	:: true
	fi
}

init {
	atomic {
		run device(); run cm(); run consumer(); run consumer(); run disconnecter(); run poster(); run freer(); run rest();
#if RESIZES > 0
		run receives(); run resizer();
#endif
#ifndef TRAILS
		run flusher()
#endif
	}
}

proctype rest()
{
	timeout ->
	assert(len(queue) == 0 && len(closed) == 0 && len(cq) == 0 && pins == 0);
	/* any outcome lets go of what was held */
	assert(ep_state == PENDING || len(held) == 0);
	assert(!outcome_seen || free_returned || last_recv == completed);
	assert(last_software == M)
}
