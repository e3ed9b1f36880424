/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion channels: reads that are cancellation points, as read() of the system, and reads that
 * fail.
 */
#define _GNU_SOURCE /* ppoll() */
#include "fault.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int failure;
static _Thread_local unsigned int reads;
static _Thread_local bool cancels, lets_signals;

void
fault_channel_fail(int error)
{
	failure = error;
}

void
fault_channel_cancel_self(void)
{
	cancels = true;
}

void
fault_channel_let_signals(void)
{
	lets_signals = true;
}

unsigned int
fault_channel_reads(void)
{
	return reads;
}

int __real_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
int
__wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	const struct timespec soon = { 0, 1000000 };
	sigset_t none;

	reads++;
	if (cancels)
		pthread_cancel(pthread_self());
	cancels = false;
	if (lets_signals) {
		sigemptyset(&none);
		(void)ppoll(NULL, 0, &soon, &none);
	}
	pthread_testcancel();
	if (failure) {
		errno = failure;
		return -1;
	}
	return __real_ibv_get_cq_event(channel, cq, context);
}
