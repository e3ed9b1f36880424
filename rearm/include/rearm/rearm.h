/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rearm.h -- persistent events for programs on plain verbs
 *
 * A completion queue raises one notification for each request, and only for completions that come
 * after the request.  A *queue* of this library turns that into something that lasts: callbacks
 * that go on until they are disabled, and waits that return when completions are there.  No
 * completion is lost, taken twice, or taken out of order, whatever the order in which the device
 * and threads act.
 *
 *	`loop`	the loop
 *	`queue`	the queue
 *
 * Any thread may call any function here at any time, inside callbacks too, unless its comment says
 * otherwise.  A loop or a queue that was freed must not be used any more.  Functions return 0 or a
 * count, or a negative errno; then nothing has changed.  Nothing is printed.
 *
 * The library owns the notifications of its completion queues: the program calls none of
 * ibv_poll_cq(), ibv_req_notify_cq(), ibv_get_cq_event() and ibv_ack_cq_events() for them.  A queue
 * may also have the asynchronous events of a device, or the events of a connection manager.
 *
 * A completion channel is *lost* if it can never be read again: ibv_get_cq_event() has failed with
 * EIO, ENODEV or EBADF, as after the device was removed.  No notification comes to its queues then,
 * until they are freed.  What is in a completion queue can still be taken.  When there is no more
 * rearm_queue_take() and rearm_queue_wait() return -EIO, and rearm_queue_enable() always does.  For
 * each queue with callbacks `failed` is called once with -EIO (struct rearm_queue_attr), and the
 * library looks for completions now and then, at least once a second.
 *
 * With REARM_STATS=MILLISECONDS in the environment, from 10 to 60000, the library writes the
 * counters of all queues to a page so often while there is a loop; dat_top shows them.
 *
 * A thread that is cancelled ends inside rearm_queue_wait() or rearm_queue_wait_event(), and in no
 * other call, nor in a callback that rearm_loop_dispatch() makes.  A thread with asynchronous
 * cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) must not call the library: it would leave locks held,
 * as in most functions of the C library.
 *
 * A thread that has waited in a call keeps one descriptor until it ends, or frees a loop.
 */
#ifndef REARM_REARM_H
#define REARM_REARM_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rdma_cm_event;
struct rdma_event_channel;

struct rearm_loop;
struct rearm_queue;

/* ---- loops: who reads notifications and makes callbacks ---- */

/* Members that are not set are 0. */
struct rearm_loop_attr {
	int threads;	      /* own threads, up to 256; 0: none, the program calls dispatch */
	int n_cpus;	      /* how many are in `cpus`; 0: the threads run on any processor */
	const int *cpus;      /* thread i runs on processor cpus[i % n_cpus]; copied */
	uint64_t reserved[4]; /* 0 */
};

/*
 * Creates a loop.  While it creates threads with processors, the calling thread runs on these.
 *
 *	`attr`	NULL: one thread, on any processor
 *	`loop`	output: the loop
 *
 *	0		*loop is set
 *	-EINVAL		loop is NULL; a value of attr is out of range; there is no such processor
 *	-ENOMEM, -EAGAIN, -EMFILE, -ENFILE  no memory, thread or descriptor
 *	-ENOSPC		the user has all watches of epoll that /proc/sys/fs/epoll/max_user_watches
 *			allows
 */
int rearm_loop_create(const struct rearm_loop_attr *attr, struct rearm_loop **loop);

/*
 * Frees a loop.  Waits until its threads have ended, and the callbacks in which queues were freed
 * have returned.  No other call may use the loop at the same time.
 *
 *	0		it is freed; also if loop is NULL
 *	-EBUSY		it has a queue that was not freed
 *	-EDEADLK	the caller is inside a callback of the loop
 */
int rearm_loop_free(struct rearm_loop *loop);

/*
 * Returns the descriptor of a loop without threads, to be watched for input by epoll or another
 * loop.  It stays readable until rearm_loop_dispatch() has read what made it so; with EPOLLET, too,
 * nothing is missed if rearm_loop_trywait() is asked before each sleep.  It stays that of the
 * library: do not read it or close it.
 *
 *	>= 0		the descriptor
 *	-EINVAL		the loop has threads
 */
