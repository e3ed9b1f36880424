/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.pml -- the order of events of a connection: ESTABLISHED comes before completions, completions come
 * before the one event of the end or of the failure of the attempt, and none comes after ep_free returned
 *
 * One EVD merges completions and connection events of E endpoints, and software events.  An item gets its
 * sequence number when it enters `queue`, so the queue is a FIFO here.  Every lock section is one step.  Each
 * endpoint has a thread of the connection manager, a thread that reports the end of the connection, and perhaps
 * a thread in ep_disconnect() and one in ep_free() or ep_reset().  Two threads, of a loop or of the consumer,
 * take events.
 *
 * The assertions are about the order in which events are claimed under the lock.  A thread calls the
 * function of the consumer in a later step: see ENTRIES_IN_ORDER.
 *
 * Each endpoint has K receives.  The device completes them in order, perhaps one of them with an error
 * (FAILS).  If the queue pair is in the error state it flushes them one by one.  There are M software events.
 * QLEN is the length of the ring.  RESETS, FREES, DISCONNECTS and FAILS have a bit per endpoint to which this
 * may happen.  An endpoint that was reset connects again.
 * SHARED: the receives are of a shared queue.  The device takes them as messages come, and is not known to have taken
 * the last one before it reports that, or the time is over; what it has not taken stays in the queue.
 * RESIZES: how often the depth of the device queue changes to K or SMALL.  There are never more receives
 * outstanding than the queue is deep: dapl_evd_cq_get_room().
 */
#ifndef E
#define E 1
#endif
#ifndef K
#define K 3
#endif
#ifndef M
#define M 2
#endif
#define BATCH 2
#ifndef QLEN
#define QLEN (E * K + 1) /* never full */
#endif
#ifndef RESETS
#define RESETS 0
#endif
#ifndef FREES
#define FREES (RESETS == 0)
#endif
#ifndef DISCONNECTS
#define DISCONNECTS 1
#endif
#ifndef FAILS
#define FAILS 1
#endif
#define AMONG(set, e) (((set) >> (e)) & 1)
#define SIZES K/M/2/E
/* The depth of the device queue.  Completions of a destroyed queue pair may still be in it. */
#if RESETS
#define CAPACITY (2 * E * K)
#else
#define CAPACITY (E * K)
#endif
#ifndef CQE
#define CQE CAPACITY
#endif
#ifndef RESIZES
#define RESIZES 0
#endif
#define SMALL 2
#if RESIZES > 0
byte posted, cqe = SMALL, depth = SMALL; /* depth: the depth that the dispatcher knows */
#define POSTED posted
#define DEPTH depth
#else
#define POSTED K
#define DEPTH CQE
#endif

/*
 * Coding of an item: a receive is its number 1..K, plus FAILED if it failed, plus HELD if it was held.  The
 * number and the generation of the endpoint are added with OF().
 */
#define FAILED 4
#define ESTABLISHED 8
#define REJECTED 9
#define DISCONNECTED 10
#define BROKEN 11
#define HELD 16
#define OF(e, g) ((e) * 64 + (g) * 32)
#define SOFTWARE 192 /* plus its number */
#define WHAT(x) ((x) & 15)
#define ENDPOINT(x) ((x) / 64)
#define GENERATION(x) (((x) / 32) & 1)
#define IS_SOFTWARE(x) ((x) >= SOFTWARE)
#define IS_RECV(x) (!IS_SOFTWARE(x) && WHAT(x) < ESTABLISHED)
#define IS_CM(x) (!IS_SOFTWARE(x) && WHAT(x) >= ESTABLISHED)
#define NUMBER(x) (WHAT(x) & 3)
#define IS_FAILED(x) (WHAT(x) & FAILED)

/* the device */
chan cq = [CAPACITY] of { byte };
byte completed[E];
bit qp_err[E], qp_gone[E], qp_number[E]; /* qp_number: the generation of the queue pair */
#ifdef SHARED
bit last[E]; /* the queue pair takes no further receive of the shared queue */
#define TAKES(e) (!last[e])
#else
#define TAKES(e) true
#endif

/* struct evd */
chan queue = [E * (K + 4) + M] of { byte };
chan closed = [E * 3 + M] of { byte, bit, bit, byte }; /* posted, without a sequence number: item, barrier, hold, mark */
byte ring;		/* receives in the ring; the others in `queue` were held */
byte polled;

