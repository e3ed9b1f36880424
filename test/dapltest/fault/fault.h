/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault -- a software device that fails as hardware may
 *
 * The library libfault.so is the provider on the software device, with faults between the two and
 * inside the device.  The linker's --wrap puts them there: the product has no hook for a test.  A
 * program that injects faults is linked with the library and opens it as "faulty" (lib/dt.h).  A
 * fault applies to all adapters of the process that are open on it, and stays until it is used up,
 * changed or cleared.
 */
#ifndef REARM_TEST_FAULT_H
#define REARM_TEST_FAULT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/* The device works again.  A teardown for tests that inject faults. */
void fault_clear(void);

/* ---- completion channels: channel.c ---- */

/*
 * From now on reading a channel fails with that errno, and the channel stays as it is; 0: it works.
 */
void fault_channel_fail(int error);

/* The next read of a channel by this thread finds it cancelled; a read is a cancellation point. */
void fault_channel_cancel_self(void);

/* In each read by this thread the blocked signals come that were sent to it. */
void fault_channel_let_signals(void);

/* How often this thread has read a channel. */
unsigned int fault_channel_reads(void);

/* ---- completion queues: cq.c ---- */

#define FAULT_ALWAYS INT_MAX

/* The next n completions find their queue full, whatever it holds: each overruns a queue. */
void fault_cq_overrun(int n);

/* The next n requests for a notification fail. */
void fault_cq_refuse_arms(int n);

/* Resizing a completion queue fails, as on devices without that operation. */
void fault_cq_refuse_resize(bool on);

/*
 * Moderation of completion queues fails with that errno; 0: it works.
 * fault_lack(FAULT_MODERATION): the device does not have the operation.
 */
void fault_cq_refuse_moderation(int error);

/*
 * The period of queues that are moderated from now on does not end: only the count, and what is not
 * delayed, brings a notification.
 */
void fault_cq_stop_periods(bool on);

/* How many notifications the queue has raised, whether they were read or not. */
unsigned int fault_cq_notifications(struct ibv_cq *cq);

/*
 * How often the moderation of a queue was set, since the program began; and to what, the last time.
 */
unsigned int fault_cq_moderated(void);
struct ibv_moderate_cq fault_cq_last_moderation(void);

/* Polling a completion queue fails, and loses nothing. */
void fault_cq_refuse_poll(bool on);

/* How often completion queues were polled and armed, since the program began. */
struct fault_cq_calls {
	unsigned int polls, arms;
};
struct fault_cq_calls fault_cq_calls(void);

/* The next completion that is polled is repeated n times, as far as the batch has room. */
void fault_cq_repeat(int n);

/* Changes each completion that is polled from now on; NULL for none. */
void fault_cq_change(void (*change)(struct ibv_wc *wc));

/* The queue that the provider created last. */
struct ibv_cq *fault_cq_last(void);

/* ---- queue pairs: qp.c ---- */

/* The queue pair that the provider created last. */
struct ibv_qp *fault_qp_last(void);

/* Called whenever the provider has moved a queue pair to the error state; NULL for none. */
void fault_qp_on_error(void (*call)(void));

/* Called whenever the provider is about to destroy a queue pair; NULL for none. */
void fault_qp_on_destroy(void (*call)(struct ibv_qp *qp));

/* Whether a window is bound on the queue pair. */
bool fault_qp_has_windows(struct ibv_qp *qp);

/*
 * A queue pair in the error state overlooks receives that are posted, until it is moved to that
 * state again: as soft-RoCE, which flushes what it finds when it is moved there.
 */
void fault_qp_overlook_receives(bool on);

/* ---- shared receive queues: srq.c ---- */

/* The queue that the provider created last. */
struct ibv_srq *fault_srq_last(void);

/* Called whenever the provider has changed the depth or the limit of a queue; NULL for none. */
void fault_srq_on_modify(void (*call)(void));

/*
 * A queue that has fewer buffers than the limit that is set raises no event, and stays armed: as
 * soft-RoCE, which compares the two when a message takes a buffer.  Messages raise none either.
 */
void fault_srq_overlook_limit(bool on);

/*
 * A shared receive queue of another user of the device, in the protection domain of the queue pair
 * and with the same context pointer.
 */
struct ibv_srq *fault_srq_create(struct ibv_qp *qp);
void fault_srq_free(struct ibv_srq *srq);

/* ---- asynchronous events: async.c ---- */

/*
 * The device raises an event.  `element` is the completion queue, queue pair or shared receive
 * queue; NULL: the device or its port, in every context.  A type that is raised again before it was
 * read is reported once.
 */
void fault_raise(enum ibv_event_type type, void *element);
void fault_raise_at_second_port(enum ibv_event_type type); /* which no adapter is at */

/*
 * From now on reading the events fails with that errno, and they stay; 0: it works.  And how often
 * it has failed so far.
 */
void fault_async_fail(int error);
unsigned int fault_async_failed(void);

/* Whether the provider has acknowledged as many events as were raised. */
bool fault_is_acknowledged(void);

/* ---- what the device reports about itself: limit.c ---- */

/* Limits of the device, for adapters that are opened from now on; 0: those that it has. */
struct fault_limits {
	uint32_t message;
	int segments, read_segments;
};
void fault_limit(const struct fault_limits *limits);

/*
 * All that the device and its port report, for adapters that are opened from now on; NULL: what
 * they have.
 */
void fault_device(const struct ibv_device_attr *device, const struct ibv_port_attr *port);