int rearm_loop_fd(const struct rearm_loop *loop);

/*
 * Asks whether the program may sleep on the descriptor.  Call it after rearm_loop_dispatch(), each
 * time before the program sleeps: only after the answer 0 is the descriptor readable for all that
 * comes.  A dispatch whose budget was used up may have left a notification: the answer is -EAGAIN.
 * One thread at a time calls this and rearm_loop_dispatch() for a loop.
 *
 *	`timeout`	output: call dispatch at the latest after so many milliseconds; -1: there is
 *			no limit
 *
 *	0		sleep: the descriptor becomes readable when there is something to do
 *	-EAGAIN		look first: call rearm_loop_dispatch() before you sleep
 *	-EINVAL		the loop has threads, or timeout is NULL
 */
int rearm_loop_trywait(struct rearm_loop *loop, int *timeout);

/*
 * Reads the notifications of a loop without threads, and makes the callbacks that are due, on the
 * calling thread.
 *
 *	`budget`	at least 1.  It begins no further turn after so many notifications and
 *			callbacks of queues; a turn serves each queue once, with up to 64
 *			completions, or 512 if its callbacks get several.  A small one returns
 *			sooner to the program's own descriptors
 *	`timeout`	how long it waits if nothing is due, in milliseconds; 0: not at all; -1:
 *			without limit.  A signal that is handled ends the wait
 *
 *	>= 0		how many notifications it has read and queues it has served
 *	-EINVAL		the loop has threads, or budget is less than 1
 *	-EDEADLK	the caller is inside a callback of the loop
 */
int rearm_loop_dispatch(struct rearm_loop *loop, int budget, int timeout);

/* ---- queues ---- */

/* Members that are not set are 0. */
struct rearm_queue_attr {
	int cqe;    /* completions that a new completion queue can hold at least */
	int vector; /* its completion vector */
	/* microseconds that a wait polls before it sleeps; 0: it sleeps at once */
	unsigned int spin;
	/*
	 * Called by a thread of the loop, if callbacks are enabled and the device cannot be polled
	 * or armed, or its channel is lost: once, until it has worked again.  `error` is -EIO.
	 * The library tries again.  It is a callback of the
	 * queue, as those that are enabled: free and teardown wait for it, and it may call all
	 * functions here.  NULL: nothing is called.
	 */
	void (*failed)(void *arg, int error);
	void *arg;	    /* its first argument */
	unsigned int flags; /* 0 or REARM_SOLICITED: as rearm_queue_set_solicited() */
	/* as rearm_queue_moderate(), but with 0 and 0 nothing is asked of the device */
	uint16_t moderation_count, moderation_us;
	uint64_t reserved[3]; /* 0 */
};

/* Notifications are requested for solicited completions only: rearm_queue_set_solicited(). */
#define REARM_SOLICITED 1u
/* The channel has several completion queues: for rearm_queue_adopt() alone. */
#define REARM_SHARED_CHANNEL 2u

/*
 * Creates a queue with a completion queue and a completion channel of its own.
 *
 *	`loop`		makes its callbacks
 *	`context`	the device
 *	`attr`		cqe is at least 1
 *	`queue`		output: the queue
 *
 *	0		*queue is set
 *	-EINVAL		an argument is NULL, or a value of attr is unknown or out of range for the
 *			device
 *	-ENOMEM, -EMFILE, -ENFILE  no memory or descriptor
 *	-ENOSPC		as rearm_loop_create()
 *	other values	the device has refused the completion queue, the channel or the moderation
 */
int rearm_queue_create(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **queue);

