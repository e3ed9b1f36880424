/* SPDX-License-Identifier: BSD-3-Clause */
/* bound -- a connected pair: `b` binds a remote memory region, `a` reaches the memory of `b` */
#ifndef REARM_TEST_BOUND_H
#define REARM_TEST_BOUND_H

#include "lib/dt.h"

#define READS DAT_MEM_PRIV_REMOTE_READ_FLAG
#define WRITES DAT_MEM_PRIV_REMOTE_WRITE_FLAG
#define BOTH (DAT_MEM_PRIV_FLAGS)(READS | WRITES)
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG
#define IN_STATE(subtype) DAT_ERROR(DAT_INVALID_STATE, subtype)
#define FULL DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)

struct bound {
	struct dt_pair pair;
	DAT_RMR_HANDLE rmr;
	DAT_RMR_CONTEXT context;
};

/* An EVD for requests and binds, and an endpoint that uses it.  `attr` may be NULL. */
void bound_give_evd(struct dt_side *side, const DAT_EP_ATTR *attr);
/* Connected, with a region for the endpoint, or for the zone, that is not bound. */
void bound_open(struct bound *s, bool for_ep);
DAT_RETURN bound_try(struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges,
    DAT_COMPLETION_FLAGS flags, DAT_UINT64 cookie);
/* Waits while the queue of requests is full. */
void bound_patiently(struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges,
    DAT_COMPLETION_FLAGS flags, DAT_UINT64 cookie);
void bound_expect(struct bound *s, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status);
/* Binds and waits for the completion. */
void bound_bind(struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges);
/* Opens, and binds the first 64 bytes: their context. */
DAT_RMR_CONTEXT bound_open_and_bind(struct bound *s, bool for_ep);
DAT_RMR_TRIPLET bound_through(
    const struct bound *s, DAT_RMR_CONTEXT context, size_t offset, size_t length);
/* `a` writes 8 bytes at the offset of `b`. */
void bound_write(
    struct bound *s, DAT_RMR_CONTEXT context, size_t offset, DAT_DTO_COMPLETION_STATUS status);

/* Ends the connection; then makes another one with the same endpoints. */
void bound_disconnect(struct bound *s);
void bound_reconnect(struct bound *s);
/* A second connection between the two adapters, which the pair uses from now on. */
void bound_connect_second(struct bound *s);

/* The length of the range as the region has it. */
DAT_SEG_LENGTH bound_length(const struct bound *s);

/*
 * A send that waits for a receive of the other end, so that what follows is not executed; and the
 * receive.
 */
void bound_stop(struct bound *s);
void bound_let_go(struct bound *s);

/* A bind behind a stop: it is not executed yet.  Its cookie is 2. */
void bound_bind_later(struct bound *s, size_t offset, size_t length);
/*
 * Breaks the connection and expects the stop, and the request with the cookie 2 behind it, to be
 * flushed.
 */
void bound_flush(struct bound *s);

/*
 * A receive has completed when its send has.  A device of the personality "delayed" shows the
 * completion later: waits until so many are visible, and takes nothing.
 */
void bound_await_arrivals(const struct bound *s, int count);

/*
 * `a` invalidates the window by a message, which `b` receives with the cookie 21; it is not
 * reported yet.
 */
void bound_invalidate(struct bound *s, DAT_RMR_CONTEXT context);

/* Another region of the same memory, and 64 bytes of it. */
DAT_LMR_HANDLE bound_second_lmr(struct bound *s, DAT_LMR_TRIPLET *range);
DAT_RETURN bound_bind_to(
    struct bound *s, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range, DAT_UINT64 cookie);

#endif