/* struct ep: PENDING -> UP -> DOWN, or PENDING -> REFUSED; from both back to PENDING */
#define PENDING 0
#define UP 1
#define DOWN 2
#define REFUSED 3
typedef endpoint {
	byte state, pins, generation;
	byte ending, owed;	/* the event of the end: before and after it becomes owed */
	bit concluding;		/* the state has changed, the event of the outcome was not posted yet */
	bit hold = 1;		/* evd_hold_begin(), before the connection can be established */
	chan held = [K] of { byte };
	byte sorted;		/* completions that were polled; if it is POSTED, dapl_wr_ring_idle() is true */
	bit alive = 1, reborn;	/* reborn: another endpoint is in the slot */
	/* seen: 3 * generation, plus 1 after the outcome, plus 2 after the end */
	byte seen, last_recv;
	byte refused;		/* the generations in which the attempt failed, a bit each */
	bit free_returned
}
endpoint ep[E];

byte last_software;
byte x, n, i, mark, whose; /* within a step only; whose: an endpoint */
bit barrier, holds, done_polling;
byte behind; /* the endpoints that have a closed event, a bit each */

#ifdef HELD_BY_STATE
#define HOLDS (ep[whose].state == PENDING)
#else
#define HOLDS ep[whose].hold
#endif
#define PAST(e, g) (ep[e].generation != (g))

/* evd_queue_release(): held receives get the next sequence numbers */
inline release(e_)
{
	ep[e_].hold = 0;
	do
	:: len(ep[e_].held) > 0 -> ep[e_].held?x; queue!(x + HELD)
	:: else -> break
	od;
	x = 0
}

#ifdef NO_BARRIER
#define MUST_WAIT(empty) false
#else
#define MUST_WAIT(empty) (barrier && !(empty) && polled - mark < DEPTH)
#endif
/* posted_is_behind() */
#ifdef EVD_WIDE
#define IS_BEHIND(x) (behind != 0)
#else
#define IS_BEHIND(x) (!IS_SOFTWARE(x) && AMONG(behind, ENDPOINT(x)))
#endif

/* evd_queue_open(): once through the list */
inline open_closed(empty_)
{
	behind = 0;
	i = len(closed);
	do
	:: i > 0 ->
		i--;
		closed?x, barrier, holds, mark;
		if
		:: MUST_WAIT(empty_) || IS_BEHIND(x) ->
			behind = (behind | (1 << ENDPOINT(x)));
			closed!x, barrier, holds, mark
		:: else ->
			queue!x;
			whose = ENDPOINT(x);
			if :: holds -> release(whose) :: else fi
		fi
	:: else -> break
	od;
	x = 0; barrier = 0; holds = 0; mark = 0; whose = 0; behind = 0
}

/*
 * evd_poll(), and completion_poll(), which finds the endpoint of a completion, holds the completion, queues or
 * drops it
 */
inline poll(enough_)
{
	done_polling = 0;
	do
	:: len(queue) < (enough_) && ring < QLEN && !done_polling ->
		n = (BATCH < QLEN - ring -> BATCH : QLEN - ring); /* evd_queue_begin_batch() */
		i = 0;
		do
		:: i < n && len(cq) > 0 ->
			cq?x; i++; whose = ENDPOINT(x);
			if
			:: PAST(whose, GENERATION(x)) -> skip /* dropped */
			:: !PAST(whose, GENERATION(x)) && HOLDS -> ep[whose].sorted++; ep[whose].held!x
			:: else -> ep[whose].sorted++; ring++; queue!x
			fi
		:: else -> break
		od;
		polled = polled + i;
		done_polling = (i < n);
#ifdef BARRIER_AFTER_A_BATCH
		open_closed(true)
#else
		open_closed(done_polling)
#endif
	:: else -> break
	od;
	n = 0; i = 0; x = 0; whose = 0; done_polling = 0
}

/* evd_post_ordered(), one section */
inline post(item_, barrier_, holds_)
{
#ifdef RELEASE_FIRST
	if :: holds_ -> release(ENDPOINT(item_)) :: else fi;
#endif
	closed!item_, barrier_, holds_, polled;
	open_closed(false);
#ifdef RELEASE_AT_POST
	if :: holds_ -> release(ENDPOINT(item_)) :: else fi;
#endif
}

