/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared -- shared receive queues: `b` listens with endpoints that share one, `a` connects to them
 */
#ifndef REARM_TEST_DAPL_SHARED_H
#define REARM_TEST_DAPL_SHARED_H

#include "lib/dt.h"

#define SHARED_DEPTH 16
#define SHARED_SLICE 64 /* bytes of the side's buffer for a receive */
#define SHARED_ENDS_MAX 40

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define BAD(kind) DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##kind)
#define FULL DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)

struct shared {
	struct dt_pair pair;
	DAT_SRQ_HANDLE srq;
	int ends;
	DAT_EP_HANDLE from[SHARED_ENDS_MAX], to[SHARED_ENDS_MAX];
	DAT_EVD_HANDLE other; /* a second EVD of `b` for receives */
};

DAT_SRQ_HANDLE shared_srq(const struct dt_side *side, DAT_COUNT depth);
DAT_RETURN shared_try_ep(const struct dt_side *side, DAT_EVD_HANDLE recv, DAT_SRQ_HANDLE srq,
    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);
DAT_EP_HANDLE shared_ep(const struct dt_side *side, DAT_EVD_HANDLE recv, DAT_SRQ_HANDLE srq);
void shared_open(struct shared *s, enum dt_evds evds);
/* One more connection; the receives of its second end come to `recv`. */
int shared_connect(struct shared *s, DAT_EVD_HANDLE recv);
DAT_RETURN shared_try_post(struct shared *s, DAT_UINT64 cookie);
void shared_post(struct shared *s, DAT_UINT64 first, DAT_UINT64 last);
/* One byte, sent and completed at the sender. */
void shared_send(struct shared *s, int end, char byte);
/* The next receive at `evd`: of that end, with that byte; its cookie. */
DAT_UINT64 shared_expect(struct shared *s, DAT_EVD_HANDLE evd, int end, char byte);
void shared_assert_counts(DAT_SRQ_HANDLE srq, DAT_COUNT available, DAT_COUNT outstanding);
void shared_expect_async(DAT_EVD_HANDLE async, DAT_HANDLE handle, DAT_COUNT reason);
void shared_close(struct shared *s);

#endif
