/* SPDX-License-Identifier: BSD-3-Clause */
#include "teller.h"
#include "complaint.h"
#include "softverbs/soft_arm.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STALLS 64 /* that are not reported yet */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int stalls[STALLS] GUARDED_BY(soft_locks.teller);
static unsigned int stall_count GUARDED_BY(soft_locks.teller);
static bool running GUARDED_BY(soft_locks.teller);
static void (*_Atomic stall_place)(unsigned int qp_num);

static void
teller_lock(void) ACQUIRE(soft_locks.teller) UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static void
teller_unlock(void) RELEASE(soft_locks.teller) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

void
soft_tell_stalls_to(void (*place)(unsigned int qp_num))
{
	stall_place = place;
}

static void
teller_print(unsigned int qp_num)
{
	char line[256];
	int n;

	n = snprintf(line, sizeof line,
	    "softverbs[%d]: a send of queue pair 0x%x has waited for 2 s: the other end has posted "
	    "no "
	    "receive\n",
	    (int)getpid(), qp_num);
	if (soft_stderr_is_read())
		(void)!syscall(SYS_write, STDERR_FILENO, line, n);
}

static void *
teller_run(void *unused)
{
	void (*place)(unsigned int qp_num);
	unsigned int qp_num;

	(void)unused;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	for (;;) {
		teller_lock();
		running = stall_count != 0;
		qp_num = stall_count ? stalls[--stall_count] : 0;
		teller_unlock();
		if (!qp_num)
			return NULL;
		place = stall_place;
		(place ? place : teller_print)(qp_num);
	}
}

/* Without a thread the line is lost. */
static bool
teller_start(void)
{
	sigset_t all, saved;
	pthread_attr_t attr;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	started = !pthread_create(&thread, &attr, teller_run, NULL);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

void
soft_tell_stall(unsigned int qp_num)
{
	teller_lock();
	if (stall_count < STALLS)
		stalls[stall_count++] = qp_num;
	if (!running) {
		running = teller_start();
		if (!running)
			stall_count = 0;
	}
	teller_unlock();
}

void
soft_teller_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	stall_count = 0;
	running = false;
}
