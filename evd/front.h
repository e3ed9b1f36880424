/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front -- what the dispatcher knows of its front end, and of the consumer behind that
 *
 * The front end is the library above evd/ and cno/, with the calls of its API.  It decides what an
 * event is: the dispatcher knows the size alone, copies posted events, and has the front end build
 * the others in the memory of the consumer (device.h).  It calls the consumer through functions of
 * the front end, which know what the consumer's functions look like.
 */
#ifndef REARM_EVD_FRONT_H
#define REARM_EVD_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- events ---- */

/* An event has at most this size, and is aligned as an uint64_t. */
#define EVD_EVENT_MOST 128

/* A short event has its contents in its first bytes, as many as these. */
#define EVD_EVENT_SHORT 24

static inline void
evd_event_copy_short(void *event, const void *posted)
{
	memcpy(event, posted, EVD_EVENT_SHORT);
}

/* The event with this index. */
static inline void *
evd_event_at(void *events, unsigned int event_size, unsigned int index)
{
	return (char *)events + (size_t)event_size * index;
}

/* Where the events of an EVD come from; for its counters. */
enum evd_stream {
	EVD_STREAM_SOFTWARE, /* short events */
	EVD_STREAM_REQUEST,
	EVD_STREAM_COMPLETION,
	EVD_STREAM_CONNECTION,
	EVD_STREAM_ASYNC
};

/* ---- upcalls ---- */

/* The values are fixed: a front end may have an enum of its own with the same ones. */
enum evd_policy {
	EVD_POLICY_TEARDOWN = -1, /* as DISABLE, and waits until no upcall runs */
	EVD_POLICY_DISABLE = 0,	  /* no upcalls: events stay queued */
	EVD_POLICY_SINGLE = 1,	  /* one upcall at a time, in the order of the events */
	EVD_POLICY_NOTIFY = 2,	  /* one upcall for all new events; it gets none */
	EVD_POLICY_MANY = 100	  /* several at once */
};

/* What a call that enables upcalls does if events are queued. */
enum evd_pending {
	EVD_PENDING_REFUSE = 0, /* it fails */
	EVD_PENDING_CALL = 1	/* upcalls follow for them */
};

/*
 * A function of the consumer, of a type that only the front end knows, and its first argument.
 * `most`: it gets up to so many events at once; 0: one, by a call of another form.
 */
struct evd_upcall {
	void *instance;
	void (*function)(void);
	unsigned int most;
};

/*
 * Makes an upcall: calls the function with the other arguments.  `event` is NULL under NOTIFY.
 * evd_upcall_handle() is for it.
 */
typedef void evd_call_function(void *instance, const void *event, int more, void (*function)(void));
/* The same with n events, or none under NOTIFY; for a function that gets several. */
typedef void evd_call_array_function(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall);

/* ---- time ---- */

/* A timeout counts microseconds, or is this one. */
#define EVD_FOREVER UINT32_MAX

/* ---- counters ---- */

/* Since the EVD was created. */
struct evd_counters {
	uint64_t completions;
	uint64_t connections; /* this and the next three: events posted to that stream */
	uint64_t requests;
	uint64_t software;
	uint64_t asyncs;
	uint64_t upcalls;
	uint64_t notifications; /* read from the device */
	/* after which a poll found nothing, and nothing was queued */
	uint64_t spurious_notifications;
	uint64_t arms;
	uint64_t arm_failures;
	uint64_t races_closed; /* arms after which a poll in the same lock section found some */
	uint64_t busy_skips;   /* wake-ups while the job was queued, or ran */
	uint64_t overflows;
	uint64_t max_depth; /* the most events ever queued */
};

#endif