/*
 * Creates a queue over a completion queue of the program, with its channel.  Completions that it
 * holds count.  No notification may be requested or unread, and all must be acknowledged.  Until
 * the queue is freed the channel does not block.  Then the completion queue and the channel are the
 * program's again; a notification that was requested may still come.  Completions that calls of the
 * queue have polled are not in the completion queue any more: see rearm_queue_free().
 * Inside the callback that has freed the queue it may be adopted again.
 *
 * The channel must have no other completion queue.  With REARM_SHARED_CHANNEL it may have several:
 * a queue for each, all with this flag and with one loop, which reads the channel for them until
 * the last of them is freed.  Meanwhile notifications of a completion queue of the channel that has
 * no queue any more are read, and lead to nothing.  A wait needs a loop with threads.
 *
 * The library polls it by ibv_poll_cq(), as each completion becomes a struct ibv_wc.  So an
 * extended one is adopted as what ibv_cq_ex_to_cq() returns, and the program does not call
 * ibv_start_poll().  Fields that struct ibv_wc does not have, as time stamps, are not given out.
 * It may be one for a single thread (IBV_CREATE_CQ_ATTR_SINGLE_THREADED): one thread at a time
 * polls it.
 *
 *	`cq`		it has a channel
 *	`attr`		cqe and vector do not count; NULL: all are 0.  A moderation stays after the
 *			queue is freed
 *	`queue`		output: the queue
 *
 *	0		*queue is set
 *	-EINVAL		an argument is NULL, or cq has no channel, or a value of attr is unknown or
 *			out of range; the channel is shared by queues of another loop
 *	-ENOMEM		no memory
 *	-ENOSPC		as rearm_loop_create()
 *	other values	the channel cannot be made non-blocking, or the device has refused the
 *			moderation
 */
int rearm_queue_adopt(struct rearm_loop *loop, struct ibv_cq *cq,
    const struct rearm_queue_attr *attr, struct rearm_queue **queue);

/* Returns the completion queue, for ibv_create_qp(); NULL if the queue has events. */
struct ibv_cq *rearm_queue_cq(const struct rearm_queue *queue);

/*
 * Decides which completions begin callbacks and end waits.  A completion is solicited if the sender
 * has set IBV_SEND_SOLICITED, or if it has failed.
 *
 *	`on`	1: solicited ones.  Others stay in the completion queue until a solicited one comes,
 *		or a call polls for another reason; then they are given out with it, in order.
 *		0: all, as at first without REARM_SOLICITED; also those that are there
 *
 *	0		it is so from now on, for a wait that has begun, too
 *	-EINVAL		on is neither 0 nor 1, or the queue has events
 *	-ENODEV		the queue is being freed
 */
int rearm_queue_set_solicited(struct rearm_queue *queue, int on);

/*
 * Has the device raise one notification for several completions, where it can do so.  Callbacks and
 * waits then come later, and less often; takes do not.
 *
 *	`count`	a notification for so many completions, up to 65535; 0 or 1: for each
 *	`us`	or so many microseconds after the first one, up to 65535.  Not 0 if count is above
 *		1, because a few completions would never be notified
 *
 *	0		the device does so from now on
 *	-EINVAL		count or us is out of range, or the queue has events
 *	-EOPNOTSUPP	the device cannot
 *	-ENODEV		the queue is being freed
 *	other values	the device has refused it
 */
int rearm_queue_moderate(struct rearm_queue *queue, unsigned int count, unsigned int us);

/*
 * Frees a queue.  After the return no callback runs or begins, except those that the caller is
 * inside, and the queue must not be used.  Inside a callback of the queue it does not wait: others
 * of MANY, which have got their completions, may still begin and run, and the queue is released
 * when the last one has returned.  An adopted completion queue may be destroyed, or adopted again,
 * at once; its channel stays, and does not block, until the queue is released.  A thread in
 * rearm_queue_wait() returns -ECANCELED.
 * The program destroys its queue pairs first: a completion queue that is in use is not destroyed.
 * What was not taken is dropped.  That is a completion that was polled, too: a take, a wait or an
 * enable may poll more of them than it gives out, and those are gone, also from an adopted
 * completion queue.  To keep them, take until 0 is returned, and then free.
 * Two callbacks that free the queue of each other wait without end.  The library keeps its memory,
 * about 1 KiB, for queues to come.
 *
 *	0		it is freed; also if queue is NULL
 *	-ENODEV		it was freed before, in a callback that has not returned
 */
int rearm_queue_free(struct rearm_queue *queue);

/* ---- callbacks ---- */

