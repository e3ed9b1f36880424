/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drain -- the upcall that everything here runs on
 *
 * This is the part to copy.  An EVD is created with the policy SINGLE_INSTANCE and
 * drain_upcall() as its function; a struct drain is the instance data.  Each event of the
 * EVD reaches drain->handle() once, in order, and never two at a time.
 */
#ifndef ISER_DRAIN_H
#define ISER_DRAIN_H

#include <dat2/dat_upcall.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Events taken in one upcall before the other EVDs of the dispatcher's thread have a turn. */
#define DRAIN_BUDGET 256

struct drain {
	/* Set before the EVD is created, unchanged after. */
	void (*handle)(void *context, const DAT_EVENT *event);
	void *context;

	/* Only the running upcall touches these; read them after TEARDOWN. */
	uint64_t upcalls;
	uint64_t events;
	uint64_t refusals; /* ENABLE said DAT_INVALID_STATE: an event slipped in, go on draining */
	uint64_t largest;  /* most events taken in one upcall */
	DAT_RETURN error;  /* DAT_SUCCESS, or the first call that failed for no good reason */
	const char *error_call;

	/*
	 * The device was removed while the upcall ran: it cannot enable again, and no other one
	 * starts.  Events that are queued, and those that still come, are there to be dequeued:
	 * drain_by_hand() takes them.
	 */
	atomic_bool stuck;
};

/* The object to create an EVD with. */
DAT_UPCALL_OBJECT drain_object(struct drain *drain);

/* For the main thread, again and again while `stuck`: it then is the only one that takes events. */
void drain_by_hand(struct drain *drain, DAT_EVD_HANDLE evd);

/* A DAT_UPCALL_FUNC. */
void drain_upcall(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events);

#endif