/*
 * evd_take_direct(): the oldest completion of the ring, if nothing else is queued.  The code takes only
 * completions without an effect so; here any may be taken.
 */
#ifndef DIRECT_PAST_OTHERS
#define DIRECT (ring > 0 && len(queue) == ring)
#else
#define DIRECT (ring > 0)
#endif
inline take_direct()
{
	i = len(queue);
	do
	:: i > 0 ->
		i--; queue?n;
		if
		:: x == 0 && IS_RECV(n) && !(n & HELD) -> x = n
		:: else -> queue!n
		fi
	:: else -> break
	od;
	n = 0
}

/* What must be true when x is delivered to the consumer. */
inline handed()
{
	whose = ENDPOINT(x);
	if
	:: IS_RECV(x) ->
		printf("| gets receive %d of %d\n", NUMBER(x), whose);
		if :: x & HELD :: else -> ring-- fi;
#ifdef CONVERT_BY_GENERATION
		assert(!PAST(whose, GENERATION(x))); /* else the completion is converted although its endpoint is gone */
#endif
		assert(!ep[whose].free_returned);
		if
		:: AMONG(ep[whose].refused, GENERATION(x)) -> /* before the failure */
			assert(ep[whose].seen < 3 * GENERATION(x) + 1)
		:: else -> assert(ep[whose].seen == 3 * GENERATION(x) + 1)
		fi;
		assert(NUMBER(x) > ep[whose].last_recv);
		ep[whose].last_recv = NUMBER(x);
		if :: IS_FAILED(x) && !PAST(whose, GENERATION(x)) -> broke = whose + 1 :: else fi
	:: !IS_SOFTWARE(x) && (WHAT(x) == ESTABLISHED || WHAT(x) == REJECTED) ->
		printf("| gets the outcome of %d\n", whose);
		assert(ep[whose].seen <= 3 * GENERATION(x) && !ep[whose].free_returned);
		assert(GENERATION(x) == 0 || ep[whose].seen > 0);
		assert(ep[whose].state != PENDING || !ep[whose].alive || PAST(whose, GENERATION(x)));
		ep[whose].seen = 3 * GENERATION(x) + 1
	:: !IS_SOFTWARE(x) && (WHAT(x) == DISCONNECTED || WHAT(x) == BROKEN) ->
		printf("| gets the end of the connection of %d\n", whose);
		assert(ep[whose].seen == 3 * GENERATION(x) + 1 && !ep[whose].free_returned);
		ep[whose].seen++
	:: IS_SOFTWARE(x) ->
		printf("| gets a software event\n");
		assert(x == SOFTWARE + last_software + 1);
		last_software++
	fi;
	x = 0; whose = 0
}

/* The following processes exist once per endpoint e. */
#define IS_CONNECTED(e) (ep[e].alive && !ep[e].reborn && ep[e].state == UP)

proctype device(byte e)
{
end:
	do
	:: atomic {
		completed[e] < POSTED && !qp_gone[e] && TAKES(e) ->
		completed[e]++; cq!(OF(e, qp_number[e]) + completed[e])
	   }
#ifdef SHARED
	:: atomic { qp_err[e] && !last[e] -> last[e] = 1; printf("| %d takes no further receive\n", e) }
#endif
	:: atomic {
		AMONG(FAILS, e) && completed[e] < POSTED && !qp_err[e] && !qp_gone[e] && ep[e].state == UP ->
		completed[e]++; qp_err[e] = 1;
		cq!(OF(e, qp_number[e]) + completed[e] + FAILED);
		printf("| a receive of %d fails\n", e)
	   }
	od
}

/* dapl_ep_settle() of an established connection */
inline end_connection(e_, how_)
{
	ep[e_].state = DOWN;
	ep[e_].ending = OF(e_, ep[e_].generation) + how_;
	ep[e_].pins++
}

/* Whether all completions were polled; of receives of a shared queue: whether none comes any more. */
#ifndef SHARED
#define IDLE(e) (ep[e].sorted == POSTED)
#elif defined(NOT_LAST)
#define IDLE(e) true
#else
#define IDLE(e) last[e]
#endif
#ifdef SHARED
#define BEHIND true
#else
#define BEHIND false
#endif
#ifdef END_OVERTAKES
#define MAY_REPORT(e) true
#else
#define MAY_REPORT(e) (!ep[e].concluding)
#endif
/*
 * The wait for completions ends only after the device has flushed all outstanding receives.  From then on
 * the completions wait for room in the ring, or for a poll.
 */