/* What adapters that are opened from now on do not have. */
enum fault_ability {
	FAULT_WINDOWS_1 = 1 << 0, /* memory windows of type 1 */
	FAULT_WINDOWS_2 = 1 << 1, /* memory windows of type 2 */
	FAULT_INVALIDATE = 1 << 2,
	FAULT_SRQ = 1 << 3,
	FAULT_SRQ_RESIZE = 1 << 4,
	FAULT_ATOMICS = 1 << 5,
	FAULT_INFINIBAND = 1 << 6, /* the device is an iWARP adapter */
	FAULT_ZERO_BASED = 1 << 7,
	FAULT_ZERO_BASED_INSIDE = 1 << 8, /* zero-based regions that begin inside of a page */
	FAULT_MODERATION = 1 << 9,
};
void fault_lack(unsigned int abilities);

/* The state of the port, for adapters that are opened from now on; 0: the one that it has. */
void fault_port_state(enum ibv_port_state state);

/* Adapters that are opened on this thread find another device, which does not work. */
void fault_other_device(bool on);

/* ---- the connection manager: cm.c ---- */

/*
 * From now on making an event channel, and binding an id to an address, fail with that errno; 0:
 * they work.
 */
void fault_cm_refuse_channels(int error);

void fault_cm_refuse_addresses(int error);

/* The same as fault_async_fail(), of the events of connections. */
void fault_cm_fail_reads(int error);
unsigned int fault_cm_failed_reads(void);

/*
 * Whether the provider takes the device for the software device, which it is; else for one of the
 * host.
 */
void fault_is_soft(bool on);

/*
 * The next event `from` of the nth open adapter, counted from 0, becomes `to`, with that status
 * and, if `without_data`, without private data.
 */
struct fault_replacement {
	enum rdma_cm_event_type from, to;
	int adapter, status;
	bool without_data;
};
void fault_cm_replace(const struct fault_replacement *replacement);

/*
 * The next n times that an address is to be resolved, it is not in time; and how many of them are
 * left.
 */
void fault_cm_time_out(int n);
int fault_cm_time_outs_left(void);

/* Requests to connect have so many bytes of data from now on; -1: what they have. */
void fault_cm_request_length(int length);
/* They come from an address of that family, for example AF_IB; 0: of the one that it has. */
void fault_cm_request_family(int family);
/* The n-th allocation after a request to connect, by the thread that reads it, fails; 0: none. */
void fault_cm_starve_requests(int n);

/* The id with which the nth open adapter found its device gets an event: the device is removed. */
void fault_cm_remove_device(int adapter);

/* Answers to requests to connect have so many bytes of data from now on; -1: what they have. */
void fault_cm_answer_length(int length);

/* Such answers have this data; NULL: what they have. */
void fault_cm_answer_data(const void *data, int length);

/*
 * The next thread that refuses a connection request stays in that call, when the answer is on its
 * way, until it is released.
 */
void fault_cm_hold_rejection(void);
void fault_cm_release_rejection(void);

/* Called when a service point listens, before its call returns, with its port; NULL: no more. */
void fault_cm_on_listen(void (*call)(uint16_t port));

/* ---- any call of the provider: call.c ---- */

/*
 * From now on the call of libibverbs or librdmacm with that name fails with that errno: each that
 * doc/errno.md lists.  ibv_post_recv stands for ibv_post_srq_recv, too.  NULL: all work.
 * FAULT_SILENT: a call that returns NULL or -1 leaves errno as it was.
 */
#define FAULT_SILENT (-1)
void fault_call_fail(const char *call, int error);
/* But the next n times it works. */
void fault_call_spare(int n);

/*
 * What ibv_post_send() was given last, with its first segment; and rdma_connect() or rdma_accept(),
 * without private data.
 */
struct ibv_send_wr fault_call_last_request(void);
struct rdma_conn_param fault_call_last_connection(void);

/* ---- threads: thread.c ---- */

/*
 * No thread of the provider and the device can be started; it fails with that errno; 0: they can.
 */
void fault_refuse_threads(int error);

/* ---- names: fault.c ---- */

/*
 * How the provider names the type, or the subtype, of what a call returns, a DAT_RETURN; NULL: it
 * has no name.
 */
const char *fault_name(uint32_t ret, bool type);

/* ---- memory: memory.c ---- */

/*
 * The n-th allocation by this thread, from now on, fails: of the provider or inside the device.  0:
 * none.
 */
void fault_memory_fail_at(int n);
/* Whether it has not come yet; forgets it. */
bool fault_memory_missed(void);

/* ---- the last steps of making an object: handle.c ---- */

/* No object of the provider gets a handle: the memory for handles has run out. */
void fault_handles_refuse(bool on);

/* No object is attached to its adapter: a close of the adapter has just begun. */
void fault_attach_refuse(bool on);
/* Whether the handle lives that this thread has made last. */
bool fault_handle_lives(void);

/* ---- locks: lock.c ---- */

/* Locks of the library that this thread holds; below zero: it has unlocked more than it locked. */
int fault_locks_held(void);
/*
 * How many locks this thread has taken while it could be cancelled, since it called this before;
 * from now on it counts from `from`, or with -1 not at all.
 */
int fault_locks_bare(int from);

/*
 * Right after the n-th release of a lock by this thread, from now on, that leaves it without any:
 * the intruder runs, once, on another thread, which this one waits for.
 */
void fault_window_at(int n, void (*intruder)(void));
/* Whether it has not run yet; forgets it. */
bool fault_window_missed(void);

#endif
