/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_arm -- what the provider asks of the software device beyond the verbs interface
 */
#ifndef SOFT_ARM_H
#define SOFT_ARM_H

struct ibv_cq;

/*
 * ibv_req_notify_cq() with the answer that the verbs interface cannot give: a negative errno, 0
 * when the request stands and the CQ holds nothing to poll, or 1 when the request stands but
 * completions were already there; no event is owed for those.  The answer and the request are one
 * step: a completion added later raises the event.  For a CQ of this device only.
 */
int soft_cq_arm(struct ibv_cq *cq, int solicited_only);

/*
 * The personality of devices opened from now on in this process, whatever the environment says:
 * 0, or -EINVAL for an unknown name.
 */
int soft_personality_choose(const char *name);

#endif