#if defined(NO_ERROR_STATE) || defined(NOT_OWED)
#define OVERDUE(e) true
#elif defined(SHARED)
#define OVERDUE(e) last[e]
#else
#define OVERDUE(e) (completed[e] == POSTED)
#endif
#define CAN_POLL (len(cq) > 0 && ring < QLEN)

/* Puts the queue pair into the error state, and posts the owed event when all completions were polled. */
proctype payer(byte e)
{
	byte item;
end:
	do
	:: ep[e].ending ->
#ifndef NO_ERROR_STATE
		atomic { qp_err[e] = 1 }
#endif
		atomic { ep[e].owed = ep[e].ending; ep[e].ending = 0; ep[e].pins-- }
	/* the following steps are also done by the timer, which pins the endpoint */
	:: atomic {
		ep[e].alive && ep[e].owed && CAN_POLL && !IDLE(e) -> poll(255) /* dapl_ep_refresh() */
	   }
	:: atomic {
		ep[e].alive && ep[e].owed && IDLE(e) && MAY_REPORT(e) ->
		item = ep[e].owed; ep[e].owed = 0; ep[e].pins++
	   }
	   atomic { post(item, BEHIND, false); item = 0; ep[e].pins--; printf("| posts the end of %d\n", e) }
	:: atomic {
		ep[e].alive && ep[e].owed && OVERDUE(e) && !IDLE(e) && MAY_REPORT(e) ->
		item = ep[e].owed; ep[e].owed = 0; ep[e].pins++
	   }
	   atomic { post(item, true, false); item = 0; ep[e].pins--; printf("| posts the end of %d, as a barrier\n", e) }
	od
}

/* ep_end() of an attempt to connect.  The payer posts the event, which is owed. */
inline refuse(e_)
{
	atomic { qp_err[e_] = 1 }
#ifdef FAILURE_AT_ONCE
	atomic {
		post(OF(e_, ep[e_].generation) + REJECTED, false, true);
		ep[e_].concluding = 0; ep[e_].pins--
	}
#else
#ifndef FAILURE_KEEPS_HOLD
	atomic { release(e_) } /* evd_hold_end() */
#endif
	atomic {
		ep[e_].owed = OF(e_, ep[e_].generation) + REJECTED;
		ep[e_].concluding = 0; ep[e_].pins--;
		printf("| owes REJECTED of %d\n", e_)
	}
#endif
}

/* The events of the connection manager, in the order in which it may send them */
proctype cm(byte e)
{
end:
	do
	:: atomic {
		ep[e].alive && !ep[e].reborn && ep[e].state == PENDING ->
#ifdef STATE_AFTERWARDS
		ep[e].pins++
	   }
	   atomic { post(OF(e, ep[e].generation) + ESTABLISHED, false, true); printf("| posts ESTABLISHED of %d\n", e) }
	   atomic { ep[e].state = UP; ep[e].pins-- }
#else
		ep[e].state = UP; ep[e].concluding = 1; ep[e].pins++; printf("| endpoint %d is connected\n", e)
	   }
	   atomic {
		post(OF(e, ep[e].generation) + ESTABLISHED, false, true);
		ep[e].concluding = 0; ep[e].pins--;
		printf("| posts ESTABLISHED of %d\n", e)
	   }
#endif
	:: atomic { IS_CONNECTED(e) -> end_connection(e, DISCONNECTED); printf("| the peer of %d disconnects\n", e) }
	:: atomic {
		ep[e].alive && !ep[e].reborn && ep[e].state == PENDING ->
		ep[e].state = REFUSED; ep[e].concluding = 1; ep[e].pins++;
		ep[e].refused = (ep[e].refused | (1 << ep[e].generation));
		printf("| the peer rejects %d\n", e)
	   }
	   refuse(e)
	:: true -> break
	od
}

/* ep_disconnect() */
proctype disconnecter(byte e)
{
end:
	if
	:: atomic { IS_CONNECTED(e) -> end_connection(e, DISCONNECTED); printf("| ep_disconnect(%d)\n", e) }
	:: true
	fi
}

