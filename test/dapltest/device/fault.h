/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault -- a software device that fails as hardware may
 *
 * test-device is linked with the provider and the device, and wraps calls between them: it adds
 * events that the device did not raise, changes completions, fails an arm, and lowers limits.  The
 * provider is opened as "device".
 */
#ifndef REARM_TEST_DEVICE_FAULT_H
#define REARM_TEST_DEVICE_FAULT_H

#include <infiniband/verbs.h>

#include "lib/dt.h"

TCase *device_tcase(Suite *suite, const char *name);

/* What the provider made last. */
extern struct ibv_cq *device_last_cq;
extern struct ibv_qp *device_last_qp;

/* The device raises an event; `element` is the object it is about, or NULL. */
void device_raise(enum ibv_event_type type, void *element);

/* Changes each completion that is polled from now on; NULL for none. */
void device_change_completions(void (*change)(struct ibv_wc *wc));

/* What the device says it can do, to adapters opened from now on; 0: what it can. */
struct device_limits {
	uint32_t message;
	int segments, read_segments;
};
void device_limit(const struct device_limits *limits);

/* Called whenever the provider has moved a queue pair to the error state; NULL for none. */
void device_on_queue_pair_error(void (*call)(void));

/* Called whenever the provider is about to destroy a queue pair; NULL for none. */
void device_on_destroy(void (*call)(struct ibv_qp *qp));

/* Whether the provider has acknowledged all that was raised. */
bool device_is_acknowledged(void);

/*
 * The next thread that refuses a connection request stays in that call, when the answer is on its way,
 * until it is let go.
 */
void device_hold_rejection(void);
void device_let_go(void);

/* Answers to requests to connect have so many bytes of data from now on; -1: what they have. */
void device_answers_with(int length);

/* Adapters that are opened on this thread find another device, which does not work. */
void device_is_another(bool another);

/*
 * Right after the n-th release of a lock by this thread, from now on, that leaves it without any:
 * the intruder, once, on another thread, which this one waits for.
 */
void device_window_at(int n, void (*intruder)(void));
/* Whether it has not come yet; forgets it. */
bool device_window_missed(void);

/* Arming a completion queue fails from now on, or works again. */
void device_arms(bool works);

/* The same of polling; one that cannot be polled has lost what it held. */
void device_polls(bool works);

#endif