enum rearm_policy {
	REARM_SINGLE = 1, /* one callback of the queue at a time, in order */
	REARM_NOTIFY = 2, /* one callback for all new completions; it gets none, and takes them */
	REARM_MANY = 100  /* several at once, on up to four threads; they begin in any order */
};

/* What a call that enables callbacks does if completions are there. */
enum rearm_pending {
	REARM_NEW = 0, /* it fails: take them first */
	REARM_ANY = 1  /* callbacks follow for them, too */
};

#define REARM_BATCH 32

/*
 * A callback, on a thread of the loop.  It holds no lock of the library and may call all functions
 * here.
 *
 *	`arg`	of struct rearm_upcall
 *	`wc`	the completions, the oldest first; valid until it returns.  NULL under NOTIFY
 *	`n`	how many, from 1 to the batch; 0 under NOTIFY
 *	`more`	1: there is at least one more.  0: none is known
 */
typedef void rearm_function(void *arg, const struct ibv_wc *wc, int n, int more);

struct rearm_upcall {
	rearm_function *function;
	void *arg;
	/* at least 1, under NOTIFY too; a callback gets up to so many completions, and to
	 * REARM_BATCH */
	int batch;
};

/*
 * A request with a callback of its own: `wr_id` of the work request is the address of this struct,
 * which the program embeds as the first member of a struct of its own, and keeps until `done` is
 * called.
 *
 *	`request`	the address in wr_id
 *	`wc`		its completion, failed ones too; valid until it returns
 *	`arg`		of struct rearm_upcall
 */
struct rearm_request {
	void (*done)(struct rearm_request *request, const struct ibv_wc *wc, void *arg);
};

/*
 * A callback for struct rearm_upcall, or for the program to call with completions that it took:
 * calls `done` of the request of each completion, the oldest first.  A completion whose wr_id is 0
 * has no request, and nothing is called.  All completions of a batch are served, also after `done`
 * of one has disabled or freed the queue; so with a batch above 1 `done` keeps the memory of other
 * requests.  Not for NOTIFY, under which a callback gets no completion.  Thread-safe.
 *
 *	`arg`	the third argument of each `done`
 *	`wc`, `n`  the completions
 *	`more`	not used
 */
void rearm_call_requests(void *arg, const struct ibv_wc *wc, int n, int more);

/*
 * Enables callbacks, or changes them.  They go on until the next call of this function, of
 * rearm_queue_disable() or of rearm_queue_teardown().  In one step it requests a notification and
 * polls the device, so no completion is missed.
 *
 *	`policy`	SINGLE, NOTIFY or MANY
 *	`upcall`	copied; NULL: as before.  What runs already keeps the one that it has
 *	`pending`	NEW or ANY
 *
 *	0		callbacks are enabled
 *	-EAGAIN		pending is NEW, and completions are there
 *	-EBUSY		a thread is in rearm_queue_wait()
 *	-EINVAL		a value is unknown; no function was ever given; batch is less than 1; the
 *			function is rearm_call_requests(), and policy is NOTIFY; the queue has
 *			events
 *	-EIO		the device cannot be armed or polled, or the channel is lost.  An error of
 *			the device may pass: no completion is lost by it, and the call may be
 *			repeated.  For a completion queue that has overrun the device raises
 *			IBV_EVENT_CQ_ERR
 *	-ENODEV		the queue is being freed
 *	-ENOMEM, -ENOSPC, -EMFILE, -ENFILE  no memory, thread or descriptor
 */
int rearm_queue_enable(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_upcall *upcall, enum rearm_pending pending);

/*
 * Ends callbacks.  After the return no completion is taken for a callback; one that was taken
 * before may still enter its function.  Completions stay queued.
 *
 *	0, -ENODEV	as rearm_queue_enable()
 */
int rearm_queue_disable(struct rearm_queue *queue);

/*
 * Ends callbacks and waits for those that run: after the return no callback of the queue runs,
 * except the one that the caller is inside, and others that call this function or
 * rearm_queue_free() themselves.  Two callbacks that each call it for the queue of the other wait
 * without end.
 *
 *	0, -ENODEV	as rearm_queue_enable()
 */