#if RESIZES > 0
/* The consumer posts as many receives as dapl_evd_cq_get_room() reserved room for. */
proctype receives()
{
end:
	do
	:: atomic { posted < K && posted - polled < cqe && !qp_err[0] && !qp_gone[0] -> posted++ }
	od
}

/* set_depth(), dapl/evd/cq.c: the dispatcher gets the new depth before the device queue grows, and after it
* shrank */
proctype resizer()
{
	byte resizes = RESIZES;
end:
	do
#ifdef DEPTH_LATE
	:: atomic { resizes > 0 && cqe < K -> resizes--; cqe = K; printf("| the device queue is deeper\n") }
	   atomic { depth = K; printf("| %d, announced\n", K) }
#else
	:: atomic { resizes > 0 && cqe < K -> resizes--; depth = K; printf("| %d, announced\n", K) }
	   atomic { cqe = K; printf("| the device queue is deeper\n") }
#endif
	:: atomic { resizes > 0 && cqe > SMALL && len(cq) <= SMALL && posted - polled <= SMALL ->
		resizes--; cqe = SMALL; printf("| the device queue is shallower\n") }
	   atomic {
		depth = SMALL;
#ifndef MARKS_KEPT
		i = len(closed); /* evd_posted_mark() */
		do
		:: i > 0 -> i--; closed?x, barrier, holds, mark; mark = polled; closed!x, barrier, holds, mark
		:: else -> break
		od;
		x = 0; barrier = 0; holds = 0; mark = 0;
#endif
		printf("| %d, announced\n", SMALL)
	   }
	od
}
#endif

#ifdef ENTRIES_IN_ORDER
byte claims, entered;
#endif

proctype consumer()
{
	byte broke; /* an endpoint plus 1, or 0 */
	bit stamp;  /* the generation of that endpoint */
#ifdef ENTRIES_IN_ORDER
	byte ticket;
#endif
end:
	do
	:: atomic {
		len(queue) > 0 || CAN_POLL || len(closed) > 0 ->
		if
		:: DIRECT -> take_direct()
		:: true -> poll(1); if :: len(queue) > 0 -> queue?x :: else fi
		fi;
		if
		:: x ->
			stamp = GENERATION(x); handed();
#ifdef ENTRIES_IN_ORDER
			claims++; ticket = claims
#endif
		:: else
		fi;
		if :: !broke -> stamp = 0 :: else fi
	   }
#ifdef ENTRIES_IN_ORDER
	   atomic { assert(ticket == 0 || ticket == entered + 1); if :: ticket -> entered++ :: else fi; ticket = 0 }
#endif
	   if
	   :: broke ->
		/* the effect: dapl_ep_broken(), with the generation of the completion */
		atomic {
			broke--;
			if
#ifdef NO_REVALIDATION
			:: ep[broke].alive && ep[broke].state == UP ->
				assert(!PAST(broke, stamp) && !ep[broke].reborn); /* the wrong endpoint */
#else
			:: ep[broke].alive && ep[broke].state == UP && !PAST(broke, stamp) ->
#endif
				end_connection(broke, BROKEN); printf("| the connection of %d broke\n", broke)
			:: else
			fi;
			broke = 0; stamp = 0
		}
	   :: else
	   fi
	od
}

proctype poster()
{
	byte posts;
end:
	do
	:: atomic {
		posts < M -> posts++; mark = len(closed);
		n = mark; mark = 0;
		post(SOFTWARE + posts, false, false);
#ifndef DELAYS
		assert(len(closed) <= n); /* no endpoint delays it */
#endif
		n = 0
	   }
	od
}

/* dapl_ep_purge_completions() */
inline purge_completions(e_)
{
	i = len(queue);
	do
	:: i > 0 ->
		i--; queue?x;
		if
		:: IS_RECV(x) && ENDPOINT(x) == e_ -> if :: x & HELD :: else -> ring-- fi
		:: else -> queue!x
		fi
	:: else -> break
	od;
	do
	:: len(ep[e_].held) > 0 -> ep[e_].held?x
	:: else -> break
	od;
	i = len(closed); /* evd_posted_forget() */
	do
	:: i > 0 ->
		i--; closed?x, barrier, holds, mark;
		if :: !IS_SOFTWARE(x) && ENDPOINT(x) == e_ -> holds = 0 :: else fi;
		closed!x, barrier, holds, mark
	:: else -> break
	od;
	x = 0; barrier = 0; holds = 0; mark = 0; ep[e_].hold = 0
}

