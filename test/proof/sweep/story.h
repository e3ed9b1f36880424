/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * story -- the steps of scenarios in which any call may fail
 *
 * A call either succeeds or gives an error that a shortage can explain, and that only if something
 * was made to fail.  What failed once succeeds when it is tried again; when everything fails for
 * ever the story ends there.  At the end everything is closed with nothing failing, which must
 * work.
 */
#ifndef REARM_SWEEP_STORY_H
#define REARM_SWEEP_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#define STORY_BUFFER 4096

struct side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async;
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE recv, request, connect, cr;
	DAT_EP_HANDLE ep;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;
	char buffer[STORY_BUFFER];
};

struct story {
	struct side a, b; /* a connects to b */
	bool for_ever;	  /* what fails goes on failing */
	/*
	 * The story is over and closes its adapters, also after a failure.  An upcall that has
	 * started before may find its EVD freed.
	 */
	_Atomic(bool) ending;
};

struct scenario {
	const char *name;
	void (*run)(struct story *story);
	bool core; /* in the short run */
};

extern const struct scenario scenarios[]; /* ends with a nameless one */
extern const struct scenario rearm_scenarios[];

/* The run is over: something went wrong. */
void story_wrong(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Whether the story goes on after this call; `also` is a further error type that fits, or 0. */
bool story_judge(
    struct story *story, const char *call, DAT_RETURN ret, DAT_RETURN also, bool again);
/*
 * Judges an answer of dat_evd_dequeue() that is neither an event nor DAT_QUEUE_EMPTY: false when it
 * means as much as empty.
 */
bool story_dequeue_failed(struct story *story, DAT_RETURN ret);

#define TRY_OR(story, also, call) \
	(story_judge((story), #call, (call), (also), false) || \
	    (!(story)->for_ever && story_judge((story), #call, (call), (also), true)))
#define TRY(story, call) TRY_OR((story), 0, call)

/* Closes what is open, while nothing fails any more. */
void story_end(struct story *story);
void rearm_story_end(void);

/* ---- parts of stories; each tells whether the story goes on ---- */

bool story_open(struct story *story, struct side *side);
bool story_close(struct story *story, struct side *side);
/* Protection zone, memory, and with EVDs that a thread waits on an endpoint. */
bool story_memory(struct story *story, struct side *side);
bool story_endpoint(struct story *story, struct side *side);
bool story_merged_endpoint(struct story *story, struct side *side);
bool story_listen(struct story *story, struct side *side);
/* Listens where the provider makes the endpoints. */
bool story_offer(struct story *story, struct side *side);
bool story_free(struct story *story, struct side *side);

/* Both sides with endpoints, the second listens; then connected. */
bool story_pair(struct story *story);
bool story_connect(struct story *story);
bool story_request(struct story *story, DAT_CR_HANDLE *cr);
/* The endpoint that came with the request. */
bool story_made(struct story *story, DAT_CR_HANDLE cr, DAT_EP_HANDLE *ep);
/* Both have told that they are connected. */
bool story_met(struct story *story);
/* Both have told the end. */
bool story_ended(struct story *story);

bool story_post_recv(struct story *story, struct side *side, uint64_t cookie);
bool story_post_send(struct story *story, struct side *side, uint64_t cookie);
/* A completion with this cookie, unless what failed ended the connection. */
bool story_completion(struct story *story, struct side *side, DAT_EVD_HANDLE evd, uint64_t cookie);
/* The same for a request that was posted after the connection had ended. */
bool story_flush(struct story *story, struct side *side, DAT_EVD_HANDLE evd, uint64_t cookie);

/* The next event by polling; it must come. */
bool story_next(struct story *story, DAT_EVD_HANDLE evd, DAT_EVENT *event);
bool story_post_se(struct story *story, DAT_EVD_HANDLE evd, uintptr_t value);
/* Waits until the count is there. */
bool story_await(struct story *story, const _Atomic(int) *count, int n);
void story_nap(void);

#endif