int rearm_queue_teardown(struct rearm_queue *queue);

/* ---- taking completions ---- */

/*
 * Takes completions, the oldest first, without waiting.
 *
 *	`n`	at most so many, at least 1
 *	`wc`	output: room for n
 *
 *	> 0		how many; there may be more
 *	0		none is there
 *	-EINVAL		n is less than 1, or wc is NULL, or the queue has events
 *	-EBUSY		a thread is in rearm_queue_wait()
 *	-EIO, -ENODEV	as rearm_queue_enable()
 */
int rearm_queue_take(struct rearm_queue *queue, int n, struct ibv_wc *wc);

/*
 * Waits until enough completions are there, and takes them.  One thread at a time waits on a queue,
 * while callbacks are disabled.
 *
 *	`min`		so many, from 1 to the cqe that the completion queue had when the queue was
 *			created; a later ibv_resize_cq() does not change that
 *	`timeout`	at most so long, in microseconds; -1: without limit
 *	`n`		it takes at most so many, at least 1
 *	`wc`		output: room for n
 *
 *	> 0		how many it took
 *	-ETIMEDOUT	fewer than min are there; none was taken
 *	-EINTR		a signal was handled; none was taken
 *	-EINVAL		min or n is out of range, or wc is NULL, or the queue has events
 *	-EBUSY		another thread waits
 *	-EACCES		callbacks are enabled
 *	-ECANCELED	the queue was freed meanwhile
 *	-EOPNOTSUPP	the channel is shared, and the loop has no threads
 *	-EIO, -ENODEV	as rearm_queue_enable()
 *	-ENOMEM, -EMFILE, -ENFILE  no memory or descriptor for the thread
 */
int rearm_queue_wait(struct rearm_queue *queue, int min, int64_t timeout, int n, struct ibv_wc *wc);

/*
 * ---- events that are no completions ----
 *
 * A queue may have the asynchronous events of a device, or the events of a connection manager: one
 * after the other, in the order of the device or of the manager.  Policies, pending, disable,
 * teardown and free are those of completions.  What belongs to completions alone returns -EINVAL.
 *
 * Who acknowledges: the program, each event that it has got, once, by ibv_ack_async_event() or
 * rdma_ack_cm_event(), on any thread, inside the callback or at any later time; the library never
 * does.  As the manuals say, the end of an object (ibv_destroy_qp(), ibv_destroy_cq(),
 * rdma_destroy_id() and others) waits until all its events that were got are acknowledged: so the
 * callback acknowledges an event before it destroys that object, and the memory of a CM event, with
 * its private data, is gone after the acknowledgement.  The library reads an event only when it
 * gives it out.  So no other event stands between the program and the end of an object, and events
 * that were not given out are still in the channel after the queue is freed.
 */

/*
 * An event, by the call that made the queue.  Copy it: it is valid until the callback returns; what
 * `cm` points to is valid until it is acknowledged.
 */
union rearm_event {
	struct ibv_async_event async;
	struct rdma_cm_event *cm;
};

/*
 * Creates a queue over the asynchronous events of a device.  Until it is freed the descriptor
 * async_fd does not block, and the program does not call ibv_get_async_event() for it.
 *
 *	`loop`		makes its callbacks
 *	`context`	the device, open until the queue is freed.  It has no other queue of this
 *			kind, which is not checked
 *	`attr`		failed, arg and spin count, and flags are 0; NULL: all are 0
 *	`queue`		output: the queue
 *
 *	0		*queue is set
 *	-EINVAL		an argument is NULL, or a value of attr is unknown
 *	-ENOMEM, -EMFILE, -ENFILE  no memory or descriptor
 *	-ENOSPC		as rearm_loop_create()
 *	other values	the descriptor cannot be watched or made non-blocking
 */
int rearm_queue_adopt_async(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **queue);