/* purge_events() */
inline purge_events(e_)
{
	i = len(queue);
	do
	:: i > 0 -> i--; queue?x; if :: IS_CM(x) && ENDPOINT(x) == e_ -> skip :: else -> queue!x fi
	:: else -> break
	od;
	i = len(closed);
	do
	:: i > 0 ->
		i--; closed?x, barrier, holds, mark;
		if :: IS_CM(x) && ENDPOINT(x) == e_ -> skip :: else -> closed!x, barrier, holds, mark fi
	:: else -> break
	od;
	x = 0; barrier = 0; holds = 0; mark = 0;
	open_closed(false)
}

/* ep_free_locked() */
proctype freer(byte e)
{
	if
	:: atomic { ep[e].alive = 0; printf("| ep_free(%d)\n", e) }
#ifdef NO_EP_PINS
	   atomic { ep[e].owed = 0; ep[e].generation = 1 } /* detach() */
#else
	   atomic { ep[e].pins == 0 -> ep[e].owed = 0; ep[e].generation = 1 }
#endif
	   atomic { qp_gone[e] = 1 };
#ifndef NO_PURGE
	   atomic { purge_completions(e) }
	   atomic { purge_events(e) }
#endif
	   atomic { ep[e].free_returned = 1; printf("| ep_free(%d) returns\n", e) }
	   if
	   :: atomic { ep[e].reborn = 1; ep[e].alive = 1; ep[e].state = UP }
	   :: true
	   fi
	:: true
	fi
}

#if RESETS
/* dapl_ep_reset(), once, and the next attempt to connect */
proctype resetter(byte e)
{
	byte item;
	if
	:: atomic {
		ep[e].pins == 0 && (ep[e].state == DOWN || ep[e].state == REFUSED) ->
		ep[e].generation = 1; ep[e].pins++; printf("| ep_reset(%d)\n", e);
#ifndef OWED_LATER
		item = ep[e].owed; ep[e].owed = 0
#endif
	   }
#ifdef OWED_LATER
	   atomic { item = ep[e].owed; ep[e].owed = 0 }
#endif
	   atomic { if :: item -> post(item, false, false) :: else fi; item = 0 }
	   atomic { qp_gone[e] = 1 }
	   atomic { purge_completions(e); ep[e].last_recv = 0 }
	   atomic {
		ep[e].sorted = 0; completed[e] = 0; qp_number[e] = 1; qp_err[e] = 0; ep[e].pins--;
#ifdef SHARED
		last[e] = 0
#endif
	   }
	   atomic { ep[e].hold = 1; qp_gone[e] = 0; ep[e].state = PENDING; printf("| %d connects again\n", e) }
	:: true
	fi
}
#endif

init {
	atomic {
		do
		:: i < E ->
			run device(i); run cm(i); run payer(i);
			if :: AMONG(DISCONNECTS, i) -> run disconnecter(i) :: else fi;
			if :: AMONG(FREES, i) -> run freer(i) :: else fi;
#if RESETS
			if :: AMONG(RESETS, i) -> run resetter(i) :: else fi;
#endif
			i++
		:: else -> i = 0; break
		od;
		run consumer(); run consumer(); run poster(); run rest();
#if RESIZES > 0
		run receives(); run resizer()
#endif
	}
}

proctype rest()
{
	timeout ->
	atomic {
		assert(len(queue) == 0 && len(closed) == 0 && len(cq) == 0 && ring == 0);
		assert(last_software == M);
		do
		:: i < E ->
			assert(ep[i].pins == 0 && ep[i].owed == 0);
			/* any outcome releases the held receives, and is reported */
			assert(ep[i].state == PENDING || len(ep[i].held) == 0);
			if
			:: ep[i].free_returned
			:: else ->
				assert(ep[i].state == PENDING || ep[i].last_recv == completed[i]);
				assert(ep[i].state == PENDING || ep[i].seen == 3 * ep[i].generation + (ep[i].state == DOWN -> 2 : 1))
			fi;
			i++
		:: else -> i = 0; break
		od
	}
}
