/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inside -- one call from inside an upcall, under one policy
 *
 * The upcall belongs to an EVD of software events and takes one of them.  While it waits at its
 * gate, the test sets the policy: an upcall can find that its policy has become DISABLE, or that a
 * thread in TEARDOWN waits for it.  Then it makes the call.
 */
#ifndef REARM_TEST_UPCALL_INSIDE_H
#define REARM_TEST_UPCALL_INSIDE_H

#include "lib/upcall_story.h"

struct inside {
	struct up up;
	DAT_UPCALL_POLICY policy; /* in force when the call is made */
	void (*call)(struct inside *in);
	_Atomic(int) made;   /* the call returned */
	struct dt_pair pair; /* the upcall's adapter is that of side b */
	bool paired;
	bool closed; /* the call closed the adapter */
	/* Results of the call, for the test. */
	DAT_RETURN ret, second;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_HANDLE handle;
	DAT_UPCALL_POLICY to;
	DAT_UPCALL_FLAG flag;
};

/* The EVD, and with `pair` a connection of side b to side a.  `index` chooses the policy. */
void inside_open(struct inside *in, int index);
void inside_open_pair(struct inside *in, int index);
/* Makes the call from the upcall.  Returns after the upcall, and after a TEARDOWN. */
void inside_do(struct inside *in, void (*call)(struct inside *in));
/* The same in two halves, for a test that acts while the call blocks. */
void inside_begin(struct inside *in, void (*call)(struct inside *in));
void inside_end(struct inside *in);
/* Checks that the EVD still works under its policy, and closes everything. */
void inside_close(struct inside *in);

#endif
