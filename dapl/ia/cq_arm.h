/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dapl_cq_arm -- what differs between the two libraries: cq_arm_verbs.c is linked into
 * libdaplrearm, cq_arm_soft.c into libdaplsoft
 */
#ifndef REARM_DAPL_CQ_ARM_H
#define REARM_DAPL_CQ_ARM_H

#include <stdbool.h>

#include <infiniband/verbs.h>

/*
 * Requests one notification.  -errno; 0: armed, and the queue was empty at that moment; 1: armed, and
 * completions may already be there.
 */
int dapl_cq_arm(struct ibv_cq *cq, bool solicited_only);

/* A word of the IA's parameters meant for the device; -EINVAL for an unknown one. */
int dapl_cq_arm_option(const char *word);

/* To be called before the device is opened. */
void dapl_cq_arm_prepare(void);

/* What the device has said since then, on this thread, about a set-up with which it cannot be used; or NULL. */
const char *dapl_cq_arm_complaint(void);

#endif
