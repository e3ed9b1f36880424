/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dapl_cq_arm -- what differs between the two libraries: cq_arm_verbs.c is linked into
 * libdaplrearm, cq_arm_soft.c into libdaplsoft
 */
#ifndef REARM_DAPL_CQ_ARM_H
#define REARM_DAPL_CQ_ARM_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/*
 * Requests one notification.  -errno; 0: armed, and the queue was empty at that moment; 1: armed,
 * and completions may already be there.
 */
int dapl_cq_arm(struct ibv_cq *cq, bool solicited_only);

/*
 * A word of the IA's parameters meant for the device; -ENOENT for an unknown one, -EINVAL for a
 * known one with a wrong value, after a line.
 */
int dapl_cq_arm_option(const char *word);

/* To be called before the device is opened. */
void dapl_cq_arm_prepare(void);

/*
 * What the device has said since then, on this thread, about a set-up with which it cannot be used;
 * or NULL.
 */
const char *dapl_cq_arm_complaint(void);

/*
 * How many requests with this queue for their completions found no receive posted at the other end,
 * and had to wait for one; -1: devices of the host count that for a port alone.
 */
int64_t dapl_cq_arm_stalls(const struct ibv_cq *cq);

/*
 * The function gets the number of a queue pair with such a request, if the device tells; it may
 * wait.
 */
void dapl_cq_arm_tell_stalls(void (*place)(unsigned int qp_num));

/*
 * Whether the device is softverbs, to which nothing applies that is to be done for a device of the
 * host.
 */
bool dapl_cq_arm_is_soft(void);

#endif