/*
 * Creates a queue over the events of a channel of the connection manager: as
 * rearm_queue_adopt_async(), and the program does not call rdma_get_cm_event() for it.  A call
 * that waits for an event itself, as rdma_create_ep() or those for an id without a channel, is not
 * for ids of this channel.  An event may come on another thread before the call that causes it, as
 * rdma_resolve_addr(), has returned: that call still uses the id, so the callback must not destroy
 * it until then.  When DISCONNECTED comes the requests of this side are not flushed yet: call
 * rdma_disconnect().  A program that makes such calls links librdmacm itself, by -lrdmacm.
 *
 *	`channel`	exists until the queue is freed.  It has no other queue, which is not
 *			checked
 *
 *	0, -EINVAL, -ENOMEM, -EMFILE, -ENFILE, -ENOSPC, other values  as
 *			rearm_queue_adopt_async()
 */
int rearm_queue_adopt_cm(struct rearm_loop *loop, struct rdma_event_channel *channel,
    const struct rearm_queue_attr *attr, struct rearm_queue **queue);

/*
 * A callback for an event; else as rearm_function.
 *
 *	`arg`	of struct rearm_event_upcall
 *	`event`	valid until it returns; NULL under NOTIFY
 */
typedef void rearm_event_function(void *arg, const union rearm_event *event);

struct rearm_event_upcall {
	rearm_event_function *function;
	void *arg;
};

/*
 * Enables callbacks for events, or changes them, as rearm_queue_enable().  Under NOTIFY the
 * callback takes events until there are none, and may find none: after it has left some, no other
 * callback comes until one is taken.
 *
 *	-EINVAL		a value is unknown; no function was ever given; the queue has completions
 *	others		as rearm_queue_enable(); also -EAGAIN after an event that has gone since
 *			then: rearm_queue_take_event() finds none, and the next call works
 */
int rearm_queue_enable_events(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_event_upcall *upcall, enum rearm_pending pending);

/*
 * Takes the oldest event, without waiting.
 *
 *	`event`		output: the event
 *
 *	1		it took one
 *	0		none is there
 *	-EINVAL		event is NULL, or the queue has completions
 *	-EIO		the channel cannot be read
 *	-EBUSY, -ENODEV  as rearm_queue_take()
 */
int rearm_queue_take_event(struct rearm_queue *queue, union rearm_event *event);

/*
 * Waits for an event, and takes it; else as rearm_queue_wait().
 *
 *	`timeout`	at most so long, in microseconds; -1: without limit
 *	`event`		output: the event
 *
 *	1		it took one
 *	-ETIMEDOUT	none has come
 *	-EINVAL		timeout is out of range, or event is NULL, or the queue has completions
 *	-EIO		the channel cannot be read
 *	-EINTR, -EBUSY, -EACCES, -ECANCELED, -ENODEV, -ENOMEM, -EMFILE, -ENFILE
 *			as rearm_queue_wait()
 */
int rearm_queue_wait_event(struct rearm_queue *queue, int64_t timeout, union rearm_event *event);

/* ---- counters ---- */

/* Counts since the queue was created, but for `depth`. */
struct rearm_counters {
	uint64_t events;    /* completions or events that the library has polled */
	uint64_t callbacks; /* that have begun */
	/* read from the channel, and those after which nothing new was there */
	uint64_t notifications, spurious;
	/* notifications that were requested, and requests that have failed */
	uint64_t arms, arm_failures;
	/* arms that came too late for a completion: it would have waited for the next one */
	uint64_t races;
	uint64_t polls, polls_found; /* of the device, and those that have found something */
	uint64_t waits, sleeps;	     /* calls that wait, and how often their threads slept */
	uint64_t takes, takes_found; /* calls that take, and those that took something */
	uint64_t depth, max_depth;   /* polled and not given out yet; the most there ever were */
};

/*
 * Reads the counters of a queue.  They are not of one moment if other threads use it meanwhile.
 *
 *	`counters`	output
 *	`size`		sizeof *counters; a library that knows fewer counters sets the others to 0
 *
 *	0		*counters is set
 *	-EINVAL		counters is NULL
 *	-ENODEV		the queue is being freed
 */
int rearm_queue_counters(struct rearm_queue *queue, struct rearm_counters *counters, size_t size);

#ifdef __cplusplus
}
#endif

#endif
