/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/bell.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static _Atomic(struct bell *) signal_bell;
static volatile sig_atomic_t stopped;

int
bell_init(struct bell *bell)
{
	return sem_init(&bell->rung, 0, 0) ? -errno : 0;
}

void
bell_fini(struct bell *bell)
{
	sem_destroy(&bell->rung);
}

void
bell_ring(struct bell *bell)
{
	int saved = errno;

	/* At SEM_VALUE_MAX it is rung loud enough. */
	(void)sem_post(&bell->rung);
	errno = saved;
}

void
bell_wait(struct bell *bell, uint64_t deadline)
{
	const struct timespec until = {
		.tv_sec = (time_t)(deadline / BELL_SECOND),
		.tv_nsec = (long)(deadline % BELL_SECOND),
	};

	/* Interrupted is as good as rung: the caller looks at everything anyway. */
	if (sem_clockwait(&bell->rung, CLOCK_MONOTONIC, &until) == 0)
		while (sem_trywait(&bell->rung) == 0)
			;
}

static void
on_signal(int signal_number)
{
	struct bell *bell = atomic_load(&signal_bell);

	(void)signal_number;
	stopped = 1;
	if (bell)
		bell_ring(bell);
}

int
bell_catch_signals(struct bell *bell)
{
	struct sigaction action = { .sa_handler = on_signal };

	atomic_store(&signal_bell, bell);
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGINT, &action, NULL) || sigaction(SIGTERM, &action, NULL))
		return -errno;
	return 0;
}

bool
bell_stopped(void)
{
	return stopped != 0;
}

uint64_t
bell_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * BELL_SECOND + (uint64_t)now.tv_nsec;
}
