/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_dat -- a DAT of one EVD and one endpoint that does what the test says
 *
 * Linked into a test program it takes the place of the calls of libdat2 that iser/datamover
 * makes on its data path.  Work is recorded when posted; the test completes it, delivers
 * PDUs and connection events, and looks at what was posted in answer.  One thread, no device.
 */
#ifndef REARM_FAKE_DAT_H
#define REARM_FAKE_DAT_H

#include <dat2/dat_upcall.h>

#define FAKE_MAX 512

struct fake_work {
	DAT_DTOS kind;
	DAT_UINT64 cookie;
	DAT_COMPLETION_FLAGS flags;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
};

struct fake_dat {
	DAT_UPCALL_OBJECT object;
	DAT_UPCALL_POLICY policy;
	DAT_EVENT queue[FAKE_MAX];
	int queued;
	struct fake_work work[FAKE_MAX]; /* posted and not completed, oldest first */
	int works;
	int upcalls;
	int refusals;	 /* ENABLEs answered DAT_INVALID_STATE */
	int any_enables; /* ENABLEs with INVOC_ANY */
	int disconnects;
	DAT_CLOSE_FLAGS disconnect_how;
	int lmrs, evds, eps;  /* alive */
	DAT_RETURN fail_post; /* what the next posts return, when not DAT_SUCCESS */
	DAT_RETURN fail_dequeue, fail_enable;
	void (*on_enable)(void); /* called at the start of each ENABLE: may queue events */
};

extern struct fake_dat fake;

void fake_reset(void);

/* Queues an event; fake_run() makes upcalls while there are events and the policy allows. */
void fake_queue(const DAT_EVENT *event);
void fake_queue_software(void *pointer);
void fake_queue_connection(DAT_EVENT_NUMBER number);
void fake_run(void);

/* How many works of the kind are posted. */
int fake_posted(DAT_DTOS kind);

/* The oldest posted work of the kind; fails the test when there is none. */
const struct fake_work *fake_oldest(DAT_DTOS kind);

/* Completes the oldest work of the kind, and runs.  A success that is suppressed is no event. */
void fake_complete(DAT_DTOS kind, DAT_DTO_COMPLETION_STATUS status);

/* Puts bytes into the oldest posted receive, completes it, and runs. */
void fake_receive(const void *bytes, DAT_SEG_LENGTH length);

/* The bytes of the oldest posted send. */
const void *fake_sent(void);

#endif
