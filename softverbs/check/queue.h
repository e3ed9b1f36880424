/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue -- what the checker knows of a completion queue
 *
 * A record stays when its queue is destroyed, with the memory of the CQ: a later call with it must
 * find the record.  The lock of a record comes before those of the CQ and its channel.  No thread
 * holds two of them.
 */
#ifndef SOFT_CHECK_QUEUE_H
#define SOFT_CHECK_QUEUE_H

#include "adversary.h"
#include "site.h"
#include "softverbs/fault/record.h"

extern struct soft_check_locks {
	struct soft_lock_class queue;  /* of a record */
	struct soft_lock_class report; /* of what is printed; last, but for nothing */
} soft_check_locks;

#define SOFT_NO_CHECK_LOCK EXCLUDES(soft_check_locks.queue, soft_check_locks.report) SOFT_NO_CQ_LOCK

struct soft_check_queue {
	/*
	 * In the list of those that are not destroyed.  A thread goes through it without a lock: a
	 * record that was removed leads on to one that was behind it.
	 */
	_Atomic(struct soft_check_queue *) next;
	struct soft_check_queue *before;	   /* under the lock of the list */
	struct soft_check_queue *destroyed_before; /* in the list of those that are; likewise */
	unsigned int number;			   /* in the order of creation, from 1 */
	unsigned int generation;		   /* see soft_runtime_generation() */
	struct soft_cq *cq;			   /* constant */
	void *context;				   /* the program's, of the CQ */
	atomic_bool destroyed;

	/* Calls with the queue, to see that none was made for some time. */
	atomic_uint activity;
	atomic_uint events_read, events_acknowledged;
	atomic_uint reported; /* a bit for each kind of report */
	atomic_uint inside;   /* threads in a call that polls or arms */
	_Atomic pid_t poller; /* the thread that has begun an extended poll; 0: none */
	atomic_uint empties;  /* polls that found nothing */
	pid_t creator;	      /* the thread */
	atomic_uint polls;
	atomic_uint refused; /* a queue pair that has had no room since the last poll; 0: none */
	_Atomic uint64_t refused_at; /* when it was first refused a request */

	pthread_mutex_t lock;
	bool was_armed GUARDED_BY(soft_check_locks.queue);
	bool arm_failed GUARDED_BY(soft_check_locks.queue); /* the last time */
	int found GUARDED_BY(soft_check_locks.queue);	    /* by the last poll */
	int wanted GUARDED_BY(soft_check_locks.queue);	    /* in the last poll, at most */
	struct soft_site polled GUARDED_BY(soft_check_locks.queue);
	struct soft_site armed GUARDED_BY(soft_check_locks.queue);
	struct soft_site event GUARDED_BY(soft_check_locks.queue);
	struct soft_site destroying GUARDED_BY(soft_check_locks.queue);

	/* Of the sentry alone; see sentry.c. */
	struct soft_check_view *view;

	struct soft_adversary adversary; /* guarded by the lock of the CQ */
};

static inline struct soft_check_queue *
soft_check_queue_of(struct soft_cq *cq)
{
	return cq->judged;
}

static inline void
soft_check_queue_lock(struct soft_check_queue *queue) ACQUIRE(soft_check_locks.queue)
    EXCLUDES(soft_check_locks.report) SOFT_NO_CQ_LOCK UNCHECKED
{
	pthread_mutex_lock(&queue->lock);
}

static inline void
soft_check_queue_unlock(struct soft_check_queue *queue) RELEASE(soft_check_locks.queue) UNCHECKED
{
	pthread_mutex_unlock(&queue->lock);
}

/* What the queue looks like now. */
struct soft_check_state {
	uint32_t visible; /* completions to poll */
	uint32_t held;	  /* by the device */
	uint32_t due;	  /* events that the device holds back */
	uint32_t unread;  /* events that can be read */
	enum soft_armed armed;
	bool solicited; /* one to poll raises an event also for a solicited request */
	bool flushed;	/* all to poll were flushed */
	bool received;	/* one to poll is a message */
	bool overrun;
	unsigned int made;  /* by incidents: cq/made.h */
	unsigned int moves; /* of the adversary, that may have led here: a bit for each */
	uint32_t
	    /* a queue pair that died of receiver-not-ready, with its completion to poll; 0: none */
	    not_ready;
};

/* True if the last poll came after the last arm, and found as many as it asked for. */
static inline bool
soft_check_queue_is_bounded(const struct soft_check_queue *queue) REQUIRES(soft_check_locks.queue)
{
	return queue->polled.when > queue->armed.when && queue->found == queue->wanted;
}

/*
 * Whether its connection has died since the peer posted no receive.  After a fault of the run the
 * peer may have had a reason, or the device claims it though there is one.
 */
static inline bool
soft_check_is_not_ready(const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_RNR_RETRY_EXC_ERR && !soft_record_fired(soft_record);
}

/* Creates the record of the CQ: 0 or -errno. */
int soft_check_queue_create(struct soft_cq *cq);

/* The queue is destroyed: it leaves the list. */
void soft_check_queue_remove(struct soft_check_queue *queue);

/* The records of this process whose queue is not destroyed, the newest first. */
struct soft_check_queue *soft_check_queues(void);

/* In a forked child: there are none. */
void soft_check_queues_reset(void);

/* The state of a queue that is not destroyed. */
struct soft_check_state soft_check_queue_look(struct soft_check_queue *queue)
    REQUIRES(soft_check_locks.queue) SOFT_NO_CQ_LOCK;

/* Calls of all queues that do something; polls that find nothing do not count. */
extern atomic_uint soft_check_progress;

static inline void
soft_check_acted(struct soft_check_queue *queue)
{
	atomic_fetch_add_explicit(&queue->activity, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&soft_check_progress, 1, memory_order_relaxed);
}

#endif
