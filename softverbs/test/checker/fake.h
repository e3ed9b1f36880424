/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake -- queues that no device has, for the checker to look at; and what it reports, which is not
 * printed
 */
#ifndef CHECKER_FAKE_H
#define CHECKER_FAKE_H

#include "softverbs/check/report.h"
#include "softverbs/check/view.h"

#define FAKE_QUEUES 4
#define FAKE_ENTRIES 16

/* The CQ and the channel of the n-th queue that was made; each has a ring of its own. */
extern struct soft_cq fake_cq[FAKE_QUEUES];
extern struct soft_channel fake_channel[FAKE_QUEUES];

/* Forgets all queues. */
void fake_reset(void);

/*
 * A new queue with the channel `channel` (-1: none), in the list of the checker, with an empty
 * view.
 */
struct soft_check_queue *fake_queue(int channel);

/* A completion in the ring of its CQ, that can be polled if `shown`. */
void fake_complete(struct soft_check_queue *queue, struct ibv_wc wc, bool shown);

/*
 * The clock of the checker, and of all that asks soft_now(), stands at fake_now if that is not 0.
 */
extern uint64_t fake_now;

/*
 * What was reported last, and how many reports there were: soft_report() and soft_report_object()
 * are replaced.
 */
extern char fake_text[1024];
extern enum soft_kind fake_kind;
extern const struct soft_check_queue *fake_reported;
extern int fake_reports;

#endif
