/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bell -- how upcalls and signals wake the main thread
 *
 * The main thread sleeps on one semaphore and checks the state after every ring.  Upcalls ring when
 * a state has changed that the main thread may wait for.  SIGINT and SIGTERM ring too, and set a
 * flag.
 */
#ifndef ISER_BELL_H
#define ISER_BELL_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

struct bell {
	sem_t rung;
};

/* 0 or -errno. */
int bell_init(struct bell *bell);
void bell_fini(struct bell *bell);

/* Safe in an upcall and in a signal handler. */
void bell_ring(struct bell *bell);

/* Sleeps until rung or until `deadline` (bell_now() time).  Several rings may be taken as one. */
void bell_wait(struct bell *bell, uint64_t deadline);

/* SIGINT and SIGTERM ring this bell from now on; NULL: they ring none. */
int bell_catch_signals(struct bell *bell);

/* Whether SIGINT or SIGTERM came. */
bool bell_stopped(void);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t bell_now(void);

#define BELL_SECOND UINT64_C(1000000000)

#endif
