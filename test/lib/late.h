/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late -- a request to cancel a thread that is on its way for as long as a test wants
 *
 * glibc before 2.41 sends a signal to a thread of the asynchronous type; later ones end the thread
 * without it.  A thread that blocks the signal, which calls of the C library leave out, is between
 * pthread_cancel() and the end.
 */
#ifndef REARM_TEST_LATE_H
#define REARM_TEST_LATE_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define LATE_SIGNAL 32

/* By the thread: true if the signal is blocked now. */
static inline bool
late_block(void)
{
	const uint64_t mask = UINT64_C(1) << (LATE_SIGNAL - 1);

	return syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof mask) == 0;
}

/* The signal comes when the handler returns. */
static inline void
late_unblock(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number, (void)info;
	memset(&interrupted->uc_sigmask, 0, sizeof(uint64_t));
}

/* Lets the signal come to the thread: 0, or an errno. */
static inline int
late_arrive(pthread_t thread)
{
	const struct sigaction action = { .sa_sigaction = late_unblock, .sa_flags = SA_SIGINFO };

	return sigaction(SIGUSR1, &action, NULL) ? -1 : pthread_kill(thread, SIGUSR1);
}

#endif
